// Pairs of sentences of which one is good and one is not, after BLiMP (Warstadt et al., 2020): a model knows the
// paradigm where it finds the good sentence likelier, by total log p behind the token that begins a text. Ending a
// sentence is not scored.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "measure/score.h"

namespace orrery {

struct SentencePair {
  std::string paradigm, field;  // "adjunct_island", "syntax"
  std::string good, bad;
  std::string where;  // file and line, for messages
};

// Reads lines of columns between tabs. The first line names the columns: paradigm, field, good and bad, in any order;
// others are ignored. Lines may end in CRLF, the bytes need not be UTF-8. Throws Error, with the line, where a column
// is missing, a line has another number of columns, or a sentence is empty; and for a text without pairs.
std::vector<SentencePair> parse_sentence_pairs(std::string_view text, const std::string& where);
std::vector<SentencePair> read_sentence_pairs(const std::string& path);  // "-": standard input

struct PairTally {
  int right = 0;  // the good sentence is likelier; equal ones are not right
  int pairs = 0;

  double share() const { return pairs == 0 ? 0 : static_cast<double>(right) / pairs; }
};

struct SentencePairResult {
  PairTally all;
  std::vector<std::pair<std::string, PairTally>> fields, paradigms;  // in the order in which the pairs name them
};

// Throws Error, with file and line, for a sentence that does not fit the context. Where `on_progress` (in sentences)
// gives up, returns what is done.
SentencePairResult judge_sentence_pairs(LanguageModel& model, const Tokenizer& tokenizer,
                                        std::span<const SentencePair> pairs, Kernels& kernels, Arena& arena,
                                        const OnProgress& on_progress = {});

}  // namespace orrery
