// What a sampler did, as a table.
#pragma once

#include <span>
#include <string>

#include "inspect/why.h"
#include "text/tokenizer.h"

namespace orrery::cli {

// A line for each token drawn: its rank among those that are left, and its probability, after every step. `tokenizer`
// may be nullptr.
std::string why_text(std::span<const Explanation> explanations, const SamplerSettings& settings,
                     const Tokenizer* tokenizer);

}  // namespace orrery::cli
