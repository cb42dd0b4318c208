#include "text/bpe.h"

#include <queue>

#include "base/error.h"

namespace orrery {
namespace {

constexpr size_t kExplainLimit = 1000;  // symbols; the steps of a longer text would fill the memory

}  // namespace

std::vector<TokenId> Bpe::encode(std::string_view text, const EncodeOptions& options) const {
  std::vector<TokenId> ids;
  if (options.bos && vocabulary_.add_bos && vocabulary_.bos != kNoToken) ids.push_back(vocabulary_.bos);

  Chain chain = cut(text, options.parse_special);
  merge(chain);
  for (const Symbol& symbol : chain.symbols) {
    if (symbol.size > 0) append_ids(chain.text_of(symbol), symbol, ids);
  }

  if (options.bos && vocabulary_.add_eos && !vocabulary_.end_tokens.empty()) {
    ids.push_back(vocabulary_.end_tokens.front());
  }
  return ids;
}

void Bpe::Chain::append(std::string_view bytes, TokenId id, bool merges) {
  const size_t place = symbols.size();
  const bool begins = place == 0 || (!words.empty() && words.back() == place);
  if (!begins) symbols.back().next = place;
  symbols.push_back({text.size(), bytes.size(), begins ? kNowhere : place - 1, kNowhere, id, merges});
  text += bytes;
}

void Bpe::merge(Chain& chain, const std::function<void(const Symbol&, double)>& after_merge) const {
  // A symbol and the one after it, which may become one.
  struct Candidate {
    Merge merge;
    size_t left;
    bool operator<(const Candidate& other) const {  // it comes later
      return merge.score != other.merge.score ? merge.score < other.merge.score : left > other.left;
    }
  };
  std::priority_queue<Candidate> candidates;
  std::vector<Symbol>& symbols = chain.symbols;
  const auto consider = [&](size_t place) {
    if (place == kNowhere || symbols[place].next == kNowhere) return;
    const Symbol& left = symbols[place];
    const Symbol& right = symbols[left.next];
    if (!left.merges || !right.merges) return;
    if (const auto merge = find_merge(chain.text_of(left), chain.text_of(right))) candidates.push({*merge, place});
  };
  // Word by word, so that the queue stays short.
  for (size_t begin = 0, word = 0; begin < symbols.size(); ++word) {
    const size_t end = word < chain.words.size() ? chain.words[word] : symbols.size();
    while (begin < end) consider(begin++);
    while (!candidates.empty()) {
      const Candidate best = candidates.top();
      candidates.pop();
      Symbol& left = symbols[best.left];
      if (left.size == 0 || left.next == kNowhere) continue;
      Symbol& right = symbols[left.next];
      // One of the two has merged with another neighbour since: together they are longer than the piece now.
      if (left.size + right.size != vocabulary_.pieces[best.merge.id].size()) continue;

      left.size += right.size;
      left.id = best.merge.id;
      left.next = right.next;
      right.size = 0;
      if (left.next != kNowhere) symbols[left.next].previous = best.left;
      if (after_merge) after_merge(left, best.merge.score);

      consider(left.previous);
      consider(best.left);
    }
  }
}

std::vector<MergeStep> Bpe::explain(std::string_view text) const {
  Chain chain = cut(text, false);
  if (chain.symbols.size() > kExplainLimit) {
    throw Error({.what = "the text is too long to be shown merge by merge",
                 .expected = "at most " + std::to_string(kExplainLimit) + " " + name_of_symbols(),
                 .found = std::to_string(chain.symbols.size())});
  }
  std::vector<MergeStep> steps;
  if (!chain.words.empty()) steps.push_back({.stage = "pre-tokens"});
  for (size_t i = 0; i < chain.symbols.size() && !steps.empty(); ++i) {
    std::vector<std::string>& words = steps[0].symbols;
    if (chain.symbols[i].previous == kNowhere) words.emplace_back();
    words.back() += shown(chain.text_of(chain.symbols[i]), chain.symbols[i]);
  }
  const auto add_step = [&](MergeStep step) {
    for (const Symbol& symbol : chain.symbols) {
      if (symbol.size > 0) step.symbols.push_back(shown(chain.text_of(symbol), symbol));
    }
    steps.push_back(std::move(step));
  };
  add_step({.stage = name_of_symbols()});
  merge(chain, [&](const Symbol& symbol, double score) {
    add_step({.merged = shown(chain.text_of(symbol), symbol), .score = score});
  });
  return steps;
}

}  // namespace orrery
