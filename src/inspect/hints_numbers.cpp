// Diagnoses of inputs, factors, norms, matrices and number types.
#include <algorithm>
#include <cmath>
#include <limits>

#include "inspect/hint_evidence.h"
#include "tensor/convert.h"

namespace orrery {
namespace {

// Row i + 1 of `longer` is row i of `shorter`, for all rows, and there are at least two.
bool is_shifted(const TensorValues& longer, const TensorValues& shorter) {
  const int64_t n = std::min(longer.n_rows() - 1, shorter.n_rows()), width = longer.width();
  if (n < 2 || width == 0 || width != shorter.width()) return false;
  const std::vector<double> rows(longer.row(1), longer.row(1) + n * width);
  const std::vector<double> expected(shorter.row(0), shorter.row(0) + n * width);
  return distance(rows, expected) < 1e-3;
}

// Logarithms of weights, less their mean in each row: a row of scores less its mean, since softmax adds a constant to
// each row. What one of the two does not see, or rounds to 0, is left out.
void centred_logarithms(const TensorPair& weights, std::vector<double>& a, std::vector<double>& b) {
  const int64_t width = weights.a.width();
  for (int64_t r = 0; r < weights.a.n_rows(); ++r) {
    double sum_a = 0, sum_b = 0;
    std::vector<std::pair<double, double>> seen;
    for (int64_t j = 0; j < width; ++j) {
      const double in_a = weights.a.row(r)[j], in_b = weights.b.row(r)[j];
      if (!(in_a > 0 && in_b > 0)) continue;
      seen.emplace_back(std::log(in_a), std::log(in_b));
      sum_a += seen.back().first;
      sum_b += seen.back().second;
    }
    const auto n = static_cast<double>(seen.size());
    for (const auto& [in_a, in_b] : seen) {
      a.push_back(in_a - sum_a / n);
      b.push_back(in_b - sum_b / n);
    }
  }
}

std::string factor_text(double factor, double size, const char* name) {
  const double root = std::sqrt(size);
  if (size > 0 && std::abs(factor / root - 1) < 0.01) return ", the root of " + std::string(name);
  if (size > 0 && std::abs(factor * root - 1) < 0.01) return ", 1 by the root of " + std::string(name);
  return "";
}

// ---- Norms ----

// What a row of a norm's input is divided by, squared and without epsilon; the input less its mean where that is
// taken off.
std::vector<double> mean_squares(TensorValues& input, Norm norm) {
  std::vector<double> result;
  const int64_t width = input.width();
  for (int64_t r = 0; r < input.n_rows(); ++r) {
    double* row = input.numbers.data() + r * width;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < width; ++i) sum += row[i];
    const double mean = norm == Norm::layer ? sum / static_cast<double>(width) : 0;
    for (int64_t i = 0; i < width; ++i) {
      row[i] -= mean;
      squares += row[i] * row[i];
    }
    result.push_back(squares / static_cast<double>(width));
  }
  return result;
}

// Takes LayerNorm's bias off both outputs: column by column, the part of A's that does not grow with the normed input.
// With the epsilon of A known that is a straight line through all rows.
void take_off_bias(const TensorValues& input, const std::vector<double>& squares, double epsilon, TensorPair& output) {
  const int64_t n = output.a.n_rows(), width = output.a.width();
  for (int64_t j = 0; j < width; ++j) {
    double x_sum = 0, y_sum = 0, xx = 0, xy = 0;
    for (int64_t r = 0; r < n; ++r) {
      const double x = input.row(r)[j] / std::sqrt(squares[static_cast<size_t>(r)] + epsilon), y = output.a.row(r)[j];
      x_sum += x;
      y_sum += y;
      xx += x * x;
      xy += x * y;
    }
    const auto count = static_cast<double>(n);
    const double gain = (xy - x_sum * y_sum / count) / (xx - x_sum * x_sum / count);
    const double bias = (y_sum - gain * x_sum) / count;
    for (int64_t r = 0; r < n; ++r) {
      output.a.numbers[static_cast<size_t>(r * width + j)] -= bias;
      output.b.numbers[static_cast<size_t>(r * width + j)] -= bias;
    }
  }
}

// The epsilon of B that explains B's rows as A's, each times a number of its own; nothing where they are no such rows,
// or where each would need another epsilon.
std::optional<double> other_epsilon(const TensorPair& output, const std::vector<double>& squares, double epsilon) {
  std::vector<double> estimates;
  double left = 0, explained = 0;
  const int64_t width = output.a.width();
  for (int64_t r = 0; r < output.a.n_rows(); ++r) {
    const std::vector<double> a(output.a.row(r), output.a.row(r) + width), b(output.b.row(r), output.b.row(r) + width);
    const double factor = best_factor(a, b);  // sqrt((s + epsilon of B) / (s + epsilon of A))
    for (size_t i = 0; i < a.size(); ++i) {
      left += (a[i] - factor * b[i]) * (a[i] - factor * b[i]);
      explained += (factor - 1) * (factor - 1) * b[i] * b[i];
    }
    const double s = squares[static_cast<size_t>(r)];
    estimates.push_back((s + epsilon) * factor * factor - s);
  }
  if (!(left < 0.01 * explained)) return std::nullopt;
  std::ranges::sort(estimates);
  const double middle = estimates[estimates.size() / 2];
  const double spread = estimates.back() - estimates.front();
  const bool is_one = middle > -1e-12 && spread < 0.2 * (std::abs(middle - epsilon));
  return is_one ? std::optional(std::max(middle, 0.0)) : std::nullopt;
}

// Where A's (or B's) epsilon is this one: the other's that explains the mismatch.
std::optional<double> epsilon_of_other(const Evidence& evidence, bool a_is_right, double epsilon) {
  const TensorPair *found = evidence.mismatch(), *input = evidence.agreeing_input();
  if (found == nullptr || input == nullptr || input->a.shape != found->a.shape) return std::nullopt;
  TensorPair output = *found;
  if (!a_is_right) std::swap(output.a, output.b);
  TensorValues x = a_is_right ? input->a : input->b;
  if (evidence.is_kind({"attn.q_norm", "attn.k_norm"})) {  // a row for each head
    const int64_t head_dim = evidence.known(&TraceHeader::head_dim);
    if (head_dim == 0 || x.width() % head_dim != 0) return std::nullopt;
    for (TensorValues* values : {&x, &output.a, &output.b}) {
      values->shape = {std::ssize(values->numbers) / head_dim, head_dim};
    }
  }
  const auto norm = evidence.a.header.norm ? evidence.a.header.norm : evidence.b.header.norm;
  const std::vector<double> squares = mean_squares(x, norm.value_or(Norm::rms));
  if (norm == Norm::layer) {
    if (x.n_rows() < 3) return std::nullopt;
    take_off_bias(x, squares, epsilon, output);
  }
  return other_epsilon(output, squares, epsilon);
}

// ---- Matrices ----

const char* weight_of(std::string_view kind) {
  constexpr std::pair<std::string_view, const char*> kWeights[] = {
      {"attn.q", "attn_q"},     {"attn.k", "attn_k"}, {"attn.v", "attn_v"},    {"attn.out", "attn_output"},
      {"ffn.gate", "ffn_gate"}, {"ffn.up", "ffn_up"}, {"ffn.out", "ffn_down"},
  };
  const auto* found = std::ranges::find(kWeights, kind, &std::pair<std::string_view, const char*>::first);
  return found == std::end(kWeights) ? nullptr : found->second;
}

std::vector<double> numbers_of(const Tensor& tensor) {
  std::vector<double> numbers(static_cast<size_t>(n_elements(tensor)));
  convert_row(tensor.dtype, tensor.data, DType::F64, reinterpret_cast<std::byte*>(numbers.data()), n_elements(tensor));
  return numbers;
}

// x[n, in] times a matrix whose bytes, [in, out], were taken for [out, in]. `weight` is right: [out, in].
TensorValues times_untransposed(const TensorValues& x, const Tensor& weight, const Tensor* bias) {
  const int64_t out = weight.shape[0], in = weight.shape[1], n = x.n_rows();
  const std::vector<double> w = numbers_of(weight), b = bias != nullptr ? numbers_of(*bias) : std::vector<double>();
  TensorValues y{{n, out}, std::vector<double>(static_cast<size_t>(n * out))};
  for (int64_t o = 0; o < out; ++o) {
    for (int64_t i = 0; i < in; ++i) {
      const int64_t place = o * in + i;  // in the transposed matrix, which is out wide
      const double element = w[static_cast<size_t>(place % out * in + place / out)];
      for (int64_t r = 0; r < n; ++r) y.numbers[static_cast<size_t>(r * out + o)] += x.row(r)[i] * element;
    }
    for (int64_t r = 0; r < n && bias != nullptr; ++r) {
      y.numbers[static_cast<size_t>(r * out + o)] += b[static_cast<size_t>(o)];
    }
  }
  return y;
}

// ---- Types ----

// Whether the type can hold each number as it is.
bool fits(DType type, const std::vector<double>& numbers) {
  const auto n = static_cast<int64_t>(numbers.size());
  std::vector<std::byte> narrow(bytes_of(type, n));
  std::vector<double> wide(numbers.size());
  convert_row(DType::F64, reinterpret_cast<const std::byte*>(numbers.data()), type, narrow.data(), n);
  convert_row(type, narrow.data(), DType::F64, reinterpret_cast<std::byte*>(wide.data()), n);
  return wide == numbers;
}

// Whether each block of 32 is a number times whole ones up to 127, as Q8_0 stores them.
bool fits_q8_0(const TensorValues& values) {
  if (values.width() % kQ8BlockElements != 0) return false;
  for (size_t begin = 0; begin < values.numbers.size(); begin += kQ8BlockElements) {
    double largest = 0;
    for (size_t i = begin; i < begin + kQ8BlockElements; ++i) largest = std::max(largest, std::abs(values.numbers[i]));
    for (size_t i = begin; i < begin + kQ8BlockElements && largest > 0; ++i) {
      const double steps = values.numbers[i] / largest * 127;
      if (std::abs(steps - std::round(steps)) > 1e-3) return false;
    }
  }
  return true;
}

const char* type_of(const TensorValues& values) {
  if (fits(DType::BF16, values.numbers)) return "BF16";
  if (fits(DType::F16, values.numbers)) return "F16";
  return fits_q8_0(values) ? "Q8_0" : nullptr;
}

}  // namespace

// The ids say it; without them, the rows of the embedding do, which are shifted by one.
Diagnosis find_missing_bos(const Evidence& evidence) {
  const auto begins_before = [](const std::vector<TokenId>& longer, const std::vector<TokenId>& shorter) {
    return !shorter.empty() && longer.size() == shorter.size() + 1 &&
           std::equal(shorter.begin(), shorter.end(), longer.begin() + 1);
  };
  const auto& ids_a = evidence.a.header.prompt_ids;
  const auto& ids_b = evidence.b.header.prompt_ids;
  bool is_in_a = begins_before(ids_a, ids_b), is_in_b = begins_before(ids_b, ids_a);
  if (ids_a.empty() || ids_b.empty()) {
    const TraceTensor *a = evidence.a.find("embed"), *b = evidence.b.find("embed");
    if (evidence.first.name != "embed" || a == nullptr || b == nullptr) return std::nullopt;
    const TensorValues of_a = trace_values(*a, evidence.a.header), of_b = trace_values(*b, evidence.b.header);
    is_in_a = is_shifted(of_a, of_b);
    is_in_b = !is_in_a && is_shifted(of_b, of_a);
  }
  if (!is_in_a && !is_in_b) return std::nullopt;
  return std::string(is_in_a ? "A" : "B") + " has one token more, at the beginning" +
         (ids_a.empty() || ids_b.empty() ? "" : ", id " + std::to_string((is_in_a ? ids_a : ids_b).front())) +
         "; after it the prompts are the same. Was BOS left out in " + (is_in_a ? "B" : "A") + "?";
}

// All elements differ by one factor. After softmax it shows in the logarithms.
Diagnosis find_missing_scale(const Evidence& evidence) {
  const TensorPair* pair = evidence.mismatch();
  if (pair == nullptr || evidence.kind().ends_with("norm")) return std::nullopt;
  std::vector<double> a = pair->a.numbers, b = pair->b.numbers;
  if (evidence.kind() == "attn.weights") {
    a.clear();
    b.clear();
    centred_logarithms(*pair, a, b);
  }
  const double factor = best_factor(a, b);
  std::vector<double> candidate = b;
  for (double& number : candidate) number *= factor;
  if (factor == 0 || a.size() < 2 || !explains(candidate, a, b)) return std::nullopt;
  const std::string text = evidence.first.name + " of A is " + four_digits(factor) + " times B's";
  if (evidence.is_kind({"attn.scores", "attn.weights"})) {
    return (evidence.kind() == "attn.weights" ? "before softmax, what became " : "") + text +
           factor_text(factor, static_cast<double>(evidence.known(&TraceHeader::head_dim)), "head_dim") +
           ": scores must be multiplied by 1 / sqrt(head_dim), once";
  }
  return text + factor_text(factor, static_cast<double>(pair->a.width()), "its width") +
         ": a scale is missing or "
         "applied twice";
}

// Each row differs by a factor of its own, further from 1 where the input is small; the factors say which epsilon.
Diagnosis find_epsilon(const Evidence& evidence) {
  if (!evidence.kind().ends_with("norm")) return std::nullopt;
  const TraceHeader &of_a = evidence.a.header, &of_b = evidence.b.header;
  const std::string advice = ": the norm's epsilon is another one";
  if (of_a.norm_epsilon > 0 && of_b.norm_epsilon > 0 && of_a.norm_epsilon != of_b.norm_epsilon) {
    return "A's header says " + four_digits(of_a.norm_epsilon) + " and B's " + four_digits(of_b.norm_epsilon) + advice;
  }
  for (const bool a_is_right : {true, false}) {  // one of the headers is wrong about it, or absent
    const double epsilon = a_is_right ? of_a.norm_epsilon : of_b.norm_epsilon;
    const auto other = epsilon > 0 ? epsilon_of_other(evidence, a_is_right, epsilon) : std::nullopt;
    if (!other) continue;
    return "each row of " + evidence.first.name + " differs by a factor, as with an epsilon of " + four_digits(*other) +
           " in " + (a_is_right ? "B" : "A") + " and " + four_digits(epsilon) + " in " + (a_is_right ? "A" : "B") +
           advice;
  }
  return std::nullopt;
}

// With the weights at hand: the input times the matrix read the other way round gives what one of the two has.
Diagnosis find_transposed_matrix(const Evidence& evidence) {
  const TensorPair *pair = evidence.mismatch(), *input = evidence.agreeing_input();
  const char* name = weight_of(evidence.kind());
  if (evidence.model == nullptr || pair == nullptr || input == nullptr || name == nullptr) return std::nullopt;
  const std::string full_name = probe_name(evidence.layer(), name) + ".weight";
  const Tensor* weight = evidence.model->find_weight(full_name);
  if (weight == nullptr || weight->n_dims != 2 || weight->shape[1] != input->a.width() ||
      weight->shape[0] != pair->a.width() || !is_contiguous(*weight)) {
    return std::nullopt;
  }
  const Tensor* bias = evidence.model->find_weight(probe_name(evidence.layer(), name) + ".bias");
  TensorValues wrong = times_untransposed(input->a, *weight, bias);
  const ModelConfig& config = evidence.model->config;
  if (config.positions == Positions::rope && config.rope_layout == RopeLayout::interleaved &&
      evidence.is_kind({"attn.q", "attn.k"})) {
    split_halves(wrong, config.head_dim, config.rope_dims);
  }
  for (const bool in_a : {true, false}) {
    if (!explains(wrong.numbers, in_a ? pair->a.numbers : pair->b.numbers, in_a ? pair->b.numbers : pair->a.numbers)) {
      continue;
    }
    return std::string(in_a ? "A" : "B") + " has what " + full_name +
           " gives when its file's [in, out] is taken for [out, in]: the matrix is not transposed";
  }
  return std::nullopt;
}

// What is to be added to every row is the same.
Diagnosis find_missing_bias(const Evidence& evidence) {
  const TensorPair* pair = evidence.mismatch();
  if (weight_of(evidence.kind()) == nullptr || pair == nullptr || evidence.agreeing_input() == nullptr) {
    return std::nullopt;
  }
  const int64_t n = pair->a.n_rows(), width = pair->a.width();
  if (n < 2) return std::nullopt;
  std::vector<double> mean(static_cast<size_t>(width));
  for (size_t i = 0; i < pair->a.numbers.size(); ++i) {
    mean[i % mean.size()] += (pair->a.numbers[i] - pair->b.numbers[i]) / static_cast<double>(n);
  }
  std::vector<double> candidate = pair->b.numbers;
  for (size_t i = 0; i < candidate.size(); ++i) candidate[i] += mean[i % mean.size()];
  if (!explains(candidate, pair->a.numbers, pair->b.numbers)) return std::nullopt;
  return "all rows of " + evidence.first.name + " differ by the same numbers: a bias that one of the two lacks";
}

// One trace has only numbers of a shorter type where they part, or the differences grew to the tolerance by and by.
Diagnosis find_precision_only(const Evidence& evidence) {
  const TensorPair* pair = evidence.mismatch();
  constexpr double kMostPrecision = 0.05;  // of Q8_0 after some layers
  if (pair == nullptr || distance(pair->a.numbers, pair->b.numbers) > kMostPrecision) return std::nullopt;
  const char *a = type_of(pair->a), *b = type_of(pair->b);
  if ((a != nullptr) != (b != nullptr)) {
    return std::string(a != nullptr ? "A" : "B") + "'s numbers are all " + (a != nullptr ? a : b) +
           ", the other's are not: weights or activations of a shorter type";
  }
  double before = 0;
  for (const TensorVerdict& verdict : evidence.diff.tensors) {
    if (&verdict == &evidence.first) break;
    before = std::max(before, verdict.comparison.nmse);
  }
  constexpr double kMostGrowth = 30;  // of an NMSE, from one tensor to the next
  if (before == 0 || evidence.first.comparison.nmse > kMostGrowth * before) return std::nullopt;
  return "differences are there from the start and grow slowly, without a jump: rounding, of a shorter type or of "
         "another order of operations";
}

}  // namespace orrery
