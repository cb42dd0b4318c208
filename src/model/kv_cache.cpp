#include "model/kv_cache.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/format.h"

namespace orrery {

KvPool::~KvPool() {
  for (std::byte* page : unused_) std::free(page);
}

KvPool::Page KvPool::take() {
  std::byte* memory = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (!unused_.empty()) {
      memory = unused_.back();
      unused_.pop_back();
    }
  }
  constexpr size_t kAlignment = 64;
  const size_t size = (layout_.page_bytes() + kAlignment - 1) / kAlignment * kAlignment;
  if (memory == nullptr) memory = static_cast<std::byte*>(std::aligned_alloc(kAlignment, size));
  if (memory == nullptr) {
    throw Error({.what = "no memory for another page of the KV cache",
                 .where = "KV cache",
                 .found = bytes_text(size) + " wanted",
                 .hint = "use a shorter context or -ctk f16 -ctv f16"});
  }
  return Page(memory, [pool = weak_from_this()](std::byte* page) {
    if (const auto owner = pool.lock()) {
      const std::lock_guard lock(owner->mutex_);
      owner->unused_.push_back(page);
    } else {
      std::free(page);
    }
  });
}

void KvCache::truncate(int length) {
  if (length < 0 || length > length_) {
    throw Error({.what = "a sequence cannot be cut to that length",
                 .where = "KV cache",
                 .expected = "0 to " + std::to_string(length_),
                 .found = std::to_string(length)});
  }
  length_ = length;
  pages_.resize(static_cast<size_t>((length + kAttentionChunk - 1) / kAttentionChunk));
}

std::unique_ptr<SequenceState> KvCache::fork() const { return std::make_unique<KvCache>(*this); }

void KvCache::reserve(int length) {
  const auto n_pages = static_cast<size_t>((length + kAttentionChunk - 1) / kAttentionChunk);
  // The page that the next position falls into may be shared with a fork: it is copied before it is written.
  const auto current = static_cast<size_t>(length_ / kAttentionChunk);
  if (current < pages_.size() && pages_[current].use_count() > 1) {
    KvPool::Page copy = pool_->take();
    std::memcpy(copy.get(), pages_[current].get(), pool_->layout().page_bytes());
    pages_[current] = std::move(copy);
  }
  while (pages_.size() < n_pages) pages_.push_back(pool_->take());
}

void KvCache::write(int layer, int first, const Tensor& keys, const Tensor& values, Kernels& kernels) {
  const int64_t n_rows = keys.shape[0];
  for (int64_t done = 0; done < n_rows;) {
    const int64_t position = first + done;
    const int64_t offset = position % kAttentionChunk;
    const int64_t count = std::min(n_rows - done, kAttentionChunk - offset);  // what fits into this page
    const KeyValueSpan whole = page(layer, static_cast<size_t>(position / kAttentionChunk));
    Tensor key_rows = slice_rows(whole.keys, offset, count);
    Tensor value_rows = slice_rows(whole.values, offset, count);
    kernels.convert(slice_rows(keys, done, count), key_rows);
    kernels.convert(slice_rows(values, done, count), value_rows);
    done += count;
  }
}

std::vector<KeyValueSpan> KvCache::spans(int layer, int length) const {
  std::vector<KeyValueSpan> result;
  for (int first = 0; first < length; first += kAttentionChunk) {
    const int count = std::min(kAttentionChunk, length - first);
    const KeyValueSpan whole = page(layer, result.size());
    result.push_back({slice_rows(whole.keys, 0, count), slice_rows(whole.values, 0, count)});
  }
  return result;
}

KeyValueSpan KvCache::page(int layer, size_t index) const {
  const KvLayout& layout = pool_->layout();
  std::byte* keys = pages_[index].get() + static_cast<size_t>(layer) * (layout.key_bytes() + layout.value_bytes());
  return {make_tensor("kv.keys", layout.key_type, {kAttentionChunk, layout.kv_dim}, keys),
          make_tensor("kv.values", layout.value_type, {kAttentionChunk, layout.kv_dim}, keys + layout.key_bytes())};
}

std::vector<KeyValueSpan> spans_of_rows(const Tensor& keys, const Tensor& values) {
  std::vector<KeyValueSpan> result;
  for (int64_t first = 0; first < keys.shape[0]; first += kAttentionChunk) {
    const int64_t count = std::min<int64_t>(kAttentionChunk, keys.shape[0] - first);
    result.push_back({slice_rows(keys, first, count), slice_rows(values, first, count)});
  }
  return result;
}

}  // namespace orrery
