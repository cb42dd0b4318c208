#include "files/random_checkpoint.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include <sys/mman.h>

#include "base/error.h"
#include "base/random.h"
#include "files/ggml_type.h"
#include "files/weight_list.h"
#include "tensor/convert.h"

namespace orrery {
namespace {

constexpr size_t kHugePage = 2 << 20;
constexpr size_t kWeightAlignment = 64;  // a cache line
constexpr float kNormSpread = 0.1f;
constexpr float kBiasSpread = 0.1f;

std::shared_ptr<std::byte> huge_block(size_t bytes) {
  const size_t rounded = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  void* block = std::aligned_alloc(kHugePage, rounded);
  if (block == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  madvise(block, rounded, MADV_HUGEPAGE);  // a wish: without it everything works, only slower
#endif
  return {static_cast<std::byte*>(block), std::free};
}

// Calls put(i, bits) for each i below n, with 64 / kEach fresh random bits at the low end.
template <int kEach, class Put>
void draw(int64_t n, Random& random, const Put& put) {
  int64_t i = 0;
  for (; i + kEach <= n; i += kEach) {
    const uint64_t bits = random.next();
    for (int j = 0; j < kEach; ++j) put(i + j, bits >> (64 / kEach * j));
  }
  if (i == n) return;
  const uint64_t bits = random.next();
  for (int j = 0; i + j < n; ++j) put(i + j, bits >> (64 / kEach * j));
}

// F32: each half of a draw is a number of [-limit, limit).
void fill_f32(float* values, int64_t n, float center, float limit, Random& random) {
  const float step = limit * 0x1p-31f;
  draw<2>(n, random, [&](int64_t i, uint64_t bits) {
    values[i] = center + static_cast<float>(static_cast<int32_t>(static_cast<uint32_t>(bits))) * step;
  });
}

// F16 and BF16: each byte of a draw selects one of 256 values. That is coarse, and a gigabyte takes less than a second.
void fill_half(DType dtype, uint16_t* values, int64_t n, float limit, Random& random) {
  std::array<uint16_t, 256> table;
  for (int i = 0; i < 256; ++i) {
    const float value = limit * (static_cast<float>(i) - 127.5f) / 127.5f;
    table[static_cast<size_t>(i)] = dtype == DType::F16 ? f32_to_f16(value) : f32_to_bf16(value);
  }
  draw<8>(n, random, [&](int64_t i, uint64_t bits) { values[i] = table[bits & 0xFF]; });
}

// Q8_0: scales between a half and all of what `limit` needs, quants from -127 to 127.
void fill_q8(Q8Block* blocks, int64_t n_blocks, float limit, Random& random) {
  std::array<uint16_t, 16> scales;
  for (int i = 0; i < 16; ++i)
    scales[static_cast<size_t>(i)] = f32_to_f16(limit / 127 * (0.5f + static_cast<float>(i) / 30));
  for (int64_t b = 0; b < n_blocks; ++b) {
    Q8Block& block = blocks[b];
    uint64_t last = 0;
    for (int i = 0; i < kQ8BlockElements; i += 8) {
      uint64_t bits = random.next();
      last ^= bits;
      for (int j = i; j < i + 8; ++j, bits >>= 8) {
        block.q[j] = static_cast<int8_t>(std::max<int>(static_cast<int8_t>(bits & 0xFF), -127));
      }
    }
    block.scale = scales[last >> 60];
  }
}

void fill(const std::string& name, const Tensor& weight, Random& random) {
  const int64_t n = n_elements(weight);
  if (weight.n_dims == 1) {
    const bool is_bias = name.ends_with(".bias");
    fill_f32(values<float>(weight), n, is_bias ? 0 : 1, is_bias ? kBiasSpread : kNormSpread, random);
    return;
  }
  // A uniform number of [-limit, limit) has the standard deviation limit / sqrt(3).
  const auto limit = static_cast<float>(std::sqrt(3.0 / static_cast<double>(weight.shape[1])));
  switch (weight.dtype) {
    case DType::F32: fill_f32(values<float>(weight), n, 0, limit, random); break;
    case DType::F16:
    case DType::BF16: fill_half(weight.dtype, values<uint16_t>(weight), n, limit, random); break;
    case DType::Q8_0: fill_q8(values<Q8Block>(weight), n / kQ8BlockElements, limit, random); break;
    case DType::F64: break;  // refused before
  }
}

int64_t elements_of(const NamedShape& weight) {
  int64_t product = 1;
  for (const int64_t dim : weight.shape) product *= dim;
  return product;
}

// Where each weight will stand in the block.
std::vector<FileTensor> place(const ModelConfig& config, DType matrices) {
  std::vector<FileTensor> tensors;
  uint64_t offset = 0;
  for (const NamedShape& weight : weight_shapes(config)) {
    const DType dtype = weight.shape.size() == 1 ? DType::F32 : matrices;
    if (weight.shape.back() % info(dtype).block_elements != 0) {
      throw Error({.what = std::string("rows of this length are not whole blocks of ") + info(dtype).name,
                   .where = "random weight " + weight.name,
                   .expected = "a multiple of " + std::to_string(info(dtype).block_elements),
                   .found = std::to_string(weight.shape.back())});
    }
    const uint64_t bytes = bytes_of(dtype, elements_of(weight));
    tensors.push_back({weight.name, info(dtype).name, weight.shape, offset, bytes});
    offset += (bytes + kWeightAlignment - 1) / kWeightAlignment * kWeightAlignment;
  }
  return tensors;
}

}  // namespace

Checkpoint random_checkpoint(const ModelConfig& config, DType matrices, uint64_t seed) {
  check(config, "random model");
  if (!weight_dtype(info(matrices).name)) {
    throw Error({.what = std::string("random weights are not made as ") + info(matrices).name,
                 .expected = supported_weight_types()});
  }
  Checkpoint checkpoint;
  checkpoint.path = "random model";
  checkpoint.format = "random weights";
  checkpoint.config = config;
  checkpoint.tensors = place(config, matrices);
  const FileTensor& last = checkpoint.tensors.back();
  checkpoint.file_bytes = last.offset + last.bytes;
  const std::shared_ptr<std::byte> block = huge_block(checkpoint.file_bytes);
  checkpoint.owners.push_back(block);
  Random random(seed);
  for (const FileTensor& tensor : checkpoint.tensors) {
    const Tensor weight =
        make_tensor(tensor.name, *weight_dtype(tensor.type), tensor.shape, block.get() + tensor.offset);
    fill(tensor.name, weight, random);
    checkpoint.weights.emplace(tensor.name, weight);
  }
  return checkpoint;
}

}  // namespace orrery
