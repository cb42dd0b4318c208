#include "kernels/decorated_kernels.h"

#include <type_traits>

#include "base/clock.h"

namespace orrery {
namespace {

// Operations for one element, as the formulas in kernels.h are computed: an exp, tanh or square root counts as one.
constexpr int64_t kAdd = 1;
constexpr int64_t kRmsNorm = 4;        // square, sum; scale, gain
constexpr int64_t kLayerNorm = 8;      // sum; subtract, square, sum; subtract, scale, gain, bias
constexpr int64_t kRopeAngle = 3;      // multiply, cosine, sine
constexpr int64_t kRopePair = 6;       // four multiplications, two additions
constexpr int64_t kSoftmax = 4;        // subtract, exp, sum, divide
constexpr int64_t kAdditiveScore = 4;  // add, tanh, multiply, sum
constexpr int64_t kScale = 1;          // of a score, or of an embedding

constexpr int64_t kSigmoid = 4;  // negate, exp, add, divide
constexpr int64_t kTanh = 1;
// Of a unit: the sums of its gates, three additions each; the gates; the state.
constexpr int64_t kRnnUnit = 3 + kTanh;
constexpr int64_t kLstmUnit = kLstmGates * 3 + 3 * kSigmoid + kTanh + 3 + kTanh + 1;
constexpr int64_t kGruUnit = kGruGates * 3 + 2 * kSigmoid + 1 + kTanh + 4;

int64_t activation_flops(Activation activation) {
  return activation == Activation::silu ? 4 : 9;  // negate, exp, add, divide; the tanh form of GELU takes nine
}

int64_t visible_keys(const AttentionShape& shape, const AttentionGroup& group) {
  int64_t n = 0;
  for (const int position : group.positions) n += position + 1 - shape.first_key(position);
  return n;
}

// Query by key, one multiply-add for each element of a head; then weight by value, as many again.
int64_t dot_flops(const AttentionShape& shape, const AttentionGroup& group) {
  return visible_keys(shape, group) * shape.n_heads * 2 * shape.head_dim;
}

// A layer: two matrices for each row, and what a unit takes.
Operation recurrent(const char* name, const RecurrentInput& in, int64_t unit_flops) {
  const Tensor &input = in.weights.input, &hidden = in.weights.hidden;
  const int64_t row_flops = 2 * (n_elements(input) + n_elements(hidden)) + unit_flops * hidden.shape[1];
  return {name, in.x.shape[0] * row_flops, n_bytes(input) + n_bytes(hidden)};
}

}  // namespace

template <class Call>
auto DecoratedKernels::announced(const Operation& operation, const Call& call) {
  before(operation);
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    after(operation);
  } else {
    auto result = call();
    after(operation);
    return result;
  }
}

void DecoratedKernels::embed(const Tensor& table, std::span<const int32_t> ids, Tensor& y) {
  announced({"embed"}, [&] { inner_.embed(table, ids, y); });
}

void DecoratedKernels::matmul(const Tensor& x, const Tensor& w, Tensor& y) {
  const int64_t flops = 2 * x.shape[0] * x.shape[1] * w.shape[0];
  announced({"matmul", flops, n_bytes(w)}, [&] { inner_.matmul(x, w, y); });
}

void DecoratedKernels::add(const Tensor& a, const Tensor& b, Tensor& y) {
  announced({"add", kAdd * n_elements(y)}, [&] { inner_.add(a, b, y); });
}

void DecoratedKernels::scale(const Tensor& x, double factor, Tensor& y) {
  announced({"scale", kScale * n_elements(y)}, [&] { inner_.scale(x, factor, y); });
}

void DecoratedKernels::rms_norm(const Tensor& x, const Tensor& gain, double epsilon, Tensor& y) {
  announced({"rms_norm", kRmsNorm * n_elements(x)}, [&] { inner_.rms_norm(x, gain, epsilon, y); });
}

void DecoratedKernels::layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, double epsilon, Tensor& y) {
  announced({"layer_norm", kLayerNorm * n_elements(x)}, [&] { inner_.layer_norm(x, gain, bias, epsilon, y); });
}

void DecoratedKernels::rope_angles(std::span<const int> positions, std::span<const double> frequencies, Tensor& cosine,
                                   Tensor& sine) {
  announced({"rope_angles", kRopeAngle * n_elements(cosine)},
            [&] { inner_.rope_angles(positions, frequencies, cosine, sine); });
}

void DecoratedKernels::rope(const Tensor& x, const Tensor& cosine, const Tensor& sine, RopeLayout layout, int head_dim,
                            Tensor& y) {
  const int64_t n_pairs = n_elements(x) / head_dim * cosine.shape[1];
  announced({"rope", kRopePair * n_pairs}, [&] { inner_.rope(x, cosine, sine, layout, head_dim, y); });
}

void DecoratedKernels::activate(Activation activation, const Tensor& x, Tensor& y) {
  announced({"activate", activation_flops(activation) * n_elements(x)}, [&] { inner_.activate(activation, x, y); });
}

void DecoratedKernels::activate_gated(Activation activation, const Tensor& gate, const Tensor& up, Tensor& y) {
  announced({"activate_gated", (activation_flops(activation) + 1) * n_elements(gate)},
            [&] { inner_.activate_gated(activation, gate, up, y); });
}

void DecoratedKernels::attention(const AttentionShape& shape, std::span<const AttentionGroup> groups, const Tensor& q,
                                 Tensor& mix) {
  int64_t flops = 0;
  for (const AttentionGroup& group : groups) {
    flops += 2 * dot_flops(shape, group) + visible_keys(shape, group) * shape.n_heads * (kScale + kSoftmax);
  }
  announced({"attention", flops}, [&] { inner_.attention(shape, groups, q, mix); });
}

void DecoratedKernels::attention_scores(const AttentionShape& shape, const AttentionGroup& group, const Tensor& q,
                                        Tensor& scores) {
  const int64_t flops = dot_flops(shape, group) + visible_keys(shape, group) * shape.n_heads * kScale;
  announced({"attention_scores", flops}, [&] { inner_.attention_scores(shape, group, q, scores); });
}

void DecoratedKernels::softmax(const Tensor& x, Tensor& y) {
  announced({"softmax", kSoftmax * n_elements(x)}, [&] { inner_.softmax(x, y); });
}

void DecoratedKernels::attention_mix(const AttentionShape& shape, const AttentionGroup& group, const Tensor& weights,
                                     Tensor& mix) {
  announced({"attention_mix", dot_flops(shape, group)}, [&] { inner_.attention_mix(shape, group, weights, mix); });
}

void DecoratedKernels::convert(const Tensor& x, Tensor& y) {
  announced({"convert"}, [&] { inner_.convert(x, y); });
}

void DecoratedKernels::rnn(const RecurrentInput& in, RnnOutput& y) {
  announced(recurrent("rnn", in, kRnnUnit), [&] { inner_.rnn(in, y); });
}

void DecoratedKernels::lstm(const RecurrentInput& in, LstmOutput& y) {
  announced(recurrent("lstm", in, kLstmUnit), [&] { inner_.lstm(in, y); });
}

void DecoratedKernels::gru(const RecurrentInput& in, GruReset reset, GruOutput& y) {
  announced(recurrent("gru", in, kGruUnit), [&] { inner_.gru(in, reset, y); });
}

void DecoratedKernels::attend_additively(const AdditiveInput& in, AdditiveOutput& y) {
  int64_t pairs = 0;
  for (const AlignmentGroup& group : in.groups) pairs += group.queries.count * group.keys.count;
  const int64_t flops = pairs * (kAdditiveScore * in.q.shape[1] + kSoftmax + 2 * in.values.shape[1]);
  announced({"attend_additively", flops}, [&] { inner_.attend_additively(in, y); });
}

int64_t DecoratedKernels::first_non_finite(const Tensor& x) {
  return announced({"first_non_finite"}, [&] { return inner_.first_non_finite(x); });
}

std::vector<Candidate> DecoratedKernels::largest(const Tensor& logits, int64_t count) {
  return announced({"largest"}, [&] { return inner_.largest(logits, count); });
}

void DecoratedKernels::cross_entropy(const Tensor& logits, std::span<const int32_t> targets, std::span<double> losses) {
  announced({"cross_entropy", kSoftmax * n_elements(logits)}, [&] { inner_.cross_entropy(logits, targets, losses); });
}

OperationTotals sum(const TotalsByName& totals) {
  OperationTotals all;
  for (const auto& [name, one] : totals) {
    all.calls += one.calls;
    all.flops += one.flops;
    all.weight_bytes += one.weight_bytes;
    all.seconds += one.seconds;
  }
  return all;
}

void CountingKernels::before(const Operation& operation) {
  OperationTotals& totals = totals_[operation.name];
  ++totals.calls;
  totals.flops += operation.flops;
  totals.weight_bytes += operation.weight_bytes;
}

void TimingKernels::before(const Operation&) { start_ = seconds_now(); }

void TimingKernels::after(const Operation& operation) {
  const double seconds = seconds_now() - start_;
  OperationTotals& totals = totals_[operation.name];
  ++totals.calls;
  totals.flops += operation.flops;
  totals.weight_bytes += operation.weight_bytes;
  totals.seconds += seconds;
}

}  // namespace orrery
