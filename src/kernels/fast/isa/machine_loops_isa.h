// Declarations only: code in a header could be compiled for one CPU and linked for another.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace orrery::baseline {
uint64_t read_words(const uint64_t* words, size_t n);
int64_t multiply_add(int64_t rounds, float* sink);
}  // namespace orrery::baseline

namespace orrery::x86_64_v3 {
uint64_t read_words(const uint64_t* words, size_t n);
int64_t multiply_add(int64_t rounds, float* sink);
}  // namespace orrery::x86_64_v3
