#include "inspect/stopper.h"

#include <algorithm>
#include <csignal>

#include "base/debugger.h"
#include "inspect/tensor_report.h"

namespace orrery {
namespace {

class StopAt : public StopCondition {
 public:
  StopAt(Selector selector, std::string text) : selector_(std::move(selector)), text_(std::move(text)) {}

  bool wants(const Probe& probe) const override {
    return selector_.selects(probe.name) &&
           std::ranges::any_of(probe.rows, [&](const Row& row) { return selector_.selects(row); });
  }

  std::optional<Reason> reason(const Probe& probe, const Tensor&) override {
    is_met_ = true;
    return Reason{"stopped at " + text_, selected_rows(selector_, probe.rows)};
  }

  std::string unmet() const override { return is_met_ ? "" : text_ + " was never reached"; }

 private:
  Selector selector_;
  std::string text_;
  bool is_met_ = false;
};

class StopOnNonFinite : public StopCondition {
 public:
  bool wants(const Probe&) const override { return true; }

  std::optional<Reason> reason(const Probe& probe, const Tensor& tensor) override {
    const TensorSummary summary = summarize(tensor);
    const bool has_mask = probe.name.ends_with("attn.scores");
    const int64_t n_infinite = summary.n_infinite + (has_mask ? 0 : summary.n_minus_infinite);
    if (summary.n_nan == 0 && n_infinite == 0) return std::nullopt;
    const int64_t first = summary.n_nan > 0 ? summary.first_nan : first_infinite(tensor, has_mask);
    return Reason{std::string("stopped at the first ") + (summary.n_nan > 0 ? "NaN" : "infinity"),
                  {row_of(tensor, first)}};
  }

 private:
  static int64_t first_infinite(const Tensor& tensor, bool has_mask) {
    const double largest = std::numeric_limits<double>::max();
    int64_t i = 0;
    while (!(element(tensor, i) > largest || (!has_mask && element(tensor, i) < -largest))) ++i;
    return i;
  }
};

}  // namespace

std::unique_ptr<StopCondition> stop_at(Selector selector, std::string text) {
  return std::make_unique<StopAt>(std::move(selector), std::move(text));
}

std::unique_ptr<StopCondition> stop_on_non_finite() { return std::make_unique<StopOnNonFinite>(); }

bool Stopper::wants(const Probe& probe) const {
  return std::ranges::any_of(conditions_, [&](const auto& condition) { return condition->wants(probe); });
}

bool Stopper::halts(const Probe& probe, const Tensor& tensor) {
  std::string report;
  for (const auto& condition : conditions_) {
    if (!report.empty() || !condition->wants(probe)) continue;
    if (const auto reason = condition->reason(probe, tensor)) {
      report = reason->text + "\n" + tensor_report(probe, tensor, reason->rows);
    }
  }
  if (report.empty()) return false;
  if (!is_debugged()) throw Stopped(report);
  print_(report + "in the debugger: 'print tensor', 'print probe'; 'up 2' leads to the function that computed it\n");
  return true;
}

// The trap lies in this function, so that a debugger shows it, not the system's raise(), as the innermost.
void Stopper::on_tensor(const Probe& probe, Tensor& tensor) {
  if (!halts(probe, tensor)) return;
#if defined(__x86_64__) || defined(__i386__)
  __asm__ volatile("int3");
#else
  std::raise(SIGTRAP);
#endif
}

std::string Stopper::unmet() const {
  std::string text;
  for (const auto& condition : conditions_) {
    if (const std::string line = condition->unmet(); !line.empty()) text += line + "\n";
  }
  return text;
}

}  // namespace orrery
