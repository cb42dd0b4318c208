#include "learn/story_world.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/format.h"
#include "base/utf8.h"
#include "learn/story_parser.h"

namespace orrery {
namespace {

constexpr char kEnglish[] =
#include "learn/story_english.grammar.inc"
    ;
constexpr char kChinese[] =
#include "learn/story_chinese.grammar.inc"
    ;

// Returns an index whose weight is not 0.
using Choose = std::function<size_t(const std::vector<int>& weights)>;

size_t draw(const std::vector<int>& weights, Random& random) {
  const int total = std::accumulate(weights.begin(), weights.end(), 0);
  auto left = static_cast<int>(random.below(static_cast<uint64_t>(total)));
  size_t i = 0;
  while (left >= weights[i]) left -= weights[i++];
  return i;
}

// Says a story from left to right and asks `choose` wherever there is a choice.
class Teller {
 public:
  Teller(const StoryGrammar& grammar, Choose choose)
      : grammar_(grammar), choose_(std::move(choose)), bindings_(grammar.slots.size()) {}

  Story tell() {
    story_.language = grammar_.language;
    say_rule(grammar_.story);
    return std::move(story_);
  }

 private:
  void say_rule(int index) {
    const Rule& rule = grammar_.rules[static_cast<size_t>(index)];
    for (const Piece& piece : rule.alternatives[decide("<" + rule.name + ">", alternative_weights(rule))].pieces)
      say(piece);
  }

  void say(const Piece& piece) {
    switch (piece.kind) {
      case Piece::Kind::text: story_.text += piece.text; break;
      case Piece::Kind::rule: say_rule(piece.rule); break;
      case Piece::Kind::choose: {
        const size_t entry =
            decide(grammar_.slots[static_cast<size_t>(piece.slot)], entry_weights(grammar_, piece, bindings_));
        bindings_[static_cast<size_t>(piece.slot)] = {&grammar_.lists[static_cast<size_t>(piece.list)],
                                                      static_cast<int>(entry)};
        mention(piece);
        break;
      }
      case Piece::Kind::recall: mention(piece); break;
    }
  }

  void mention(const Piece& piece) {
    const Binding& binding = bindings_[static_cast<size_t>(piece.slot)];
    const std::string text = said(*binding.list, binding.entry, piece.field, piece.capital);
    story_.mentions.push_back({grammar_.slots[static_cast<size_t>(piece.slot)], piece.field, binding.list->name,
                               binding.entry, piece.capital, story_.text.size(), text.size()});
    story_.text += text;
  }

  size_t decide(const std::string& name, const std::vector<int>& weights) {
    const size_t picked = choose_(weights);
    const int total = std::accumulate(weights.begin(), weights.end(), 0);
    story_.choices.push_back({name, static_cast<int>(picked), weights[picked], total});
    story_.log_probability += std::log(static_cast<double>(weights[picked]) / total);
    return picked;
  }

  const StoryGrammar& grammar_;
  Choose choose_;
  std::vector<Binding> bindings_;
  Story story_;
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// English: words in small letters. Chinese: characters, without marks.
void collect_words(std::string_view text, Language language, std::set<std::string>& words) {
  if (language == Language::chinese) {
    for (size_t size; !text.empty(); text.remove_prefix(size)) {
      size = std::max<size_t>(1, utf8_length(text));
      // U+4E00 to U+9FFF, where the common characters are, begin with E4 to E9 in UTF-8; marks do not.
      const auto lead = static_cast<unsigned char>(text[0]);
      if (lead >= 0xE4 && lead <= 0xE9) words.emplace(text.substr(0, size));
    }
    return;
  }
  std::string word;
  for (const char c : std::string(text) + " ") {
    if (is_letter(c) || c == '-') {
      word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!word.empty()) {
      words.insert(std::exchange(word, ""));
    }
  }
}

// In quotes; a long text only up to a whole character near byte 40.
std::string quoted_start(std::string_view text) {
  size_t shown = std::min<size_t>(40, text.size());
  while (shown < text.size() && (static_cast<unsigned char>(text[shown]) & 0xC0) == 0x80) --shown;
  return "\"" + std::string(text.substr(0, shown)) + (shown < text.size() ? "...\"" : "\"");
}

// One line: where the text leaves the grammar, what could have come there, and what stands there.
std::string describe_mistake(const ParsedText& parsed, std::string_view text, Language language) {
  constexpr size_t kShown = 3;
  // Whole words read better: for "brown" in place of "blue", not "lue" but "blue" was expected.
  size_t at = parsed.good_bytes;
  while (at > 0 && is_letter(text[at - 1])) --at;
  const std::string begun(text.substr(at, parsed.good_bytes - at));

  std::vector<std::string> expected;
  if (parsed.may_end) expected.push_back("the end of the text");
  for (const Continuation& way : parsed.expected) expected.push_back(quoted_start(begun + way.text));
  if (expected.size() > kShown) {
    const size_t others = expected.size() - kShown;
    expected.resize(kShown);
    expected.push_back(std::to_string(others) + (others == 1 ? " other" : " others"));
  }
  return "after " + std::to_string(story_length(text.substr(0, at), language)) +
         (language == Language::english ? " words" : " characters") + ": expected " + join(expected, " or ") +
         ", found " + (at == text.size() ? "the end of the text" : quoted_start(text.substr(at)));
}

}  // namespace

int story_length(std::string_view text, Language language) {
  int length = 0;
  if (language == Language::chinese) {
    for (const char c : text) length += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    return length;
  }
  bool is_in_word = false;  // marks alone are no word
  for (const char c : text) {
    const bool begins_word = !is_in_word && is_letter(c);
    length += begins_word;
    is_in_word = c != ' ' && (is_in_word || begins_word);
  }
  return length;
}

StoryWorld::StoryWorld(const std::vector<GrammarSource>& sources) {
  for (const GrammarSource& source : sources) {
    StoryGrammar grammar = read_story_grammar(source.text, source.where);
    const Language language = grammar.language;
    if (!grammars_.emplace(language, std::move(grammar)).second) {
      throw Error({.what = "there is a second grammar for " + std::string(name_of(language)),
                   .where = source.where,
                   .expected = "at most one per language"});
    }
  }
}

const StoryWorld& StoryWorld::built_in() {
  static const StoryWorld world({{kEnglish, "story_english.grammar"}, {kChinese, "story_chinese.grammar"}});
  return world;
}

const StoryGrammar& StoryWorld::grammar(Language language) const {
  const auto found = grammars_.find(language);
  if (found == grammars_.end()) {
    throw Error({.what = "this story world does not speak " + std::string(name_of(language)),
                 .hint = "give it a grammar that begins with: language " + std::string(name_of(language))});
  }
  return found->second;
}

Story StoryWorld::tell(Random& random, Language language) const {
  return Teller(grammar(language), [&](const std::vector<int>& weights) { return draw(weights, random); }).tell();
}

Reading StoryWorld::parse(std::string_view text, Language language) const {
  ParsedText parsed = parse_text(grammar(language), text);
  Reading reading;
  reading.derivations = parsed.derivations;
  if (parsed.derivations > 0) {
    size_t next = 0;
    reading.story = Teller(grammar(language), [&](const std::vector<int>&) { return parsed.picked[next++]; }).tell();
    reading.good_bytes = text.size();
    return reading;
  }
  reading.good_bytes = parsed.good_bytes;
  reading.mistake = describe_mistake(parsed, text, language);
  double sum = 0;
  for (const Continuation& continuation : parsed.expected) sum += continuation.probability;
  for (Continuation& continuation : parsed.expected) continuation.probability /= sum;
  reading.expected = std::move(parsed.expected);
  return reading;
}

double StoryWorld::log_probability(std::string_view text, Language language) const {
  const Reading reading = parse(text, language);
  return reading.derivations > 0 ? reading.story.log_probability : -std::numeric_limits<double>::infinity();
}

std::vector<Continuation> StoryWorld::continuations(std::string_view prefix, Language language) const {
  Reading reading = parse(prefix, language);
  const bool is_beginning = reading.derivations == 0 && reading.good_bytes == prefix.size();
  return is_beginning ? std::move(reading.expected) : std::vector<Continuation>{};
}

Language StoryWorld::language_of(std::string_view text) const {
  std::string mistakes;
  for (const auto& [language, grammar] : grammars_) {
    const Reading reading = parse(text, language);
    if (reading.good_bytes == text.size()) return language;
    mistakes += (mistakes.empty() ? "" : "; ") + std::string(name_of(language)) + " " + reading.mistake;
  }
  throw Error({.what = "this is no story of this world: " + mistakes});
}

StoryStatistics StoryWorld::statistics(Random& random, Language language, int stories) const {
  StoryStatistics result;
  result.stories = stories;
  result.shortest = std::numeric_limits<int>::max();
  std::set<std::string> vocabulary;
  double nats = 0, squares = 0, length = 0;
  for (int i = 0; i < stories; ++i) {
    const Story story = tell(random, language);
    const int size = story_length(story.text, language);
    nats -= story.log_probability;
    squares += story.log_probability * story.log_probability;
    length += size;
    result.shortest = std::min(result.shortest, size);
    result.longest = std::max(result.longest, size);
    collect_words(story.text, language, vocabulary);
  }
  result.mean_nats = nats / stories;
  result.nats_error = std::sqrt(std::max(0.0, squares / stories - result.mean_nats * result.mean_nats) / stories);
  result.mean_length = length / stories;
  result.vocabulary = static_cast<int>(vocabulary.size());
  return result;
}

}  // namespace orrery
