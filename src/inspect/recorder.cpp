#include "inspect/recorder.h"

#include <algorithm>

#include "base/error.h"

namespace orrery {

Recorder::Recorder(std::vector<std::string> names)
    : choice_([names = std::move(names)](std::string_view name) {
        return std::ranges::find(names, name) != names.end();
      }) {}

void Recorder::on_tensor(const Probe& probe, Tensor& tensor) {
  if (!choice_(probe.name)) return;  // another observer of this call may have wanted it
  const std::string name(probe.name);
  if (!kept_.contains(name)) order_.push_back(name);
  Kept& kept = kept_[name];
  kept.bytes.assign(tensor.data, tensor.data + n_bytes(tensor));
  kept.tensor = tensor;
  kept.tensor.data = kept.bytes.data();
}

const Tensor& Recorder::operator[](const std::string& name) const {
  const auto found = kept_.find(name);
  if (found != kept_.end()) return found->second.tensor;
  throw Error({.what = "no tensor of this name was recorded",
               .where = name,
               .hint = "the names are in src/model/PROBES.md; the recorder keeps those it was asked for"});
}

std::vector<std::string> Recorder::names() const { return order_; }

}  // namespace orrery
