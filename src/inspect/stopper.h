// Stops a forward pass by what it computes, not by a line of code.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inspect/selector.h"
#include "model/observer.h"

namespace orrery {

// Ends the pass where nobody debugs it. Not an Error: it was asked for.
class Stopped : public std::exception {
 public:
  explicit Stopped(std::string report) : report_(std::move(report)) {}
  const char* what() const noexcept override { return report_.c_str(); }  // some lines, each with its '\n'

 private:
  std::string report_;
};

class StopCondition {
 public:
  virtual ~StopCondition() = default;
  virtual bool wants(const Probe& probe) const = 0;
  struct Reason {
    std::string text;           // one line or several, without the last '\n'
    std::vector<int64_t> rows;  // of the tensor, worth showing
  };
  // Only for tensors that it wants.
  virtual std::optional<Reason> reason(const Probe& probe, const Tensor& tensor) = 0;
  // What never came to pass, as a note for the user; "" where it did, or where that is good news.
  virtual std::string unmet() const { return ""; }
};

// At the tensors and positions selected. `text` is what the user wrote.
std::unique_ptr<StopCondition> stop_at(Selector selector, std::string text);
// At the first NaN or infinity; -infinity in attention scores is what a row may not see.
std::unique_ptr<StopCondition> stop_on_non_finite();

class Stopper : public Observer {
 public:
  // Under a debugger `print` gets the report, and the process halts in on_tensor with the tensor at hand; it can go on
  // from there. Without one, Stopped is thrown.
  using Print = std::function<void(const std::string& report)>;
  Stopper(std::vector<std::unique_ptr<StopCondition>> conditions, Print print)
      : conditions_(std::move(conditions)), print_(std::move(print)) {}

  bool wants(const Probe& probe) const override;
  void on_tensor(const Probe& probe, Tensor& tensor) override;
  std::string unmet() const;  // of all conditions, a line each

 private:
  std::vector<std::unique_ptr<StopCondition>> conditions_;
  Print print_;

  bool halts(const Probe& probe, const Tensor& tensor);  // has printed why; or throws Stopped
};

}  // namespace orrery
