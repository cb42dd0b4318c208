// Additive attention on its way forward. The way back is among the cases of the backward tests.
#include "kernels/additive_attention.h"

#include <cmath>

#include "kernels/fast_support.h"
#include "kernels/reference/backward.h"

using namespace orrery;
using namespace orrery::test;

namespace {

struct Attention {
  std::vector<AlignmentGroup> groups;
  int64_t n = 0, m = 0, most = 0;
  Numbers q, keys, score, values;

  Attention(const std::vector<std::pair<int, int>>& counts, int64_t d_score, int64_t d_value, Random& random)
      : groups(groups_of(counts)),
        n(groups.back().queries.first + groups.back().queries.count),
        m(groups.back().keys.first + groups.back().keys.count),
        q(Numbers::random(random, DType::F32, {n, d_score}).as(DType::F64)),
        keys(Numbers::random(random, DType::F32, {m, d_score}).as(DType::F64)),
        score(Numbers::random(random, DType::F32, {d_score}).as(DType::F64)),
        values(Numbers::random(random, DType::F32, {m, d_value}).as(DType::F64)) {
    for (const AlignmentGroup& group : groups) most = std::max(most, group.keys.count);
  }
  static std::vector<AlignmentGroup> groups_of(const std::vector<std::pair<int, int>>& counts) {
    std::vector<AlignmentGroup> all;
    int64_t query = 0, key = 0;
    for (const auto& [n_queries, n_keys] : counts) {
      all.push_back({{query, n_queries}, {key, n_keys}});
      query += n_queries;
      key += n_keys;
    }
    return all;
  }

  struct Result {
    Numbers weights, mix;
  };
  Result by(Kernels& kernels) const {
    const DType type = kernels.activation_type();
    const Numbers q_as = q.as(type), keys_as = keys.as(type), score_as = score.as(type), values_as = values.as(type);
    Result result{Numbers(type, {n, most}), Numbers(type, {n, values.tensor.shape[1]})};
    AdditiveOutput y{.weights = result.weights.tensor, .mix = result.mix.tensor};
    kernels.attend_additively({groups, q_as.tensor, keys_as.tensor, score_as.tensor, values_as.tensor}, y);
    return result;
  }

  // One number of the result, by the formula.
  double weight(size_t group, int64_t i, int64_t j) const {
    const RowRange& range = groups[group].keys;
    const auto score_of = [&](int64_t key) {
      const int64_t d = q.tensor.shape[1];
      double sum = 0;
      for (int64_t e = 0; e < d; ++e) {
        sum += score.doubles()[size_t(e)] *
               std::tanh(q.doubles()[size_t(i * d + e)] + keys.doubles()[size_t((range.first + key) * d + e)]);
      }
      return sum;
    };
    double total = 0;
    for (int64_t key = 0; key < range.count; ++key) total += std::exp(score_of(key));
    return std::exp(score_of(j)) / total;
  }
};

}  // namespace

TEST_CASE("additive attention is what its formula says") {
  Random random(1);
  const Attention attention({{2, 5}, {0, 1}, {3, 2}}, 7, 4, random);
  ReferenceKernels<double> reference{Threads(1)};
  const Attention::Result found = attention.by(reference);
  const std::vector<double> weights = found.weights.doubles(), mix = found.mix.doubles();
  for (const size_t group : {size_t{0}, size_t{2}}) {
    const AlignmentGroup& rows = attention.groups[group];
    for (int64_t i = rows.queries.first; i < rows.queries.first + rows.queries.count; ++i) {
      double first_value = 0;
      for (int64_t j = 0; j < attention.most; ++j) {
        const double expected = j < rows.keys.count ? attention.weight(group, i, j) : 0;
        CHECK(weights[size_t(i * attention.most + j)] == doctest::Approx(expected).epsilon(1e-12));
        if (j < rows.keys.count)
          first_value += expected * attention.values.doubles()[size_t((rows.keys.first + j) * 4)];
      }
      CHECK(mix[size_t(i * 4)] == doctest::Approx(first_value).epsilon(1e-12));
    }
  }
}

TEST_CASE("fast additive attention agrees with the reference, with any number of threads") {
  Random random(2);
  ReferenceKernels<double> reference{Threads(1)};
  ReferenceKernels<float> plain{Threads(1)};
  for (const int size : {1, 2, 3, 7, 8, 15, 16, 17, 33, 70}) {
    CAPTURE(size);
    const Attention attention({{3, size}, {size, 2}, {1, 1}}, size, 2 * size + 1, random);
    const Attention::Result expected = attention.by(reference);
    const Attention::Result simple = attention.by(plain);
    check_close(simple.mix.doubles(), expected.mix.doubles(), 0, 1e-5);
    for (const InstructionSet set : instruction_sets()) {
      FastKernels fast{Threads(1), set}, threaded{Threads(3), set};
      const Attention::Result found = attention.by(fast), again = attention.by(threaded);
      check_close(found.weights.doubles(), expected.weights.doubles(), 0, 1e-6);
      check_close(found.mix.doubles(), expected.mix.doubles(), 0, 1e-5);
      CHECK(again.mix.same_bits(found.mix));
      CHECK(again.weights.same_bits(found.weights));
    }
  }
}

TEST_CASE("additive attention far out: scores that overflow exp, and a tanh that is 1") {
  Random random(3);
  Attention attention({{2, 3}}, 4, 2, random);
  for (int64_t i = 0; i < n_elements(attention.score.tensor); ++i) values<double>(attention.score.tensor)[i] *= 1e4;
  for (int64_t i = 0; i < n_elements(attention.q.tensor); ++i) values<double>(attention.q.tensor)[i] *= 1e3;
  FastKernels fast{Threads(1)};
  for (const double weight : attention.by(fast).weights.doubles()) {
    CHECK(weight >= 0);
    CHECK(weight <= 1);
  }
}

TEST_CASE("additive attention refuses groups that do not fit") {
  Random random(4);
  ReferenceKernels<double> reference{Threads(1)};
  FastKernels fast{Threads(1)};
  const std::vector<std::vector<AlignmentGroup>> wrong = {
      {{{0, 2}, {0, 6}}},   // more keys than there are
      {{{0, 1}, {0, 5}}},   // a query too few
      {{{0, 2}, {0, 0}}},   // nothing to look at
      {{{1, 2}, {0, 5}}},   // a query left out
      {{{0, 2}, {-1, 3}}},  // keys before the first
  };
  for (const auto& groups : wrong) {
    Attention attention({{2, 5}}, 3, 2, random);
    attention.groups = groups;
    CHECK_THROWS_AS(attention.by(reference), Error);
    CHECK_THROWS_AS(attention.by(fast), Error);
  }
  // On the way back nobody may share keys.
  const Attention attention({{2, 5}}, 3, 2, random);
  const std::vector<AlignmentGroup> shared = {{{0, 1}, {0, 5}}, {{1, 1}, {4, 1}}};
  Numbers weights(DType::F64, {2, 5}), mix(DType::F64, {2, 2}), dmix(DType::F64, {2, 2});
  Numbers dq(DType::F64, {2, 3}), dkeys(DType::F64, {5, 3}), dscore(DType::F64, {3}), dvalues(DType::F64, {5, 2});
  AdditiveGradients d{.q = dq.tensor, .keys = dkeys.tensor, .score = dscore.tensor, .values = dvalues.tensor};
  ReferenceBackward<double> backward{Threads(1)};
  CHECK_THROWS_AS(backward.attend_additively({shared, attention.q.tensor, attention.keys.tensor, attention.score.tensor,
                                              attention.values.tensor},
                                             {.weights = weights.tensor, .mix = mix.tensor}, dmix.tensor, d),
                  Error);
}
