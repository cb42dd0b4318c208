#include "inspect/hints.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "inspect/hint_evidence.h"

namespace orrery {
namespace {

struct Entry {
  Symptom symptom;
  const char* name;
  Diagnosis (*find)(const Evidence&);
};

// Other inputs come before wrong computations, and what is exact before what is a matter of size.
constexpr Entry kTable[] = {
    {Symptom::missing_bos, "missing BOS", find_missing_bos},
    {Symptom::cache_not_reset, "cache not reset", find_cache_not_reset},
    {Symptom::rope_layout, "RoPE layout", find_rope_layout},
    {Symptom::rope_angles, "RoPE angles", find_rope_angles},
    {Symptom::mask, "mask", find_mask},
    {Symptom::head_mapping, "head mapping", find_head_mapping},
    {Symptom::missing_scale, "missing scale", find_missing_scale},
    {Symptom::epsilon, "epsilon", find_epsilon},
    {Symptom::transposed_matrix, "transposed matrix", find_transposed_matrix},
    {Symptom::missing_bias, "missing bias", find_missing_bias},
    {Symptom::precision_only, "precision only", find_precision_only},
};

}  // namespace

const char* symptom_name(Symptom symptom) { return std::ranges::find(kTable, symptom, &Entry::symptom)->name; }

std::vector<Hint> find_hints(const Trace& a, const Trace& b, const TraceDiff& diff, const Checkpoint* model) {
  std::vector<Hint> hints;
  if (diff.first_mismatch() == nullptr) return hints;
  const Evidence evidence(a, b, diff, model);
  for (const Entry& entry : kTable) {
    // Small differences are nothing but precision only where nothing else fits.
    if (entry.symptom == Symptom::precision_only && !hints.empty()) break;
    if (auto text = entry.find(evidence)) hints.push_back({entry.symptom, std::move(*text)});
    // Of other inputs everything that follows is a consequence.
    if (entry.symptom == Symptom::cache_not_reset && !hints.empty()) break;
  }
  return hints;
}

bool Evidence::is_kind(std::initializer_list<std::string_view> kinds) const {
  return std::ranges::find(kinds, kind()) != kinds.end();
}

const TensorPair* Evidence::of(const std::string& name) const {
  auto [found, is_new] = cache_.try_emplace(name);
  if (is_new) found->second = matched_tensors(a, b, name);
  const std::optional<TensorPair>& pair = found->second;
  return pair && pair->a.shape == pair->b.shape && !pair->a.numbers.empty() ? &*pair : nullptr;
}

const TensorPair* Evidence::here(std::initializer_list<std::string_view> kinds) const {
  for (const std::string_view kind : kinds) {
    if (const TensorPair* pair = of(probe_name(layer(), kind))) return pair;
  }
  return nullptr;
}

const TensorPair* Evidence::agreeing_input() const {
  std::vector<std::string> names = probe_inputs(first.name);
  if (first.name == "final_norm") {  // of the last block, whichever it is
    for (const TensorVerdict& verdict : diff.tensors) {
      if (split_probe_name(verdict.name).kind == "resid") names = {verdict.name};
    }
  }
  for (const std::string& name : names) {
    const TensorVerdict* verdict = diff.find(name);
    if (verdict != nullptr) return verdict->agrees ? of(name) : nullptr;
  }
  return nullptr;
}

int64_t Evidence::known(int TraceHeader::*count) const {
  return a.header.*count > 0 ? a.header.*count : b.header.*count;
}

double distance(const std::vector<double>& x, const std::vector<double>& y) {
  double differences = 0, squares = 0;
  for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
    differences += (x[i] - y[i]) * (x[i] - y[i]);
    squares += y[i] * y[i];
  }
  return differences == 0 ? 0 : std::sqrt(differences / squares);
}

double best_factor(const std::vector<double>& x, const std::vector<double>& y) {
  double products = 0, squares = 0;
  for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
    products += x[i] * y[i];
    squares += y[i] * y[i];
  }
  return squares == 0 ? 0 : products / squares;
}

bool explains(const std::vector<double>& candidate, const std::vector<double>& x, const std::vector<double>& y) {
  constexpr double kMostLeft = 0.03;  // of what there was to explain
  const double before = distance(y, x);
  return before > 0 && distance(candidate, x) < kMostLeft * before;
}

std::string four_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

}  // namespace orrery
