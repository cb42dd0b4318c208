// Where the way back begins, with the loss, and what happens to the gradients at its end.
#include <cmath>

#include "kernels/backward_checks.h"
#include "kernels/check_shapes.h"
#include "kernels/dropout.h"
#include "kernels/fast/backward.h"
#include "kernels/fast/rows.h"

namespace orrery {
namespace {

constexpr int64_t kPieceElements = 16384;

float narrow(double value) { return static_cast<float>(value); }

}  // namespace

void FastBackward::cross_entropy(const Tensor& logits, std::span<const int32_t> targets,
                                 std::span<const double> dlosses, Tensor& dlogits) {
  std::vector<double> losses(dlosses.size());
  check_cross_entropy(activation_type(), logits, targets, losses);
  check_gradient("cross_entropy", activation_type(), logits, dlogits);
  const Rows in(logits), out(dlogits);
  for_each_row(threads_, in, [&](int64_t row) {
    const double slope = dlosses[static_cast<size_t>(row)];
    if (slope == 0) return;
    const auto scratch = scratch_.borrow({in.width});
    const float sum = loops_.exponentials(in[row], loops_.maximum(in[row], in.width), in.width, scratch[0]);
    back_.add_scaled(scratch[0], narrow(slope) / sum, in.width, out[row]);
    out[row][targets[static_cast<size_t>(row)]] -= narrow(slope);
  });
}

double FastBackward::sum_of_squares(const Tensor& x) {
  check_update("sum_of_squares", activation_type(), {&x});
  const int64_t n = n_elements(x);
  std::vector<double> parts(static_cast<size_t>((n + kPieceElements - 1) / kPieceElements));
  threads_.parallel_for(n, kPieceElements, [&](int64_t begin, int64_t end) {
    parts[static_cast<size_t>(begin / kPieceElements)] = back_.sum_of_squares(values<float>(x) + begin, end - begin);
  });
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

void FastBackward::scale(double factor, Tensor& x) {
  check_update("scale", activation_type(), {&x});
  float* data = values<float>(x);
  threads_.parallel_for(n_elements(x), kPieceElements, [&](int64_t begin, int64_t end) {
    loops_.scale(data + begin, narrow(factor), end - begin, data + begin);
  });
}

void FastBackward::drop(double share, uint64_t seed, Tensor& x) {
  check_update("drop", activation_type(), {&x});
  float* data = values<float>(x);
  const float kept = narrow(1 / (1 - share));
  threads_.parallel_for(n_elements(x), kPieceElements, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) data[i] *= is_dropped(share, seed, i) ? 0.0f : kept;
  });
}

void FastBackward::adamw(const AdamWStep& step, const Tensor& dw, Tensor& w, Tensor& mean, Tensor& square) {
  check_update("adamw", activation_type(), {&w, &dw, &mean, &square});
  const auto t = static_cast<double>(step.step);
  const BackwardLoops::AdamW constants = {.kept = narrow(1 - step.rate * step.weight_decay),
                                          .rate = narrow(step.rate),
                                          .beta1 = narrow(step.beta1),
                                          .fresh_mean = narrow(1 - step.beta1),
                                          .unbias_mean = narrow(1 / (1 - std::pow(step.beta1, t))),
                                          .beta2 = narrow(step.beta2),
                                          .fresh_square = narrow(1 - step.beta2),
                                          .unbias_square = narrow(1 / (1 - std::pow(step.beta2, t))),
                                          .epsilon = narrow(step.epsilon)};
  threads_.parallel_for(n_elements(w), kPieceElements, [&](int64_t begin, int64_t end) {
    back_.adamw(constants, values<float>(dw) + begin, end - begin, values<float>(w) + begin,
                values<float>(mean) + begin, values<float>(square) + begin);
  });
}

void FastBackward::sgd(const SgdStep& step, const Tensor& dw, Tensor& w, Tensor& momentum) {
  check_update("sgd", activation_type(), {&w, &dw, &momentum});
  const BackwardLoops::Sgd constants = {narrow(step.rate), narrow(step.momentum), narrow(step.weight_decay)};
  threads_.parallel_for(n_elements(w), kPieceElements, [&](int64_t begin, int64_t end) {
    back_.sgd(constants, values<float>(dw) + begin, end - begin, values<float>(w) + begin,
              values<float>(momentum) + begin);
  });
}

}  // namespace orrery
