#include "cli/inspection.h"

#include <cstdio>

#include "base/error.h"
#include "inspect/first_difference.h"

namespace orrery::cli {

Inspection::Inspection(const InspectionOptions& options, Session& session, const std::vector<Observer*>& watchers) {
  const bool changes = !options.patches.empty() || !options.skipped_layers.empty();
  const bool stops = !options.stop_at.empty() || !options.stop_on.empty();
  if (changes || stops) {
    const std::vector<AnnouncedTensor> tensors = announced_tensors(*session.model, *session.kernels);
    for (const std::string& text : options.patches) {
      patches_.push_back(std::make_unique<Patch>(text, tensors, session.model->context_length()));
      observers_.push_back(patches_.back().get());
    }
    if (!options.skipped_layers.empty()) {
      skipper_ = std::make_unique<LayerSkipper>(options.skipped_layers, tensors);
      observers_.push_back(skipper_.get());
    }
    if (stops) add_stopper(options, tensors, session);
  }
  observers_.insert(observers_.end(), watchers.begin(), watchers.end());
  if (stopper_) observers_.push_back(stopper_.get());
}

void Inspection::add_stopper(const InspectionOptions& options, std::span<const AnnouncedTensor> tensors,
                             const Session& session) {
  std::vector<std::unique_ptr<StopCondition>> conditions;
  for (const std::string& text : options.stop_at) {
    const std::string where = "--stop-at " + printable(text.substr(0, 100));
    Selector selector = parse_selector(text, where);
    check(selector, where, tensors, session.model->context_length());
    conditions.push_back(stop_at(std::move(selector), text));
  }
  const std::string first_difference = "first-diff=";
  for (const std::string& text : options.stop_on) {
    if (text == "nan") {
      conditions.push_back(stop_on_non_finite());
    } else if (text.starts_with(first_difference)) {
      conditions.push_back(stop_on_first_difference(text.substr(first_difference.size()),
                                                    trace_header(session.model->config(), *session.kernels), tensors,
                                                    session.checkpoint));
    } else {
      throw Error({.what = "there is no such thing to stop on",
                   .where = "--stop-on",
                   .expected = "nan, or first-diff=FILE with a trace",
                   .found = "'" + printable(text.substr(0, 100)) + "'"});
    }
  }
  stopper_ = std::make_unique<Stopper>(std::move(conditions),
                                       [](const std::string& report) { std::fputs(report.c_str(), stderr); });
}

void Inspection::print_notes() const {
  for (const auto& patch : patches_) {
    if (patch->was_used()) continue;
    std::fprintf(stderr, "note: --patch %s changed nothing: its positions never came\n",
                 printable(patch->text()).c_str());
  }
  if (!stopper_) return;
  std::string notes = stopper_->unmet();
  for (size_t end; (end = notes.find('\n')) != notes.npos; notes.erase(0, end + 1)) {
    std::fprintf(stderr, "note: %s\n", printable(notes.substr(0, end)).c_str());
  }
}

}  // namespace orrery::cli
