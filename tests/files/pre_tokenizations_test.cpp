#include "files/pre_tokenizations.h"

#include <chrono>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "text/pre_tokenizer.h"

using namespace orrery;

TEST_CASE("pre-tokenizations: every entry of the table has a name of its own and patterns that compile") {
  std::set<std::string> names;
  for (const PreTokenization& rules : known_pre_tokenizations()) {
    CAPTURE(rules.name);
    CHECK(names.insert(rules.name).second);
    CHECK_FALSE(rules.patterns.empty());
    CHECK_NOTHROW(PreTokenizer(rules, "test"));
    // The first name that means the same means the same.
    const PreTokenization same = pre_tokenization_named(name_of(rules));
    CHECK(same.patterns == rules.patterns);
    CHECK(same.nfc == rules.nfc);
    CHECK(same.ignore_merges == rules.ignore_merges);
  }
  for (const char* name : {"gpt-2", "default", "llama-bpe", "llama3", "qwen2", "smollm", "deepseek-llm"}) {
    CHECK(names.contains(name));
  }
}

TEST_CASE("pre-tokenizations: 200 kB of one character are cut at once, and no byte is lost") {
  for (const PreTokenization& rules : known_pre_tokenizations()) {
    CAPTURE(rules.name);
    const PreTokenizer pre_tokenizer(rules, "test");
    for (const std::string unit : {"a", "A", " ", "\n", "1", "!", "\u4E2D", "\xFF", "\u0301", "\u0301\u0316", "aA1 "}) {
      CAPTURE(unit);
      std::string text, whole;
      while (text.size() < 200'000) text += unit;
      if (unit == " ") text += "\u4E2D";  // for patterns that look for the end of the text behind the spaces
      const auto start = std::chrono::steady_clock::now();
      pre_tokenizer.cut(text, [&](std::string_view word) { whole += word; });
      CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
      CHECK(whole.size() == text.size());
      if (!rules.nfc) CHECK(whole == text);
    }
  }
}

TEST_CASE("pre-tokenizations: names") {
  CHECK(pre_tokenization_named("llama3").ignore_merges);
  CHECK(pre_tokenization_named("llama3").add_bos);
  CHECK(pre_tokenization_named("qwen2").nfc);
  CHECK_FALSE(pre_tokenization_named("gpt-2").nfc);
  CHECK(pre_tokenization_named("smollm").patterns.size() == 2);
  CHECK(pre_tokenization_named("no such name").patterns.empty());
  CHECK(pre_tokenization_named("no such name").name == "no such name");
  CHECK(name_of(pre_tokenization_named("llama3")) == "llama-bpe");
  CHECK(name_of({.patterns = {"a"}}).empty());
}
