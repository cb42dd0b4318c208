#include "text/text_stream.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/random.h"
#include "base/utf8.h"
#include "support/vocabulary.h"

using namespace orrery;
using orrery::test::VocabularyBuilder;

namespace {

const std::string kSpace = "\u2581";

// Tokens that are the given bytes as they stand, pushed one by one.
struct Pushed {
  std::vector<std::string> shown;  // by each push(), the last by flush()
  bool stopped = false;

  std::string all() const {
    std::string text;
    for (const std::string& part : shown) text += part;
    return text;
  }
};

Pushed push_parts(const std::vector<std::string>& parts, const std::vector<std::string>& stops = {}) {
  VocabularyBuilder builder;
  builder.vocabulary().add_space_prefix = false;
  std::vector<TokenId> ids;
  for (const std::string& part : parts) ids.push_back(builder.add(part, 0, PieceKind::user_defined));
  const auto tokenizer = builder.tokenizer();
  TextStream stream(*tokenizer, stops);
  Pushed result;
  for (const TokenId id : ids) result.shown.push_back(stream.push(id));
  result.shown.push_back(stream.flush());
  result.stopped = stream.stopped();
  return result;
}

// The text before the stop text that is complete first, looked for in the whole.
std::string before_stop(const std::string& text, const std::vector<std::string>& stops, bool& stopped) {
  for (size_t end = 0; end <= text.size(); ++end) {
    size_t longest = 0;
    for (const std::string& stop : stops) {
      if (text.substr(0, end).ends_with(stop)) longest = std::max(longest, stop.size());
    }
    stopped = longest > 0;
    if (stopped) return text.substr(0, end - longest);
  }
  return text;
}

bool is_whole(const std::string& text) { return utf8_sanitized(text) == text; }

}  // namespace

TEST_CASE("TextStream: text comes out at once where nothing speaks against it") {
  const Pushed result = push_parts({"Once", " upon", "\n"});
  CHECK(result.shown == std::vector<std::string>{"Once", " upon", "\n", ""});
  CHECK_FALSE(result.stopped);
}

TEST_CASE("TextStream: half a character is held back") {
  CHECK(push_parts({"\xE4", "\xB8", "\xAD!"}).shown == std::vector<std::string>{"", "", "\u4E2D!", ""});
  CHECK(push_parts({"a\xF0\x9F", "\x9A", "\x80"}).shown == std::vector<std::string>{"a", "", "\U0001F680", ""});
}

TEST_CASE("TextStream: bytes that can become no character are shown as U+FFFD") {
  CHECK(push_parts({"\xFF", "a"}).shown == std::vector<std::string>{"\uFFFD", "a", ""});
  CHECK(push_parts({"\xE4", "a"}).shown == std::vector<std::string>{"", "\uFFFDa", ""});
  CHECK(push_parts({"\xE4\xB8"}).shown == std::vector<std::string>{"", "\uFFFD\uFFFD"});
  CHECK(push_parts({"\xED\xA0"}).shown == std::vector<std::string>{"\uFFFD\uFFFD", ""});  // no surrogates
}

TEST_CASE("TextStream: control characters pass") {
  const std::string text = std::string("\0\x1B[31m\x7F", 7);
  CHECK(push_parts({text}).all() == text);
}

TEST_CASE("TextStream: what may be the beginning of a stop text is held back") {
  const std::vector<std::string> stops = {"</s>"};
  CHECK(push_parts({"a<", "/s", "b"}, stops).shown == std::vector<std::string>{"a", "", "</sb", ""});
  CHECK(push_parts({"a<", "/s"}, stops).shown == std::vector<std::string>{"a", "", "</s"});

  const Pushed stopped = push_parts({"a<", "/s>b", "c"}, stops);
  CHECK(stopped.shown == std::vector<std::string>{"a", "", "", ""});
  CHECK(stopped.stopped);

  CHECK(push_parts({"a", "b\n\nc"}, {"\n\n"}).shown == std::vector<std::string>{"a", "b", ""});
  CHECK(push_parts({"ababac"}, {"abac"}).all() == "ab");  // the beginning is found again inside
}

TEST_CASE("TextStream: of several stop texts the one that is complete first counts") {
  CHECK(push_parts({"xabcdef"}, {"abcdef", "cd"}).all() == "xab");
  CHECK(push_parts({"xab"}, {"b", "ab"}).all() == "x");  // both at once: the longer one
  CHECK(push_parts({"xay"}, {"", "z"}).all() == "xay");  // an empty one stops nothing
}

TEST_CASE("TextStream: cut at any two bytes, it gives the same text") {
  const std::string text = "a\u4E2D <|end|\U0001F680 \xE4\xB8<|\xFF<<|end|>tail\u00E9";
  for (const std::vector<std::string>& stops :
       {std::vector<std::string>{}, {"<|end|>"}, {"\U0001F680"}, {"|>", "<<", "\u4E2D x"}}) {
    bool stops_here = false;
    const std::string expected = utf8_sanitized(before_stop(text, stops, stops_here));
    for (size_t first = 0; first <= text.size(); ++first) {
      for (size_t second = first; second <= text.size(); ++second) {
        const Pushed result =
            push_parts({text.substr(0, first), text.substr(first, second - first), text.substr(second)}, stops);
        REQUIRE(result.all() == expected);
        REQUIRE(result.stopped == stops_here);
        REQUIRE(std::all_of(result.shown.begin(), result.shown.end(), is_whole));
      }
    }
  }
}

TEST_CASE("TextStream: random texts, stop texts and tokens") {
  Random random(4);
  const std::vector<std::string> alphabet = {"a", "b", "\u00E9", "\xC3", "\xA9", "\xF0\x9F"};
  const auto random_text = [&](uint64_t size) {
    std::string text;
    for (; size > 0; --size) text += alphabet[random.below(alphabet.size())];
    return text;
  };
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::string> parts, stops;
    std::string text;
    for (uint64_t i = random.below(8); i > 0; --i) text += parts.emplace_back(random_text(random.below(5)));
    for (uint64_t i = random.below(3); i > 0; --i) {
      std::string stop = "a";  // in UTF-8, as they are asked to be
      for (uint64_t size = random.below(4); size > 0; --size) stop += alphabet[random.below(3)];
      stops.push_back(stop);
    }
    bool stops_here = false;
    const std::string expected = utf8_sanitized(before_stop(text, stops, stops_here));
    const Pushed result = push_parts(parts, stops);
    REQUIRE(result.all() == expected);
    REQUIRE(result.stopped == stops_here);
    REQUIRE(std::all_of(result.shown.begin(), result.shown.end(), is_whole));
  }
}

TEST_CASE("TextStream: the dummy space is dropped where decode() drops it") {
  VocabularyBuilder builder;
  const TokenId space_a = builder.add(kSpace + "a");
  const TokenId zero = builder.add_bytes();
  const auto tokenizer = builder.tokenizer();
  const TokenId bos = tokenizer->vocabulary().bos;

  TextStream at_beginning(*tokenizer);
  CHECK(at_beginning.push(bos) == "");
  CHECK(at_beginning.push(space_a) == "a");
  CHECK(at_beginning.push(space_a) == " a");

  TextStream after_bos(*tokenizer, {}, bos);
  CHECK(after_bos.push(space_a) == "a");

  TextStream after_text(*tokenizer, {}, space_a);
  CHECK(after_text.push(space_a) == " a");

  TextStream of_bytes(*tokenizer);
  CHECK(of_bytes.push(zero + ' ') == "");
  CHECK(of_bytes.push(zero + ' ') == " ");
}
