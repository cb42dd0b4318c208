#include "cli/options.h"
namespace orrery::cli {
int trace_diff(const TraceDiffOptions&) { return kDiffers; }
}  // namespace orrery::cli
