#include "inspect/first_difference.h"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "base/error.h"
#include "inspect/hints.h"
#include "inspect/probe_names.h"

namespace orrery {
namespace {

// Scores and weights of the first keys. A pass over less text has fewer keys: of the others, which its rows cannot see,
// nothing is lost. Where a row did see one, all keys stay, and the shapes differ.
TensorValues first_keys(const TensorValues& values, int64_t n_keys) {
  if (values.width() <= n_keys) return values;
  TensorValues cut{values.shape, {}};
  cut.shape.back() = n_keys;
  for (int64_t row = 0; row < values.n_rows(); ++row) {
    const double* numbers = values.row(row);
    const auto unseen = [](double number) { return number == 0 || number == -std::numeric_limits<double>::infinity(); };
    if (!std::all_of(numbers + n_keys, numbers + values.width(), unseen)) return values;
    cut.numbers.insert(cut.numbers.end(), numbers, numbers + n_keys);
  }
  return cut;
}

class StopOnFirstDifference : public StopCondition {
 public:
  StopOnFirstDifference(const std::string& path, const TraceHeader& header, std::span<const AnnouncedTensor> tensors,
                        std::shared_ptr<const Checkpoint> model)
      : path_(path), reference_(read_trace(path)), header_(header), model_(std::move(model)) {
    const auto is_recorded = [&](const AnnouncedTensor& tensor) { return reference_.find(tensor.name) != nullptr; };
    if (std::ranges::any_of(tensors, is_recorded)) return;
    throw Error({.what = "the model announces none of the tensors in the reference",
                 .where = path,
                 .expected = "names such as " + (tensors.empty() ? "" : tensors.front().name),
                 .found = reference_.tensors.empty() ? "no tensors" : printable(reference_.tensors.front().name)});
  }

  bool wants(const Probe& probe) const override { return reference_.find(probe.name) != nullptr; }

  std::optional<Reason> reason(const Probe& probe, const Tensor& tensor) override {
    if (probe.rows.empty()) return std::nullopt;
    if (first_position_ < 0) first_position_ = probe.rows.front().position;
    keep(probe, tensor);
    const TensorValues recorded = trace_values(*reference_.find(probe.name), reference_.header);
    const std::vector<int> positions = row_positions(recorded, reference_.header);
    std::vector<int64_t> rows, places;  // that belong together, here and there
    for (size_t i = 0; i < probe.rows.size(); ++i) {
      const auto found = std::ranges::find(positions, probe.rows[i].position - first_position_);
      if (found == positions.end()) continue;
      rows.push_back(static_cast<int64_t>(i));
      places.push_back(found - positions.begin());
    }
    if (rows.empty()) return std::nullopt;
    return compared(probe, select_rows(trace_values(tensor, header_), rows), select_rows(recorded, places), rows);
  }

  std::string unmet() const override {
    if (has_stopped_) return "";
    if (n_compared_ == 0) return "nothing was compared with " + path_ + ": it has no row of this text";
    return "no difference from " + path_ + ": " + std::to_string(n_compared_) + " tensors compared";
  }

 private:
  std::string path_;
  Trace reference_;
  TraceHeader header_;
  std::shared_ptr<const Checkpoint> model_;
  int first_position_ = -1;  // of the text
  int n_compared_ = 0;
  bool has_stopped_ = false;
  Trace call_;  // what the call has announced so far, to find hints in

  void keep(const Probe& probe, const Tensor& tensor) {
    if (call_.tensors.empty() || call_.find(probe.name) != nullptr) {  // a new call
      call_ = {.header = header_};
      for (const Row& row : probe.rows) {
        call_.header.positions.push_back(row.position - first_position_);
        call_.header.prompt_ids.push_back(row.token);
      }
    }
    if (probe.rows.size() != call_.header.positions.size()) return;  // logits of some rows: a trace has all alike
    const auto bytes = std::make_shared<std::vector<std::byte>>(tensor.data, tensor.data + n_bytes(tensor));
    const std::string name(probe.name);
    call_.tensors.push_back({name, name, tensor.dtype, {tensor.shape, tensor.shape + tensor.n_dims}, *bytes});
    call_.owners.push_back(bytes);
  }

  // What it looks like, in the words of trace-diff: A is this run, B the reference.
  std::string hints() const {
    if (first_position_ > 0) {
      return std::string("\n  hint: ") + symptom_name(Symptom::cache_not_reset) + ": the text begins at position " +
             std::to_string(first_position_) + ", not at 0: an earlier sequence is still in the cache";
    }
    std::string text;
    for (const Hint& hint : find_hints(call_, reference_, compare_traces(call_, reference_), model_.get())) {
      text += "\n  hint: " + std::string(symptom_name(hint.symptom)) + ": " + hint.text;
    }
    return text;
  }

  std::optional<Reason> compared(const Probe& probe, TensorValues found, TensorValues expected,
                                 const std::vector<int64_t>& rows) {
    if (has_heads_outside(probe.name)) {
      const int64_t n_keys = std::min(found.width(), expected.width());
      found = first_keys(found, n_keys);
      expected = first_keys(expected, n_keys);
    }
    ++n_compared_;
    const TensorComparison comparison = compare_tensors(found, expected);
    if (comparison.same_shape && comparison.n_non_finite == 0 && comparison.relative <= kFirstDifferenceTolerance) {
      return std::nullopt;
    }
    has_stopped_ = true;
    int64_t row = 0;
    if (comparison.worst >= 0) row = comparison.worst / found.width() % static_cast<int64_t>(rows.size());
    return Reason{
        "stopped at the first difference from " + printable(path_) + "\n" + difference(found, expected, comparison),
        {rows[static_cast<size_t>(row)]}};
  }

  std::string difference(const TensorValues& found, const TensorValues& expected,
                         const TensorComparison& comparison) const {
    if (!comparison.same_shape)
      return "  the shape is " + shape_text(found) + " in place of " + shape_text(expected) + hints();
    char text[200];
    const auto worst = static_cast<size_t>(std::max<int64_t>(0, comparison.worst));
    std::snprintf(text, sizeof text, "  largest difference %.3g (%.6g in place of %.6g), NMSE %.3g, cosine %.6f",
                  comparison.max_difference, found.numbers[worst], expected.numbers[worst], comparison.nmse,
                  comparison.cosine);
    return text + hints();
  }
};

}  // namespace

std::unique_ptr<StopCondition> stop_on_first_difference(const std::string& path, const TraceHeader& header,
                                                        std::span<const AnnouncedTensor> tensors,
                                                        std::shared_ptr<const Checkpoint> model) {
  return std::make_unique<StopOnFirstDifference>(path, header, tensors, std::move(model));
}

}  // namespace orrery
