#include "inspect/patch.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "files/npy_reader.h"
#include "tensor/convert.h"

namespace orrery {
namespace {

// In every head, the row of that index.
void set_to_zero(Tensor& tensor, int64_t row) {
  const bool has_mask = std::string_view(tensor.name).ends_with("attn.scores");
  const int64_t width = tensor.shape[tensor.n_dims - 1];
  const int64_t n = tensor.shape[tensor.n_dims - 2];
  const int64_t n_heads = tensor.n_dims == 3 ? tensor.shape[0] : 1;
  for (int64_t head = 0; head < n_heads; ++head) {
    for (int64_t i = (head * n + row) * width; i < (head * n + row + 1) * width; ++i) {
      if (!has_mask || element(tensor, i) != -INFINITY) set_element(tensor, i, 0);
    }
  }
}

}  // namespace

Patch::Patch(const std::string& text, std::span<const AnnouncedTensor> tensors, int context_length) : text_(text) {
  const std::string where = "--patch " + printable(text.substr(0, 100));
  const size_t sign = text.find('=');
  const std::string value = sign == text.npos ? "" : text.substr(sign + 1);
  if (value.empty()) {
    throw Error({.what = "this is no patch",
                 .where = where,
                 .expected = "NAME=zero, NAME=mean or NAME=FILE.npy",
                 .hint = "blk.2.attn.out=zero, blk.*.ffn.out@3-7=mean"});
  }
  selector_ = parse_selector(text.substr(0, sign), where);
  check(selector_, where, tensors, context_length);
  kind_ = value == "zero" ? Kind::zero : value == "mean" ? Kind::mean : Kind::given;
  const auto is_deep = [&](const AnnouncedTensor& tensor) {
    return tensor.n_dims != 2 && selector_.selects(tensor.name);
  };
  const auto deep = std::ranges::find_if(tensors, is_deep);
  if (kind_ != Kind::zero && deep != tensors.end()) {
    throw Error({.what = "this tensor can only be set to zero: what its rows see differs from row to row",
                 .where = where,
                 .expected = "tensors [n, d]",
                 .found = deep->name + " [n_heads, n, keys]"});
  }
  if (kind_ == Kind::given) read_file(value, tensors);
}

void Patch::read_file(const std::string& path, std::span<const AnnouncedTensor> tensors) {
  const NpyArray array = read_npy(path);
  const bool is_row_or_rows = array.shape.size() == 1 || array.shape.size() == 2;
  for (const AnnouncedTensor& tensor : tensors) {
    if (!selector_.selects(tensor.name) || (is_row_or_rows && array.shape.back() == tensor.width)) continue;
    const std::string width = std::to_string(tensor.width);
    throw Error({.what = "the array does not fit the tensor " + tensor.name,
                 .where = path,
                 .expected = "the shape [" + width + "] or [n, " + width + "]",
                 .found = shape_text(array.shape)});
  }
  n_given_ = array.shape.size() == 2 ? array.shape[0] : 0;
  numbers_.resize(array.data.size() / bytes_of(array.dtype, 1));
  convert_row(array.dtype, array.data.data(), DType::F64, reinterpret_cast<std::byte*>(numbers_.data()),
              static_cast<int64_t>(numbers_.size()));
}

void Patch::on_tensor(const Probe& probe, Tensor& tensor) {
  if (!wants(probe)) return;  // another observer may have wanted it
  const std::vector<double> mean = kind_ == Kind::mean ? mean_row(tensor) : std::vector<double>();
  for (const int64_t row : selected_rows(selector_, probe.rows)) {
    const int position = probe.rows[static_cast<size_t>(row)].position;
    if (kind_ == Kind::given && n_given_ > 0 && position >= n_given_) continue;
    was_used_ = true;
    if (kind_ == Kind::zero) set_to_zero(tensor, row);
    if (kind_ == Kind::mean) set_row(tensor, row, mean.data());
    if (kind_ == Kind::given) set_row(tensor, row, numbers_.data() + (n_given_ > 0 ? position * tensor.shape[1] : 0));
  }
}

std::vector<double> Patch::mean_row(const Tensor& tensor) const {
  const int64_t width = tensor.shape[1];
  std::vector<double> mean(static_cast<size_t>(width));
  for (int64_t i = 0; i < n_elements(tensor); ++i) mean[static_cast<size_t>(i % width)] += element(tensor, i);
  for (double& number : mean) number /= static_cast<double>(tensor.shape[0]);
  return mean;
}

void Patch::set_row(Tensor& tensor, int64_t row, const double* numbers) const {
  for (int64_t i = 0; i < tensor.shape[1]; ++i) set_element(tensor, row * tensor.shape[1] + i, numbers[i]);
}

LayerSkipper::LayerSkipper(std::vector<int> layers, std::span<const AnnouncedTensor> tensors) {
  const auto output_of = [](int layer) { return layer < 0 ? "embed" : "blk." + std::to_string(layer) + ".resid"; };
  for (const int layer : layers) {
    for (const std::string& name : {output_of(layer - 1), output_of(layer)}) {
      const bool exists = std::ranges::find(tensors, name, &AnnouncedTensor::name) != tensors.end();
      if (exists && layer >= 0) continue;
      int n_layers = 0;
      while (std::ranges::find(tensors, output_of(n_layers), &AnnouncedTensor::name) != tensors.end()) ++n_layers;
      throw Error({.what = "there is no such layer",
                   .where = "--skip-layer " + std::to_string(layer),
                   .expected = n_layers == 0 ? "a model made of blocks" : "0 to " + std::to_string(n_layers - 1),
                   .found = std::to_string(layer)});
    }
    inputs_.insert(output_of(layer - 1));
    outputs_.insert(output_of(layer));
  }
}

bool LayerSkipper::wants(const Probe& probe) const {
  return inputs_.contains(probe.name) || outputs_.contains(probe.name);
}

// What a block gives may be what the next one, left out as well, gets: first the change, then the copy.
void LayerSkipper::on_tensor(const Probe& probe, Tensor& tensor) {
  if (outputs_.contains(probe.name)) std::ranges::copy(input_, tensor.data);
  if (inputs_.contains(probe.name)) input_.assign(tensor.data, tensor.data + n_bytes(tensor));
}

}  // namespace orrery
