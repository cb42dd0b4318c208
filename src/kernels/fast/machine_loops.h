// Two loops that do nothing but use the machine up, to know what the kernels can be measured against.
#pragma once

#include <cstddef>
#include <cstdint>

namespace orrery {

struct MachineLoops {
  // Reads `n` words and returns their sum, so that the compiler cannot leave the reading out.
  uint64_t (*read_words)(const uint64_t* words, size_t n);
  // Multiply-adds in registers, in as many independent chains as hide their latency. Returns the operations done, a
  // multiply-add as two; `sink` takes a result.
  int64_t (*multiply_add)(int64_t rounds, float* sink);
};

const MachineLoops& machine_loops();  // for the widest instruction set of ours that this CPU has

}  // namespace orrery
