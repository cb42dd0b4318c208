// Memory for the gradients of activations. One is needed from the first use of its tensor that the walk meets until the
// call that made the tensor: then the next of that width takes its place. Batches differ in their number of rows; so a
// place that is too small for the next gradient of its width makes room for a larger one. After some steps nothing is
// allocated any more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "tensor/tensor.h"

namespace orrery {

class GradientMemory {
 public:
  // A contiguous tensor shaped like `like`, named "<its name>.grad"; not initialised.
  Tensor take(const Tensor& like);
  void give_back(const Tensor& gradient);

  size_t bytes() const { return bytes_; }  // held now: the most that was needed at a time, about
  size_t used() const;                     // of these, in gradients that were taken and not given back

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  struct Place {
    std::unique_ptr<std::byte, Free> memory;
    size_t size = 0;
    bool is_taken = false;
  };
  std::map<int64_t, std::vector<Place>> places_;  // by the width of the rows
  size_t bytes_ = 0;
};

}  // namespace orrery
