#include "measure/score.h"

#include <cmath>
#include <limits>
#include <numeric>

#include <doctest/doctest.h>

#include "kernels/fast/fast_kernels.h"
#include "kernels/reference/reference_kernels.h"
#include "support/expect_error.h"
#include "support/fake_model.h"
#include "support/models.h"
#include "support/vocabulary.h"

using namespace orrery;
using namespace orrery::test;

namespace {

// log softmax(logits)[target], as it is written down.
double log_softmax(std::span<const double> logits, TokenId target) {
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit);
  return logits[static_cast<size_t>(target)] - std::log(sum);
}

// log p of tokens[first...], with a fresh pass for each.
double naive(LanguageModel& model, Kernels& kernels, std::vector<TokenId> tokens, size_t first) {
  double sum = 0;
  for (size_t i = first; i < tokens.size(); ++i) {
    const auto logits = uncached_logits(model, kernels, std::span(tokens).first(i));
    sum += log_softmax(std::span(logits).last(static_cast<size_t>(model.config().vocab_size)), tokens[i]);
  }
  return sum;
}

// The scores prefer some tokens to others and depend on all that came before.
std::vector<double> odd_guess(std::span<const TokenId> before) {
  std::vector<double> logits(7);
  const int sum = std::accumulate(before.begin(), before.end(), 0);
  for (size_t i = 0; i < logits.size(); ++i) logits[i] = std::sin(static_cast<double>(i * 3) + sum);
  return logits;
}

std::vector<std::vector<TokenId>> texts_of(const std::vector<int>& lengths, int vocab_size) {
  std::vector<std::vector<TokenId>> texts;
  for (const int length : lengths) texts.push_back(random_ids(length, vocab_size, 1 + texts.size()));
  return texts;
}

}  // namespace

TEST_CASE("scores: log p of whole texts is what a pass for each token adds up to, however they are packed") {
  for (const int variant : {0, 5}) {
    const ModelConfig config = small_config(variant);
    Transformer model(random_model(config, DType::F32));
    const auto texts = texts_of({9, 1, 2, 30, 4}, config.vocab_size);
    ReferenceKernels<double> exact{Threads(1)};
    FastKernels fast{Threads(2)};
    Arena arena;
    for (const int64_t max_rows : {1, 10, 12, 2048}) {
      CAPTURE(max_rows);
      const auto scores = log_probabilities(model, texts, exact, arena, {}, max_rows);
      const auto fast_scores = log_probabilities(model, texts, fast, arena, {}, max_rows);
      REQUIRE(scores.size() == texts.size());
      REQUIRE(fast_scores.size() == texts.size());
      for (size_t i = 0; i < texts.size(); ++i) {
        CAPTURE(i);
        CHECK(std::abs(scores[i] - naive(model, exact, texts[i], 1)) < 1e-9);
        CHECK(std::abs(fast_scores[i] - scores[i]) < 1e-3);
      }
      CHECK(scores[1] == 0);
    }
  }
}

TEST_CASE("scores: whole texts fill a pass up to its rows, and one that is longer goes alone") {
  FakeModel model(7, 100, odd_guess);
  ReferenceKernels<double> kernels{Threads(1)};
  Arena arena;
  const auto texts = texts_of({5, 5, 2, 20, 2, 2}, 7);  // 4, 4, 1, 19, 1 and 1 rows
  std::vector<int64_t> done;
  const auto count = [&](int64_t texts_done, int64_t all) {
    CHECK(all == 6);
    done.push_back(texts_done);
    return texts_done < 4;
  };
  CHECK(log_probabilities(model, texts, kernels, arena, count, 8).size() == 4);
  CHECK(model.calls == std::vector<int>{8, 1, 19});
  CHECK(done == std::vector<int64_t>{2, 3, 4});
  model.calls.clear();
  CHECK(log_probabilities(model, texts, kernels, arena, {}, 1000).size() == 6);
  CHECK(model.calls == std::vector<int>{30});
  // A text of as many tokens as the context has positions, and one that is only guessed.
  CHECK(fits_context(model, 101));
  CHECK_FALSE(fits_context(model, 102));
  CHECK(log_probabilities(model, texts_of({101}, 7), kernels, arena).size() == 1);
}

TEST_CASE("scores: logits of a large vocabulary limit a pass before its rows do") {
  constexpr int kWords = 1 << 20;  // 4 MiB a row
  FakeModel model(kWords, 100, [](std::span<const TokenId>) { return std::vector<double>(kWords); });
  ReferenceKernels<float> kernels{Threads(1)};
  Arena arena;
  const auto scores = log_probabilities(model, texts_of({9, 9, 9}, 100), kernels, arena);
  CHECK(model.calls == std::vector<int>{16, 8});
  CHECK(scores[2] == doctest::Approx(-8 * std::log(double{kWords})));
}

TEST_CASE("scores: ways on from a common beginning cost it once and score as whole texts do") {
  for (const int variant : {0, 5}) {
    const ModelConfig config = small_config(variant);
    Transformer model(random_model(config, DType::F32), {0, DType::F64, DType::F64});  // the cache rounds nothing
    ReferenceKernels<double> exact{Threads(1)};
    Arena arena;
    const auto start = random_ids(140, config.vocab_size, 1);  // more than a page of the cache
    for (const size_t length : {size_t{1}, size_t{2}, start.size()}) {
      CAPTURE(length);
      const auto begin = std::span(start).first(length);
      std::vector<Branch> branches = {{{}, {7}}, {{3, 4}, {5}}, {{3, 4}, {5, 6, 9}}, {{8}, {1}}};
      for (const int64_t max_rows : {1, 4, 2048}) {
        const auto scores = branch_log_probabilities(model, begin, branches, exact, arena, max_rows);
        REQUIRE(scores.size() == 4);
        for (size_t i = 0; i < branches.size(); ++i) {
          double probability = 0;
          for (const TokenId last : branches[i].last) {
            std::vector<TokenId> whole(begin.begin(), begin.end());
            whole.insert(whole.end(), branches[i].tokens.begin(), branches[i].tokens.end());
            whole.push_back(last);
            probability += std::exp(naive(model, exact, whole, length));
          }
          CHECK(std::abs(scores[i] - std::log(probability)) < 1e-9);
        }
      }
    }
  }
}

TEST_CASE("scores: the beginning goes through the model once, the ways on together") {
  FakeModel model(7, 100, odd_guess);
  ReferenceKernels<float> kernels{Threads(1)};
  Arena arena;
  const std::vector<TokenId> start = {1, 2, 3, 4, 5};
  const std::vector<Branch> branches = {{{}, {6}}, {{3, 4}, {5}}, {{2}, {5}}};
  branch_log_probabilities(model, start, branches, kernels, arena);
  CHECK(model.calls == std::vector<int>{4, 6});
  // Far less likely than another: no overflow on the way.
  FakeModel sure(3, 10, [](std::span<const TokenId>) { return std::vector<double>{0, 2000, 0}; });
  ReferenceKernels<double> exact{Threads(1)};
  const auto scores = branch_log_probabilities(sure, start, {{Branch{{}, {0}}, Branch{{}, {0, 1}}}}, exact, arena);
  CHECK(scores[0] == doctest::Approx(-2000));
  CHECK(scores[1] == doctest::Approx(0));
}

TEST_CASE("scores: what cannot be scored is refused") {
  FakeModel model(7, 10, odd_guess);
  ReferenceKernels<float> kernels{Threads(1)};
  Arena arena;
  CHECK_ERROR(log_probabilities(model, texts_of({3, 12}, 7), kernels, arena), "longer than the model's context",
              "text 2", "12");
  CHECK_ERROR(log_probabilities(model, texts_of({0}, 7), kernels, arena), "without tokens");
  CHECK(model.calls.empty());
  const std::vector<TokenId> start = {1, 2, 3};
  CHECK_ERROR(branch_log_probabilities(model, {}, {{Branch{{}, {1}}}}, kernels, arena), "without tokens");
  CHECK_ERROR(branch_log_probabilities(model, start, {{Branch{{1}, {}}}}, kernels, arena), "without a last token");
  CHECK_ERROR(branch_log_probabilities(model, start, {{Branch{{1, 1, 1, 1, 1, 1, 1, 1}, {1}}}}, kernels, arena),
              "longer than the model's context");
  CHECK(branch_log_probabilities(model, start, {{Branch{{1, 1, 1, 1, 1, 1, 1}, {1}}}}, kernels, arena).size() == 1);
  FakeModel broken(7, 10, [](std::span<const TokenId>) { return std::vector<double>(7, NAN); });
  CHECK_ERROR(log_probabilities(broken, texts_of({3}, 7), kernels, arena), "not finite");
  CHECK_ERROR(branch_log_probabilities(broken, start, {{Branch{{}, {1}}}}, kernels, arena), "not finite");
}

TEST_CASE("scores: texts begin behind BOS whatever the file adds, and one marker stands in for the other") {
  VocabularyBuilder builder;
  builder.add_bytes();
  builder.vocabulary().add_bos = false;
  builder.vocabulary().add_eos = true;
  const auto tokenizer = builder.tokenizer();
  CHECK(beginning_token(tokenizer->vocabulary()) == 1);
  CHECK(ending_token(tokenizer->vocabulary()) == 2);
  CHECK(tokens_behind_beginning(*tokenizer, "") == std::vector<TokenId>{1});
  const auto tokens = tokens_behind_beginning(*tokenizer, "a");
  CHECK(tokens[0] == 1);
  CHECK(tokens.back() == 3 + 'a');
  Vocabulary vocabulary = tokenizer->vocabulary();
  vocabulary.bos = kNoToken;
  CHECK(beginning_token(vocabulary) == 2);
  vocabulary.end_tokens.clear();
  CHECK_ERROR(beginning_token(vocabulary), "no token that begins or ends");
  vocabulary.bos = 1;
  CHECK(ending_token(vocabulary) == 1);
}
