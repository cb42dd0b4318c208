#include "compare/sequence_decoding.h"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "base/error.h"
#include "compare/sequence_learning.h"
#include "learn/optimizer.h"
#include "support/models.h"

using namespace orrery;
using namespace orrery::test;

namespace {

struct Decoding {
  explicit Decoding(SequenceKind kind, uint64_t seed = 4)
      : task(reverse_task(2, 4)), learner(plan_of(kind, *task, 1500), DType::F64, Threads(1), seed) {
    // Weights that have learned nothing make all targets nearly alike: larger ones tell them apart.
    for (const Parameter& parameter : learner.parameters().all()) {
      for (int64_t i = 0; i < n_elements(parameter.weight); ++i) values<double>(parameter.weight)[i] *= 3;
    }
  }

  // log p of a target by one call with all of it; `ends`: and of the end behind it.
  double log_probability(const std::vector<TokenId>& source, const std::vector<TokenId>& target, bool ends) {
    Arena arena;
    const Encoded encoded = learner.model().encode(std::span(&source, 1), learner.kernels(), arena);
    std::vector<Row> rows = {{.token = Alphabet::kBegin, .position = 0}};
    for (const TokenId id : target) rows.push_back({.token = id, .position = int(rows.size())});
    const int source_of[] = {0};
    const auto logits = numbers(learner.model().decode(encoded, rows, source_of, learner.kernels(), arena));
    const size_t vocab = size_t(learner.model().vocab_size());
    double sum = 0;
    for (size_t i = 0; i < target.size() + (ends ? 1 : 0); ++i) {
      double total = 0;
      for (size_t id = 0; id < vocab; ++id) total += std::exp(logits[i * vocab + id]);
      const auto id = size_t(i < target.size() ? target[i] : Alphabet::kEnd);
      sum += logits[i * vocab + id] - std::log(total);
    }
    return sum;
  }

  std::unique_ptr<SequenceTask> task;
  SequenceLearner learner;
};

}  // namespace

TEST_CASE("compare: a beam of width 1 is greedy, and both say how likely their target is") {
  for (const SequenceKind kind : all_sequence_kinds()) {
    CAPTURE(name_of(kind));
    Decoding decoding(kind);
    const std::vector<std::vector<TokenId>> sources = {
        {2, 3, Alphabet::kEnd}, {3, Alphabet::kEnd}, {2, 2, 3, Alphabet::kEnd}};
    const auto all = greedy(decoding.learner.model(), sources, 4, decoding.learner.kernels());
    REQUIRE(all.size() == 3);
    for (size_t i = 0; i < all.size(); ++i) {
      const auto beam = beam_search(decoding.learner.model(), sources[i], 1, 4, decoding.learner.kernels());
      REQUIRE(beam.size() == 1);
      CHECK(all[i].ids.size() <= 4);
      CHECK(beam[0].log_probability ==
            doctest::Approx(decoding.log_probability(sources[i], beam[0].ids, beam[0].is_finished)).epsilon(1e-10));
      if (!all[i].is_finished) continue;
      CHECK(beam[0].ids == all[i].ids);
      CHECK(beam[0].is_finished);
      CHECK(all[i].log_probability == doctest::Approx(beam[0].log_probability).epsilon(1e-12));
    }
  }
}

TEST_CASE("compare: a beam that keeps everything finds the likeliest of all targets") {
  for (const SequenceKind kind : {SequenceKind::gru, SequenceKind::gru_additive, SequenceKind::transformer}) {
    CAPTURE(name_of(kind));
    Decoding decoding(kind);
    const std::vector<TokenId> source = {2, 3, 3, Alphabet::kEnd};
    // All targets of at most three tokens that are not the end: 1 + 3 + 9 + 27.
    std::vector<DecodedTarget> all = {{}};
    for (size_t i = 0; i < all.size(); ++i) {
      const std::vector<TokenId> ids = all[i].ids;
      if (ids.size() == 3) continue;
      for (const TokenId id : {Alphabet::kBegin, 2, 3}) {
        all.push_back({ids});
        all.back().ids.push_back(id);
      }
    }
    REQUIRE(all.size() == 40);
    for (DecodedTarget& target : all) target.log_probability = decoding.log_probability(source, target.ids, true);
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.log_probability > b.log_probability; });
    const auto beam = beam_search(decoding.learner.model(), source, 40, 3, decoding.learner.kernels());
    REQUIRE(beam.size() == 40);
    for (size_t i = 0; i < 5; ++i) {
      CHECK(beam[i].is_finished);
      CHECK(beam[i].ids == all[i].ids);
      CHECK(beam[i].log_probability == doctest::Approx(all[i].log_probability).epsilon(1e-10));
    }
    const auto narrow = beam_search(decoding.learner.model(), source, 3, 3, decoding.learner.kernels());
    CHECK(narrow.size() <= 3);
    CHECK(narrow.front().log_probability <= all.front().log_probability + 1e-12);
    CHECK_THROWS_AS(beam_search(decoding.learner.model(), source, 0, 3, decoding.learner.kernels()), Error);
  }
}

TEST_CASE("compare: a narrow beam keeps at each length what is likeliest then") {
  int early = 0;  // searches whose beam was full of finished targets while others were open
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    Decoding decoding(seed % 2 == 0 ? SequenceKind::gru_dot : SequenceKind::transformer, seed);
    for (const std::vector<TokenId>& source : {std::vector<TokenId>{2, 3, 3, Alphabet::kEnd}, {3, 2, Alphabet::kEnd}}) {
      for (const size_t width : {size_t{1}, size_t{2}, size_t{3}}) {
        CAPTURE(width);
        // The same search without states, and without leaving out what cannot win any more.
        std::vector<DecodedTarget> open = {{}}, finished;
        const auto sort = [](std::vector<DecodedTarget>& all) {
          std::sort(all.begin(), all.end(),
                    [](const auto& a, const auto& b) { return a.log_probability > b.log_probability; });
        };
        for (int length = 0; length <= 4; ++length) {
          std::vector<DecodedTarget> steps;
          for (const DecodedTarget& one : open) {
            steps.push_back({one.ids, decoding.log_probability(source, one.ids, true), true});
            for (const TokenId id : {Alphabet::kBegin, 2, 3}) {
              if (length == 4) break;
              std::vector<TokenId> ids = one.ids;
              ids.push_back(id);
              steps.push_back({ids, decoding.log_probability(source, ids, false), false});
            }
          }
          sort(steps);
          steps.resize(std::min(steps.size(), width));
          early += finished.size() >= width && !open.empty() ? 1 : 0;
          open.clear();
          for (const DecodedTarget& step : steps) (step.is_finished ? finished : open).push_back(step);
        }
        sort(finished);
        finished.resize(std::min(finished.size(), width));
        const auto found =
            beam_search(decoding.learner.model(), source, static_cast<int>(width), 4, decoding.learner.kernels());
        REQUIRE(found.size() == finished.size());
        for (size_t i = 0; i < found.size(); ++i) CHECK(found[i].ids == finished[i].ids);
      }
    }
  }
  CHECK(early > 5);
}

TEST_CASE("compare: the picture of an alignment has a line that adds up to 1 for each token of the target") {
  for (const SequenceKind kind : all_sequence_kinds()) {
    CAPTURE(name_of(kind));
    Decoding decoding(kind);
    const std::vector<TokenId> source = {2, 3, 3, Alphabet::kEnd};
    if (kind == SequenceKind::gru) {
      CHECK_THROWS_AS(alignment_of(decoding.learner.model(), source, 4, decoding.learner.kernels()), Error);
      continue;
    }
    const AlignmentPicture picture = alignment_of(decoding.learner.model(), source, 4, decoding.learner.kernels());
    CHECK(picture.source == source);
    CHECK(picture.target.back() == Alphabet::kEnd);
    REQUIRE(picture.weights.size() == picture.target.size() * source.size());
    for (size_t row = 0; row < picture.target.size(); ++row) {
      double sum = 0;
      for (size_t i = 0; i < source.size(); ++i) sum += picture.weights[row * source.size() + i];
      CHECK(sum == doctest::Approx(1).epsilon(1e-9));
    }
  }
}

TEST_CASE("compare: a decoder with attention learns to reverse short strings, and looks at them from the end") {
  const auto task = reverse_task(3, 5);
  SequencePlan plan = plan_of(SequenceKind::gru_dot, *task, 12000);
  SequenceLearner learner(plan, DType::F32, Threads(1), 1);
  AdamW optimizer(learner.parameters(), {.weight_decay = 0});
  Random random(1);
  for (int step = 0; step < 400; ++step) {
    const SequenceBatch batch = batch_of(*task, random_pairs(*task, 16, 1, 5, random));
    learner.parameters().clear_gradients(learner.backward_kernels());
    learner.add_gradients(batch);
    learner.parameters().clip_gradients(learner.backward_kernels(), 1);
    optimizer.step(learner.parameters(), learner.backward_kernels(), 1e-2);
  }
  CHECK(learner.accuracy(*task, random_pairs(*task, 60, 1, 5, random)) > 0.9);
}
