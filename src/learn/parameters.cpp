#include "learn/parameters.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/error.h"
#include "base/random.h"
#include "learn/recurrent_initialization.h"
#include "tensor/convert.h"

namespace orrery {
namespace {

constexpr size_t kAlignment = 64;  // a cache line

size_t padded(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

std::vector<NamedShape> gradients_of(std::vector<NamedShape> shapes) {
  for (NamedShape& shape : shapes) shape.name += ".grad";
  return shapes;
}

}  // namespace

TensorBlock::TensorBlock(const std::vector<NamedShape>& shapes, DType dtype) {
  std::vector<size_t> offsets;
  for (const NamedShape& shape : shapes) {
    tensors.push_back(make_tensor(shape.name, dtype, shape.shape, nullptr));
    offsets.push_back(bytes);
    bytes += padded(n_bytes(tensors.back()));
  }
  memory = {static_cast<std::byte*>(std::aligned_alloc(kAlignment, std::max(bytes, kAlignment))), std::free};
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory.get(), 0, bytes);
  for (size_t i = 0; i < tensors.size(); ++i) tensors[i].data = memory.get() + offsets[i];
}

Parameters::Parameters(const std::vector<NamedShape>& shapes, DType dtype)
    : weights_(shapes, dtype), gradients_(gradients_of(shapes), dtype) {
  for (size_t i = 0; i < shapes.size(); ++i) {
    const bool is_matrix = shapes[i].shape.size() > 1;
    parameters_.push_back({.weight = weights_.tensors[i], .gradient = gradients_.tensors[i], .decays = is_matrix});
  }
}

int64_t Parameters::count() const {
  int64_t total = 0;
  for (const Parameter& parameter : parameters_) total += n_elements(parameter.weight);
  return total;
}

const Parameter* Parameters::of_address(const std::byte* data) const {
  if (data < weights_.memory.get() || data >= weights_.memory.get() + weights_.bytes) return nullptr;
  const auto next = std::upper_bound(parameters_.begin(), parameters_.end(), data,
                                     [](const std::byte* p, const Parameter& other) { return p < other.weight.data; });
  return &*std::prev(next);
}

const Parameter& Parameters::named(const std::string& name) const {
  for (const Parameter& parameter : parameters_) {
    if (name == parameter.weight.name) return parameter;
  }
  throw Error({.what = "there is no such weight", .where = name});
}

void Parameters::copy_weights(const Checkpoint& checkpoint) {
  for (const Parameter& parameter : parameters_) {
    const Tensor& to = parameter.weight;
    const Tensor* from = checkpoint.find_weight(to.name);
    if (from == nullptr || !same_shape(*from, to)) {
      throw Error({.what = from == nullptr ? "a weight is missing" : "a weight has another shape",
                   .where = checkpoint.path + ": " + to.name,
                   .expected = shape_text(to),
                   .found = from == nullptr ? "" : shape_text(*from)});
    }
    const int64_t width = to.shape[to.n_dims - 1], n_rows = n_elements(to) / width;
    for (int64_t row = 0; row < n_rows; ++row) {
      convert_row(from->dtype, from->data + bytes_of(from->dtype, row * width), to.dtype,
                  to.data + bytes_of(to.dtype, row * width), width);
    }
  }
}

Checkpoint Parameters::checkpoint(const ModelConfig& config) const {
  Checkpoint checkpoint;
  checkpoint.path = "weights in training";
  checkpoint.format = "in memory";
  checkpoint.config = config;
  checkpoint.owners.push_back(weights_.memory);
  for (const Parameter& parameter : parameters_) {
    const Tensor& weight = parameter.weight;
    checkpoint.weights.emplace(weight.name, weight);
    checkpoint.tensors.push_back({.name = weight.name,
                                  .type = info(weight.dtype).name,
                                  .shape = std::vector<int64_t>(weight.shape, weight.shape + weight.n_dims),
                                  .offset = static_cast<uint64_t>(weight.data - weights_.memory.get()),
                                  .bytes = n_bytes(weight)});
    checkpoint.file_bytes += n_bytes(weight);
  }
  return checkpoint;
}

void Parameters::clear_gradients(BackwardKernels& kernels) {
  for (Parameter& parameter : parameters_) kernels.clear(parameter.gradient);
}

double Parameters::gradient_norm(BackwardKernels& kernels) const {
  double sum = 0;
  for (const Parameter& parameter : parameters_) sum += kernels.sum_of_squares(parameter.gradient);
  return std::sqrt(sum);
}

double Parameters::clip_gradients(BackwardKernels& kernels, double longest) {
  const double norm = gradient_norm(kernels);
  // A little less than `longest`, as PyTorch's clip_grad_norm_ has it. NaN is no number to divide by: it stays.
  const double factor = longest / (norm + 1e-6);
  if (longest > 0 && factor < 1) {
    for (Parameter& parameter : parameters_) kernels.scale(factor, parameter.gradient);
  }
  return norm;
}

void initialize(Parameters& parameters, const ModelConfig& config, uint64_t seed) {
  if (config.is_recurrent()) return initialize_recurrent(parameters, config, seed);
  Random random(seed);
  const double small = std::sqrt(2.0 / (5.0 * config.d_model));
  for (const Parameter& parameter : parameters.all()) {
    const std::string name = parameter.weight.name;
    const bool is_matrix = parameter.weight.n_dims > 1;
    const bool adds_to_stream = name.ends_with("attn_output.weight") || name.ends_with("ffn_down.weight");
    const double deviation = adds_to_stream ? small / std::sqrt(2.0 * config.n_layers) : small;
    const double fixed = name.ends_with(".bias") ? 0 : 1;
    const int64_t n = n_elements(parameter.weight);
    for (int64_t i = 0; i < n; ++i) {
      set_element(parameter.weight, i, is_matrix ? deviation * random.normal() : fixed);
    }
  }
}

}  // namespace orrery
