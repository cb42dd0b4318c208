// The small network of additive attention for one query and one key, there and back.
#include "kernels/fast/isa/backward_functions.h"
#include "kernels/fast/isa/exponential_of.h"
#include "kernels/fast/isa/functions.h"

namespace orrery::ORRERY_ISA {
namespace {

// tanh, within 2e-7.
inline float tanh_of(float x) { return 1 - 2 / (1 + exponential(2 * x)); }

}  // namespace

float additive_score(const float* query, const float* key, const float* v, int64_t n) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += v[i] * tanh_of(query[i] + key[i]);
  return sum;
}

void additive_score_back(const float* query, const float* key, const float* v, float slope, int64_t n, float* dquery,
                         float* dkey, float* dv) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const float squashed = tanh_of(query[i] + key[i]);
    const float through = slope * v[i] * (1 - squashed * squashed);
    dquery[i] += through;
    dkey[i] += through;
    dv[i] += slope * squashed;
  }
}

}  // namespace orrery::ORRERY_ISA
