#include "inspect/announced_tensors.h"

#include <algorithm>

#include "base/error.h"
#include "base/format.h"

namespace orrery {
namespace {

struct Listener : Observer {
  std::vector<AnnouncedTensor> heard;
  bool wants(const Probe&) const override { return true; }
  void on_tensor(const Probe& probe, Tensor& tensor) override {
    heard.push_back({std::string(probe.name), tensor.n_dims, tensor.shape[tensor.n_dims - 1]});
  }
};

// Characters to insert, remove or replace to make one word of the other (Levenshtein, 1966).
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<AnnouncedTensor> announced_tensors(LanguageModel& model, Kernels& kernels) {
  Listener listener;
  Observer* const observers[] = {&listener};
  const Row row;
  Arena arena;
  model.forward(std::span(&row, 1), kernels, arena, observers);
  return std::move(listener.heard);
}

void fail_unknown_name(const std::string& name, const std::string& where, std::span<const AnnouncedTensor> tensors) {
  constexpr size_t kLongest = 100;  // what is longer is no typing error, and not worth the time
  std::vector<std::pair<size_t, std::string>> nearest;
  for (const AnnouncedTensor& tensor : tensors) {
    nearest.emplace_back(distance(std::string_view(name).substr(0, kLongest), tensor.name), tensor.name);
  }
  std::ranges::stable_sort(nearest, {}, [](const auto& one) { return one.first; });
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min<size_t>(3, nearest.size()); ++i) names.push_back(nearest[i].second);
  throw Error({.what = "the model announces no tensor of this name",
               .where = where,
               .expected = "a name such as " + join(names, ", "),
               .found = "'" + printable(name.substr(0, kLongest)) + "'",
               .hint = "src/model/PROBES.md lists the names; * stands for any characters"});
}

}  // namespace orrery
