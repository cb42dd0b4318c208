// How `bench` prints its results.
#include <algorithm>

#include "base/error.h"
#include "base/format.h"
#include "config/arithmetic.h"
#include "measure/bench.h"

namespace orrery {
namespace {

uint64_t total_bytes(const Checkpoint& checkpoint) {
  uint64_t bytes = 0;
  for (const auto& [name, tensor] : checkpoint.weights) bytes += n_bytes(tensor);
  return bytes;
}

// "F16", or "F16+F32" where matrices differ.
std::string matrix_types(const Checkpoint& checkpoint) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : checkpoint.weights) {
    const std::string type = info(tensor.dtype).name;
    if (tensor.n_dims == 2 && std::find(names.begin(), names.end(), type) == names.end()) names.push_back(type);
  }
  std::sort(names.begin(), names.end());
  return join(names, "+");
}

std::string name_of(const Checkpoint& checkpoint) {
  return printable(checkpoint.config.name.empty() ? checkpoint.path : checkpoint.config.name) + " " +
         matrix_types(checkpoint);
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

// Decoding is bound by bytes, a prefill by operations.
std::string rate_unit(const BenchResult& result) { return result.what.prompt > 0 ? "GFLOP/s" : "GB/s"; }

struct Column {
  std::string name;
  std::string value;
  bool is_text = false;
};

std::vector<Column> columns(const Checkpoint& checkpoint, const BenchResult& r) {
  return {{"model", name_of(checkpoint), true},
          {"size_bytes", std::to_string(total_bytes(checkpoint))},
          {"parameters", std::to_string(parameter_count(checkpoint.config).total())},
          {"threads", std::to_string(r.what.threads)},
          {"test", r.what.name(), true},
          {"tokens_per_second", fixed(r.tokens_per_second, 3)},
          {"standard_deviation", fixed(r.standard_deviation, 3)},
          {"achieved", fixed(r.achieved / 1e9, 3)},
          {"limit", fixed(r.limit / 1e9, 3)},
          {"unit", rate_unit(r), true},
          {"share", fixed(r.share(), 4)},
          {"huge_page_gb_per_second", fixed(r.limits.huge_page_bytes_per_second / 1e9, 3)},
          {"mapped_gb_per_second", fixed(r.limits.mapped_bytes_per_second / 1e9, 3)},
          {"multiply_add_gflops", fixed(r.limits.flops_per_second / 1e9, 3)}};
}

}  // namespace

std::string bench_head(const std::string& format) {
  if (format == "json") return "[";
  if (format == "csv") {
    std::vector<std::string> names;
    for (const Column& column : columns({}, {})) names.push_back(column.name);
    return join(names, ",") + "\n";
  }
  return "| model | size | params | threads | test | t/s | achieved | limit | share |\n"
         "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n";
}

std::string bench_line(const std::string& format, const Checkpoint& checkpoint, const BenchResult& r, bool is_first) {
  std::vector<std::string> cells;
  if (format == "md") {
    const std::string unit = " " + rate_unit(r);
    cells = {name_of(checkpoint),
             bytes_text(total_bytes(checkpoint)),
             scaled(static_cast<double>(parameter_count(checkpoint.config).total())),
             std::to_string(r.what.threads),
             r.what.name(),
             fixed(r.tokens_per_second, 2) + " ± " + fixed(r.standard_deviation, 2),
             fixed(r.achieved / 1e9, 1) + unit,
             fixed(r.limit / 1e9, 1) + unit,
             fixed(100 * r.share(), 0) + "%"};
    return "| " + join(cells, " | ") + " |\n";
  }
  const bool is_json = format == "json";
  for (const Column& column : columns(checkpoint, r)) {
    const std::string value = column.is_text ? quoted(column.value) : column.value;
    cells.push_back(is_json ? quoted(column.name) + ": " + value : value);
  }
  if (!is_json) return join(cells, ",") + "\n";
  return std::string(is_first ? "\n" : ",\n") + "  {" + join(cells, ", ") + "}";
}

std::string bench_tail(const std::string& format) { return format == "json" ? "\n]\n" : ""; }

std::string operations_table(const TotalsByName& operations) {
  const OperationTotals all = sum(operations);
  std::string text = "\n| operation | calls | ms | share | GFLOP/s |\n|---|---:|---:|---:|---:|\n";
  for (const auto& [name, one] : operations) {
    const double rate = one.seconds > 0 ? static_cast<double>(one.flops) / one.seconds / 1e9 : 0;
    text += "| " + name + " | " + std::to_string(one.calls) + " | " + fixed(one.seconds * 1e3, 1) + " | " +
            fixed(100 * one.seconds / all.seconds, 1) + "% | " + fixed(rate, 1) + " |\n";
  }
  return text;
}

}  // namespace orrery
