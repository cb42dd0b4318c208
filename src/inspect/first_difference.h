// Stops where a forward pass departs from one that was recorded.
#pragma once

#include <memory>
#include <string>

#include "files/checkpoint.h"
#include "inspect/announced_tensors.h"
#include "inspect/stopper.h"
#include "inspect/trace.h"

namespace orrery {

// Numbers that differ by less are taken for rounding: TensorComparison::relative, as trace-diff has it.
inline constexpr double kFirstDifferenceTolerance = 1e-4;

// `path` is of a trace; `header` is of the model that runs. Rows are compared by their order in the text: a text that
// begins later than at position 0 (because something is still in the cache) is compared from its beginning, and the
// reason says so. The reason has hints, as trace-diff gives them (`model` has the weights for some of them). Throws
// Error where the two have no tensor in common.
std::unique_ptr<StopCondition> stop_on_first_difference(const std::string& path, const TraceHeader& header,
                                                        std::span<const AnnouncedTensor> tensors,
                                                        std::shared_ptr<const Checkpoint> model = nullptr);

}  // namespace orrery
