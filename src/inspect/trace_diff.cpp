#include "inspect/trace_diff.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "inspect/probe_names.h"

namespace orrery {
namespace {

// Other programs' files may not say how many heads there are; of the same model the other trace does. The layout is
// a fact of the file alone.
TraceHeader with_heads_of(TraceHeader header, const TraceHeader& other) {
  if (header.head_dim > 0) return header;
  header.n_heads = other.n_heads;
  header.n_kv_heads = other.n_kv_heads;
  header.head_dim = other.head_dim;
  return header;
}

std::vector<int64_t> places(std::span<const int> wanted, std::span<const int> there) {
  std::vector<int64_t> rows;
  for (const int position : wanted) rows.push_back(std::ranges::find(there, position) - there.begin());
  return rows;
}

std::optional<Noise> noise_of(const Trace& a, const Trace& b, std::string_view name, const DiffSettings& settings) {
  if (settings.single == nullptr || settings.twofold == nullptr) return std::nullopt;
  const auto distance = [&](const Trace& trace) -> std::optional<double> {
    const auto pair = matched_tensors(trace, *settings.twofold, name);
    if (!pair) return std::nullopt;
    const TensorComparison comparison = compare_tensors(pair->a, pair->b);
    return comparison.same_shape ? comparison.nmse : std::numeric_limits<double>::infinity();
  };
  const auto expected = distance(*settings.single), of_a = distance(a), of_b = distance(b);
  if (!expected || !of_a || !of_b) return std::nullopt;
  return Noise{*expected, *of_a, *of_b};
}

}  // namespace

const TensorVerdict* TraceDiff::first_mismatch() const {
  const auto found = std::ranges::find(tensors, false, &TensorVerdict::agrees);
  return found == tensors.end() ? nullptr : &*found;
}

const TensorVerdict* TraceDiff::find(std::string_view name) const {
  const auto found = std::ranges::find(tensors, name, &TensorVerdict::name);
  return found == tensors.end() ? nullptr : &*found;
}

std::optional<TensorPair> matched_tensors(const Trace& a, const Trace& b, std::string_view name) {
  const TraceTensor *in_a = a.find(name), *in_b = b.find(name);
  if (in_a == nullptr || in_b == nullptr) return std::nullopt;
  TensorPair pair{trace_values(*in_a, with_heads_of(a.header, b.header)),
                  trace_values(*in_b, with_heads_of(b.header, a.header)),
                  {}};
  const std::vector<int> of_a = row_positions(pair.a, a.header), of_b = row_positions(pair.b, b.header);
  pair.positions = of_a;
  if (of_a == of_b) return pair;
  std::vector<int> common;
  std::ranges::set_intersection(of_a, of_b, std::back_inserter(common));
  if (common.empty()) return pair;
  pair.a = select_rows(pair.a, places(common, of_a));
  pair.b = select_rows(pair.b, places(common, of_b));
  pair.positions = common;
  return pair;
}

TraceDiff compare_traces(const Trace& a, const Trace& b, const DiffSettings& settings) {
  TraceDiff diff;
  for (const TraceTensor& tensor : a.tensors) {
    const auto pair = matched_tensors(a, b, tensor.name);
    if (!pair) {
      diff.only_in_a.push_back(tensor.name);
      continue;
    }
    if (diff.find(tensor.name) != nullptr) continue;  // a file may have two names for one tensor
    TensorVerdict verdict{tensor.name, pair->a.shape, pair->b.shape, pair->positions, {}, {}, false};
    verdict.comparison = compare_tensors(pair->a, pair->b);
    verdict.noise = noise_of(a, b, tensor.name, settings);
    if (!verdict.comparison.same_shape) {
      verdict.agrees = false;
    } else if (verdict.noise) {
      verdict.agrees = !verdict.noise->is_bug_in_a() && !verdict.noise->is_bug_in_b();
    } else {
      verdict.agrees = verdict.comparison.relative <= settings.tolerance;
    }
    diff.tensors.push_back(std::move(verdict));
  }
  for (const TraceTensor& tensor : b.tensors) {
    if (a.find(tensor.name) == nullptr) diff.only_in_b.push_back(tensor.name);
  }
  std::ranges::stable_sort(diff.tensors, {}, [](const TensorVerdict& verdict) { return probe_order(verdict.name); });
  return diff;
}

}  // namespace orrery
