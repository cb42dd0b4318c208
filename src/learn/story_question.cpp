// Questions about a story: it stops right before a fact that was told earlier, and the grammar knows the only way on.
#include <algorithm>
#include <set>

#include "base/error.h"
#include "learn/story_world.h"

namespace orrery {
namespace {

constexpr size_t kMinWrong = 3;
constexpr int kMaxStories = 5000;

const WordList& list_of(const StoryGrammar& grammar, const Mention& mention) {
  const auto is_it = [&](const WordList& list) { return list.name == mention.list; };
  return *std::find_if(grammar.lists.begin(), grammar.lists.end(), is_it);
}

// Whether the text of a mention tells which entry was chosen: "Rosie" does, "she" does not.
bool tells_entry(const WordList& list, const Mention& mention) {
  const auto field = static_cast<size_t>(list.field_index(mention.field));
  const std::string& text = list.entries[static_cast<size_t>(mention.entry)][field];
  return std::count_if(list.entries.begin(), list.entries.end(),
                       [&](const auto& entry) { return entry[field] == text; }) == 1;
}

// Where the fact behind mention `index` was last told before it: the byte behind that place; 0: nowhere.
size_t end_of_fact(const StoryGrammar& grammar, const Story& story, size_t index) {
  const Mention& asked = story.mentions[index];
  size_t end = 0;
  for (size_t i = 0; i < index; ++i) {
    const Mention& earlier = story.mentions[i];
    if (earlier.slot == asked.slot && tells_entry(list_of(grammar, earlier), earlier))
      end = earlier.begin + earlier.size;
  }
  if (end == 0) return 0;
  // The same words may also stand somewhere else, for another reason.
  const std::string_view before = std::string_view(story.text).substr(0, asked.begin);
  const size_t again = before.rfind(std::string_view(story.text).substr(asked.begin, asked.size));
  return again == std::string_view::npos ? end : std::max(end, again + asked.size);
}

// What the same place would say for other entries; first what the story has already named.
std::vector<std::string> wrong_answers(const WordList& list, const Mention& mention, std::string_view prefix,
                                       std::string_view answer) {
  std::set<std::string> others;
  for (size_t i = 0; i < list.entries.size(); ++i) {
    others.insert(said(list, static_cast<int>(i), mention.field, mention.capital));
  }
  others.erase(std::string(answer));
  std::vector<std::string> wrong(others.begin(), others.end());
  std::stable_partition(wrong.begin(), wrong.end(),
                        [&](const std::string& text) { return prefix.find(text) != std::string_view::npos; });
  return wrong;
}

// A space in front belongs to the answer: tokenizers cut " bridge", not "bridge".
void move_space(RecallQuestion& question) {
  if (!question.prefix.ends_with(' ')) return;
  question.prefix.pop_back();
  question.answer.insert(0, 1, ' ');
  for (std::string& wrong : question.wrong) wrong.insert(0, 1, ' ');
}

}  // namespace

RecallQuestion StoryWorld::question(Random& random, Language language, int min_distance, int max_distance) const {
  const StoryGrammar& grammar = this->grammar(language);
  for (int attempt = 0; attempt < kMaxStories; ++attempt) {
    const Story story = tell(random, language);
    std::vector<RecallQuestion> found;
    for (size_t i = 0; i < story.mentions.size(); ++i) {
      const Mention& mention = story.mentions[i];
      const size_t fact_end = end_of_fact(grammar, story, i);
      if (fact_end == 0) continue;
      RecallQuestion question{.language = language, .slot = mention.slot, .fact_end = fact_end};
      question.prefix = story.text.substr(0, mention.begin);
      question.answer = story.text.substr(mention.begin, mention.size);
      question.distance = story_length(std::string_view(question.prefix).substr(fact_end), language);
      if (question.distance < min_distance || question.distance > max_distance) continue;
      question.wrong = wrong_answers(list_of(grammar, mention), mention, question.prefix, question.answer);
      if (question.wrong.size() < kMinWrong) continue;
      const std::vector<Continuation> ways = continuations(question.prefix, language);
      if (ways.size() != 1 || ways[0].text != question.answer) continue;
      move_space(question);
      found.push_back(std::move(question));
    }
    if (!found.empty()) return found[random.below(found.size())];
  }
  throw Error({.what = "no story asks for a fact at this distance",
               .where = std::string(name_of(language)) + " story world",
               .expected = "a range of distances that stories have",
               .found = std::to_string(min_distance) + " to " + std::to_string(max_distance)});
}

}  // namespace orrery
