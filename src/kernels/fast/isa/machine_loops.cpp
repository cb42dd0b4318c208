// Compiled once for each instruction set; see the Makefile.
#include "kernels/fast/isa/machine_loops_isa.h"

namespace orrery::ORRERY_ISA {
namespace {

// GCC's and Clang's vector type: eight floats, whatever registers they take.
typedef float Vector __attribute__((vector_size(32)));

}  // namespace

uint64_t read_words(const uint64_t* words, size_t n) {
  uint64_t sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < n; ++i) sum += words[i];
  return sum;
}

int64_t multiply_add(int64_t rounds, float* sink) {
  constexpr int kChains = 12;  // latency 4, two units: eight would do on paper
  Vector chains[kChains];
  for (int i = 0; i < kChains; ++i) chains[i] = Vector{} + static_cast<float>(i);
  const Vector factor = Vector{} + 0.999f, addend = Vector{} + 0.001f;
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) chains[i] = chains[i] * factor + addend;
  }
  Vector sum = {};
  for (int i = 0; i < kChains; ++i) sum += chains[i];
  *sink = sum[0] + sum[7];
  return rounds * kChains * 8 * 2;
}

}  // namespace orrery::ORRERY_ISA
