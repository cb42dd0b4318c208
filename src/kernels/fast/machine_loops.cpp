#include "kernels/fast/machine_loops.h"

#include "kernels/fast/instruction_set.h"
#include "kernels/fast/isa/machine_loops_isa.h"

namespace orrery {

const MachineLoops& machine_loops() {
  static constexpr MachineLoops kBaseline = {baseline::read_words, baseline::multiply_add};
#ifndef ORRERY_ONLY_BASELINE
  static constexpr MachineLoops kV3 = {x86_64_v3::read_words, x86_64_v3::multiply_add};
  if (best_instruction_set() == InstructionSet::x86_64_v3) return kV3;
#endif
  return kBaseline;
}

}  // namespace orrery
