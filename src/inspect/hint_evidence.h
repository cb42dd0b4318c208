// What the diagnoses in hints_*.cpp look at, and what they measure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "inspect/hints.h"
#include "inspect/probe_names.h"

namespace orrery {

class Evidence {
 public:
  Evidence(const Trace& trace_a, const Trace& trace_b, const TraceDiff& all, const Checkpoint* checkpoint)
      : a(trace_a), b(trace_b), diff(all), model(checkpoint), first(*all.first_mismatch()) {}

  const Trace &a, &b;
  const TraceDiff& diff;
  const Checkpoint* model;     // nullptr where it is not given
  const TensorVerdict& first;  // the first mismatch
  int layer() const { return split_probe_name(first.name).layer; }
  std::string_view kind() const { return split_probe_name(first.name).kind; }
  bool is_kind(std::initializer_list<std::string_view> kinds) const;

  // The tensor in both, nullptr where one has it not or they have other shapes.
  const TensorPair* of(const std::string& name) const;
  const TensorPair* mismatch() const { return of(first.name); }
  // Of the mismatch's own layer; of several kinds the first that is there.
  const TensorPair* here(std::initializer_list<std::string_view> kinds) const;
  // What the mismatch was computed from, and both agree about: the first of the list that is there. nullptr otherwise.
  const TensorPair* agreeing_input() const;
  int64_t known(int TraceHeader::*count) const;  // from either header

 private:
  mutable std::map<std::string, std::optional<TensorPair>> cache_;
};

// sqrt(sum (x - y)^2 / sum y^2) over what is finite in both; 0 for two that are zero.
double distance(const std::vector<double>& x, const std::vector<double>& y);
// The f that brings f * y nearest to x.
double best_factor(const std::vector<double>& x, const std::vector<double>& y);
// Whether `candidate` is so much nearer to x than y is that it can be no chance.
bool explains(const std::vector<double>& candidate, const std::vector<double>& x, const std::vector<double>& y);
std::string four_digits(double value);  // "0.125"

// The diagnoses. Each looks at the evidence and says what it has found, if it has.
using Diagnosis = std::optional<std::string>;
Diagnosis find_missing_bos(const Evidence& evidence);
Diagnosis find_cache_not_reset(const Evidence& evidence);
Diagnosis find_rope_layout(const Evidence& evidence);
Diagnosis find_rope_angles(const Evidence& evidence);
Diagnosis find_mask(const Evidence& evidence);
Diagnosis find_head_mapping(const Evidence& evidence);
Diagnosis find_missing_scale(const Evidence& evidence);
Diagnosis find_epsilon(const Evidence& evidence);
Diagnosis find_transposed_matrix(const Evidence& evidence);
Diagnosis find_missing_bias(const Evidence& evidence);
Diagnosis find_precision_only(const Evidence& evidence);

}  // namespace orrery
