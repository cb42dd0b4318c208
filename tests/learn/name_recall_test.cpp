// Sentences that end with a word which they named before, and cells that learn it.
#include "learn/name_recall.h"

#include <cmath>

#include <doctest/doctest.h>

#include "recurrent/recurrent_support.h"

using namespace orrery;
using namespace orrery::test;

TEST_CASE("a sentence to recall: a name, words that say nothing of it, the question, the name") {
  Random random(3);
  const std::vector<std::string>& words = recall_words();
  for (int name = 0; name < kRecallNames; ++name) {
    const std::vector<TokenId> ids = recall_sentence(random, name, 7);
    REQUIRE(ids.size() == 11);
    CHECK(words[size_t(ids[0])] == "meet");
    CHECK(ids[1] == 1 + name);
    for (size_t i = 2; i < 9; ++i) CHECK(ids[i] > 1 + kRecallNames);
    CHECK(words[size_t(ids[9])] == "who");
    CHECK(ids[10] == ids[1]);
  }
}

TEST_CASE("rows to recall: the same sentence with each name") {
  const std::vector<Row> rows = recall_rows(2, 5, 8);
  REQUIRE(rows.size() == 16);
  for (size_t i = 0; i < 8; ++i) {
    CHECK(rows[i].position == static_cast<int>(i));
    CHECK(rows[8 + i].position == static_cast<int>(i));
    CHECK((rows[i].token == rows[8 + i].token) == (i != 1));
  }
  CHECK(recall_words()[size_t(rows.back().token)] == "who");
}

TEST_CASE("an LSTM learns to recall; a network that has not been trained does not") {
  const ModelConfig config = recurrent_config({.architecture = Architecture::lstm,
                                               .n_layers = 1,
                                               .d_hidden = 32,
                                               .vocab_size = static_cast<int>(recall_words().size())});
  Learner learner(config, DType::F32, Threads(1));
  CHECK(learn_recall(learner, 1, 1e-2, 12) > std::log(4.0));
  CHECK(learn_recall(learner, 400, 1e-2, 12) < 0.1);
}
