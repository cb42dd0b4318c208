// Diagnoses: from where two traces part, and how their numbers differ there, what may be the reason.
#pragma once

#include <string>
#include <vector>

#include "files/checkpoint.h"
#include "inspect/trace_diff.h"

namespace orrery {

enum class Symptom {
  missing_bos,        // one prompt has a token before the other's
  cache_not_reset,    // more keys than the sequence has positions
  rope_layout,        // other pairs turn together
  rope_angles,        // the same pairs turn, by other angles
  mask,               // a row sees keys that the other's does not
  head_mapping,       // query heads read other key-value heads
  missing_scale,      // one is the other times a constant
  epsilon,            // of a norm
  transposed_matrix,  // a weight is read the other way round
  missing_bias,       // every row differs by the same
  precision_only,     // a shorter type, and nothing else
};
const char* symptom_name(Symptom symptom);  // "RoPE layout"

struct Hint {
  Symptom symptom;
  std::string text;  // a sentence or two, about A and B
};

// What the first mismatch of `diff` may come from, likeliest first; empty where nothing fits or nothing differs. With
// the model, of which `model` are the weights, wrong ways to read a matrix are tried too.
std::vector<Hint> find_hints(const Trace& a, const Trace& b, const TraceDiff& diff, const Checkpoint* model = nullptr);

}  // namespace orrery
