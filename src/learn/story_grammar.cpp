#include "learn/story_grammar.h"

#include <algorithm>

namespace orrery {

std::string_view name_of(Language language) { return language == Language::english ? "english" : "chinese"; }

int WordList::field_index(std::string_view field) const {
  const auto found = std::find(fields.begin(), fields.end(), field);
  return found == fields.end() ? -1 : static_cast<int>(found - fields.begin());
}

std::string said(const WordList& list, int entry, std::string_view field, bool capital) {
  std::string text = list.entries[static_cast<size_t>(entry)][static_cast<size_t>(list.field_index(field))];
  // ASCII only: other scripts of this world have no capital letters.
  if (capital && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::vector<int> entry_weights(const StoryGrammar& grammar, const Piece& piece, const std::vector<Binding>& bindings) {
  const WordList& list = grammar.lists[static_cast<size_t>(piece.list)];
  std::vector<int> weights(list.entries.size(), 1);
  for (const int slot : piece.unlike) {
    const Binding& other = bindings[static_cast<size_t>(slot)];
    const std::string& taken = other.list->entries[static_cast<size_t>(other.entry)][0];
    // By text and not by number: the other slot may have chosen from another list that has the same word.
    for (size_t i = 0; i < weights.size(); ++i) {
      if (list.entries[i][0] == taken) weights[i] = 0;
    }
  }
  return weights;
}

std::vector<int> alternative_weights(const Rule& rule) {
  std::vector<int> weights;
  for (const Alternative& alternative : rule.alternatives) weights.push_back(alternative.weight);
  return weights;
}

}  // namespace orrery
