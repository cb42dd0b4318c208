// Which of the compiled sets of inner loops this CPU can run.
#pragma once

#include "kernels/fast/isa/loops.h"
#include "kernels/fast/isa/recurrent_loops.h"

namespace orrery {

enum class InstructionSet {
  baseline,   // what every CPU of the architecture has; SSE2 on x86-64
  x86_64_v3,  // AVX2, FMA and F16C
};

const char* name_of(InstructionSet instruction_set);
bool is_supported(InstructionSet instruction_set);
InstructionSet best_instruction_set();
const Loops& loops_of(InstructionSet instruction_set);                     // throws Error if it is not supported
const RecurrentLoops& recurrent_loops_of(InstructionSet instruction_set);  // of one that is supported

}  // namespace orrery
