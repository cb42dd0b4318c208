// A small task for recurrent networks: sentences that end with a word which they named near their beginning. "meet Tom
// it rained and we sang all day who" goes on with "Tom". What lies between is drawn at random and tells nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "learn/learner.h"
#include "text/tokenizer.h"

namespace orrery {

constexpr int kRecallNames = 4, kFewestBetween = 4, kMostBetween = 12;  // words between name and question

// By their ids: "meet", the names, "who", and words to put between.
const std::vector<std::string>& recall_words();

// "meet", the name (0 to kRecallNames - 1), so many words, "who", and the answer.
std::vector<TokenId> recall_sentence(Random& random, int name, int between);

// Rows for a model: a sentence for each name up to its question, with the same words between, one after the other.
std::vector<Row> recall_rows(int names, int between, uint64_t seed);

// Trains on the answers alone, a batch of 16 new sentences in each step, with AdamW. Returns the loss of the last batch
// in nats: log(4) is that of one who has forgotten the name.
double learn_recall(Learner& learner, int steps, double rate, uint64_t seed);

}  // namespace orrery
