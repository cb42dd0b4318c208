// Somebody who looks at the intermediate tensors of a forward pass: a trace, a stop, a patch, a lens.
#pragma once

#include <span>
#include <string_view>

#include "tensor/tensor.h"

namespace orrery {

struct Row;

// One announcement. Names are listed in src/model/PROBES.md.
struct Probe {
  std::string_view name;      // of the tensor: "blk.3.attn.q"
  int layer = -1;             // -1 outside the blocks
  std::span<const Row> rows;  // what the tensor's rows are; for scores and weights those of one sequence
};

class Observer {
 public:
  virtual ~Observer() = default;
  // Attention scores and weights are made only if somebody wants them.
  virtual bool wants(const Probe& probe) const = 0;
  // Called right after the tensor was computed; it may be changed, and the pass goes on with what it holds then.
  virtual void on_tensor(const Probe& probe, Tensor& tensor) = 0;
};

}  // namespace orrery
