// Keeps what a forward pass announces, for whoever wants to look at it afterwards.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/observer.h"
#include "tensor/tensor.h"

namespace orrery {

class Recorder : public Observer {
 public:
  // Which tensors to keep, by name (src/model/PROBES.md).
  using Choice = std::function<bool(std::string_view name)>;
  explicit Recorder(Choice choice) : choice_(std::move(choice)) {}
  explicit Recorder(std::vector<std::string> names);

  bool wants(const Probe& probe) const override { return choice_(probe.name); }
  // A name that comes again replaces what was there.
  void on_tensor(const Probe& probe, Tensor& tensor) override;

  // A copy, contiguous, of the tensor's own type; it lives as long as the recorder, and until the name comes again.
  // Throws Error for a name that was not announced.
  const Tensor& operator[](const std::string& name) const;
  std::vector<std::string> names() const;  // of all that was kept, in the order of their announcement

 private:
  struct Kept {
    Tensor tensor;
    std::vector<std::byte> bytes;
  };
  Choice choice_;
  std::map<std::string, Kept, std::less<>> kept_;
  std::vector<std::string> order_;
};

}  // namespace orrery
