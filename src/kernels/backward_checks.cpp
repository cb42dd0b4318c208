#include "kernels/backward_checks.h"

#include <string>

#include "base/error.h"

namespace orrery {
namespace {

std::string description(const Tensor& tensor) {
  return std::string(tensor.name) + " " + shape_text(tensor) + " " + info(tensor.dtype).name;
}

}  // namespace

void check_gradient(const char* operation, DType activations, const Tensor& value, const Tensor& gradient) {
  const bool has_rows = gradient.n_dims == 2 && (gradient.stride[1] == 1 || gradient.shape[1] <= 1) &&
                        gradient.stride[0] >= gradient.shape[1];
  if (same_shape(value, gradient) && value.dtype == activations && gradient.dtype == activations &&
      (has_rows || is_contiguous(gradient)) && (gradient.data != nullptr || n_elements(gradient) == 0)) {
    return;
  }
  throw Error({.what = "a gradient does not fit its tensor",
               .where = std::string(operation) + ", on the way back",
               .expected = shape_text(value) + " " + info(activations).name,
               .found = description(value) + " and " + description(gradient)});
}

void check_group_gradients(DType activations, std::span<const AttentionGroup> groups,
                           std::span<const AttentionGroup> dgroups) {
  bool fits = groups.size() == dgroups.size();
  for (size_t g = 0; fits && g < groups.size(); ++g) fits = groups[g].spans.size() == dgroups[g].spans.size();
  if (!fits) {
    throw Error({.what = "the gradients of keys and values are not as many as these are",
                 .where = "attention, on the way back"});
  }
  for (size_t g = 0; g < groups.size(); ++g) {
    for (size_t s = 0; s < groups[g].spans.size(); ++s) {
      const KeyValueSpan &span = groups[g].spans[s], &dspan = dgroups[g].spans[s];
      check_gradient("attention", activations, span.keys, dspan.keys);
      check_gradient("attention", activations, span.values, dspan.values);
    }
  }
}

void check_update(const char* operation, DType activations, std::initializer_list<const Tensor*> tensors) {
  for (const Tensor* tensor : tensors) {
    if (is_contiguous(*tensor) && tensor->dtype == activations && same_shape(*tensor, **tensors.begin())) continue;
    throw Error({.what = "the tensors of an update do not fit each other",
                 .where = operation,
                 .expected = description(**tensors.begin()) + ", contiguous",
                 .found = description(*tensor)});
  }
}

}  // namespace orrery
