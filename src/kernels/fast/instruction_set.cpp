#include "kernels/fast/instruction_set.h"

#include "base/error.h"

namespace orrery {

const char* name_of(InstructionSet instruction_set) {
  return instruction_set == InstructionSet::x86_64_v3 ? "x86-64-v3" : "baseline";
}

bool is_supported(InstructionSet instruction_set) {
  if (instruction_set == InstructionSet::baseline) return true;
#ifdef ORRERY_ONLY_BASELINE
  return false;
#else
  // The parts of x86-64-v3 that compilers make use of; they ask the operating system as well as the CPU.
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
#endif
}

InstructionSet best_instruction_set() {
  return is_supported(InstructionSet::x86_64_v3) ? InstructionSet::x86_64_v3 : InstructionSet::baseline;
}

const Loops& loops_of(InstructionSet instruction_set) {
  if (!is_supported(instruction_set)) {
    throw Error({.what = "this CPU or this build lacks an instruction set",
                 .where = "fast kernels",
                 .expected = name_of(best_instruction_set()),
                 .found = name_of(instruction_set)});
  }
#ifndef ORRERY_ONLY_BASELINE
  if (instruction_set == InstructionSet::x86_64_v3) return x86_64_v3::loops;
#endif
  return baseline::loops;
}

}  // namespace orrery
