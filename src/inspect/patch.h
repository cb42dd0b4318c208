// "What if": changes intermediate tensors while the forward pass computes, which then goes on with them.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "inspect/selector.h"
#include "model/observer.h"

namespace orrery {

class Patch : public Observer {
 public:
  enum class Kind { zero, mean, given };

  // SELECTOR=zero, SELECTOR=mean or SELECTOR=FILE.npy.
  //   zero  the selected rows become 0. Of attention scores, what a row may not see stays -infinity.
  //   mean  each of their elements becomes its mean over the rows of the call (so a row that is alone stays as it is).
  //   FILE  an array [d] takes the place of each selected row; of an array [n, d] row p is for position p, and
  //         positions past its end stay as they are.
  // mean and FILE are for tensors [n, d] only. Throws Error for what is none of these, for a file that is broken or
  // does not fit, and for a name or position that does not exist.
  Patch(const std::string& text, std::span<const AnnouncedTensor> tensors, int context_length);

  bool wants(const Probe& probe) const override { return selector_.selects(probe.name); }
  void on_tensor(const Probe& probe, Tensor& tensor) override;

  const std::string& text() const { return text_; }
  bool was_used() const { return was_used_; }  // some row was selected

 private:
  std::string text_;
  Selector selector_;
  Kind kind_ = Kind::zero;
  std::vector<double> numbers_;  // of the file
  int64_t n_given_ = 0;          // its rows; 0: one that is for all
  bool was_used_ = false;

  void read_file(const std::string& path, std::span<const AnnouncedTensor> tensors);
  std::vector<double> mean_row(const Tensor& tensor) const;
  void set_row(Tensor& tensor, int64_t row, const double* numbers) const;
};

// Leaves blocks out: what block L gives is what it got. Its keys and values are computed and cached all the same.
class LayerSkipper : public Observer {
 public:
  // Throws Error for a layer that the model does not have.
  LayerSkipper(std::vector<int> layers, std::span<const AnnouncedTensor> tensors);

  bool wants(const Probe& probe) const override;
  void on_tensor(const Probe& probe, Tensor& tensor) override;

 private:
  std::set<std::string, std::less<>> outputs_;  // of the blocks that are left out
  std::set<std::string, std::less<>> inputs_;   // and what they get
  std::vector<std::byte> input_;                // of the next of them
};

}  // namespace orrery
