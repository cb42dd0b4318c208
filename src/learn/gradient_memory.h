// Memory for the gradients of activations. One is needed from the first use of its tensor that the walk meets until the
// call that made the tensor: then the next of that size takes its place. After the first step nothing is allocated.
#pragma once

#include <cstddef>
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

  size_t bytes() const { return bytes_; }  // taken from the system so far: the most that was needed at a time

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  std::vector<std::unique_ptr<std::byte, Free>> blocks_;
  std::map<size_t, std::vector<std::byte*>> idle_;  // by size
  size_t bytes_ = 0;
};

}  // namespace orrery
