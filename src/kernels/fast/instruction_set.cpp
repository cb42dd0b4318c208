#include "kernels/fast/instruction_set.h"

#ifndef ORRERY_ONLY_BASELINE
#include <cpuid.h>
#endif

#include "base/error.h"

namespace orrery {
namespace {

#ifndef ORRERY_ONLY_BASELINE
// The parts of x86-64-v3 that the loops use. The first four ask the operating system as well as the CPU; about F16C not
// every compiler can be asked.
bool cpu_has_x86_64_v3() {
  unsigned eax, ebx, ecx = 0, edx;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C);
}
#endif

}  // namespace

const char* name_of(InstructionSet instruction_set) {
  return instruction_set == InstructionSet::x86_64_v3 ? "x86-64-v3" : "baseline";
}

bool is_supported(InstructionSet instruction_set) {
  if (instruction_set == InstructionSet::baseline) return true;
#ifdef ORRERY_ONLY_BASELINE
  return false;
#else
  // Asked once: a virtual machine may take many microseconds to answer.
  static const bool has_x86_64_v3 = cpu_has_x86_64_v3();
  return has_x86_64_v3;
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

const RecurrentLoops& recurrent_loops_of([[maybe_unused]] InstructionSet instruction_set) {
#ifndef ORRERY_ONLY_BASELINE
  if (instruction_set == InstructionSet::x86_64_v3) return x86_64_v3::recurrent_loops;
#endif
  return baseline::recurrent_loops;
}

}  // namespace orrery
