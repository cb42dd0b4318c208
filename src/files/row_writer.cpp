#include "files/row_writer.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/error.h"
#include "tensor/convert.h"

namespace orrery {
namespace {

// The scale of a block is its largest value / 127, and must be an F16.
constexpr float kLargestQ8Value = 127.0f * 65504.0f;

void check_q8_row(const std::string& name, int64_t row, std::span<const float> values) {
  const auto wrong = std::ranges::find_if(values, [](float x) { return !(std::abs(x) < kLargestQ8Value); });
  if (wrong == values.end()) return;
  throw Error({.what = "the weight cannot be written as Q8_0: it has a value that is not finite, or too large",
               .where = "tensor " + name + ", row " + std::to_string(row),
               .found = std::to_string(*wrong)});
}

// In slices, because OutputFile keeps a copy of what it is given for a while.
void write_unchanged(std::span<const std::byte> bytes, OutputFile& file) {
  constexpr size_t kSlice = 1 << 20;
  for (size_t at = 0; at < bytes.size(); at += kSlice)
    file.write(bytes.subspan(at, std::min(kSlice, bytes.size() - at)));
}

}  // namespace

void write_rows(const std::string& name, const Tensor& weight, DType type, OutputFile& file) {
  if (weight.dtype == type) {
    write_unchanged({weight.data, n_bytes(weight)}, file);
    return;
  }
  const int64_t columns = weight.shape[weight.n_dims - 1];
  const int64_t n_rows = n_elements(weight) / columns;
  if (columns % info(type).block_elements != 0) {
    throw Error({.what = std::string("the weight cannot be written as ") + info(type).name,
                 .where = "tensor " + name,
                 .expected = "rows of a multiple of " + std::to_string(info(type).block_elements),
                 .found = std::to_string(columns)});
  }
  std::vector<float> values(static_cast<size_t>(columns));
  std::vector<std::byte> target(bytes_of(type, columns));
  for (int64_t row = 0; row < n_rows; ++row) {
    const std::byte* source = weight.data + bytes_of(weight.dtype, row * columns);
    if (type == DType::Q8_0) {
      convert_row(weight.dtype, source, DType::F32, reinterpret_cast<std::byte*>(values.data()), columns);
      check_q8_row(name, row, values);
    }
    convert_row(weight.dtype, source, type, target.data(), columns);
    file.write(target);
  }
}

}  // namespace orrery
