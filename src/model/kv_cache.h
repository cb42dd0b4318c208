// The keys and values that a transformer remembers. A cache is a list of pages of kAttentionChunk positions, each with
// the keys and values of all layers; the pages come from a pool and are shared between forked sequences until one of
// them writes.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "kernels/kernels.h"
#include "model/language_model.h"

namespace orrery {

struct KvLayout {
  int n_layers = 0;
  int kv_dim = 0;
  DType key_type = DType::F32;
  DType value_type = DType::F32;

  size_t key_bytes() const { return bytes_of(key_type, int64_t{kAttentionChunk} * kv_dim); }      // of a layer's page
  size_t value_bytes() const { return bytes_of(value_type, int64_t{kAttentionChunk} * kv_dim); }  //
  size_t page_bytes() const { return static_cast<size_t>(n_layers) * (key_bytes() + value_bytes()); }
};

// Hands out pages and keeps those that come back for the next sequence. Pages may outlive the pool.
class KvPool : public std::enable_shared_from_this<KvPool> {
 public:
  explicit KvPool(KvLayout layout) : layout_(layout) {}
  ~KvPool();
  KvPool(const KvPool&) = delete;
  KvPool& operator=(const KvPool&) = delete;

  using Page = std::shared_ptr<std::byte>;
  Page take();  // throws Error when there is no memory
  const KvLayout& layout() const { return layout_; }

 private:
  KvLayout layout_;
  std::mutex mutex_;
  std::vector<std::byte*> unused_;
};

class KvCache : public SequenceState {
 public:
  explicit KvCache(std::shared_ptr<KvPool> pool) : pool_(std::move(pool)) {}

  int length() const override { return length_; }
  void truncate(int length) override;
  size_t bytes() const override { return pages_.size() * pool_->layout().page_bytes(); }
  std::unique_ptr<SequenceState> fork() const override;

  // Makes room for positions up to `length`, in pages that no other sequence sees.
  void reserve(int length);
  // Stores keys and values [n, kv_dim] of one layer at positions [first, first + n), which must be reserved.
  void write(int layer, int first, const Tensor& keys, const Tensor& values, Kernels& kernels);
  // What the first `length` positions of a layer hold; written positions may lie past length().
  std::vector<KeyValueSpan> spans(int layer, int length) const;
  // The positions written since are part of the sequence from now on.
  void advance(int length) { length_ = length; }

 private:
  KeyValueSpan page(int layer, size_t index) const;  // whole: kAttentionChunk rows

  std::shared_ptr<KvPool> pool_;
  std::vector<KvPool::Page> pages_;
  int length_ = 0;
};

// Keys and values [n, kv_dim] of rows that need no cache, cut as a cache would cut them.
std::vector<KeyValueSpan> spans_of_rows(const Tensor& keys, const Tensor& values);

}  // namespace orrery
