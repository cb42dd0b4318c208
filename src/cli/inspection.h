// What --stop-at, --stop-on, --patch and --skip-layer ask for, as observers of a forward pass.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cli/session.h"
#include "inspect/patch.h"
#include "inspect/stopper.h"

namespace orrery::cli {

class Inspection {
 public:
  // Checks names, positions and files before anything is computed; throws Error. Costs nothing where nothing is asked.
  // `watchers` see what patches have left, and see it before the pass is stopped.
  Inspection(const InspectionOptions& options, Session& session, const std::vector<Observer*>& watchers = {});

  std::span<Observer* const> observers() const { return observers_; }
  // Notes on standard error about what was asked for and did not come to pass. At the end.
  void print_notes() const;

 private:
  std::vector<std::unique_ptr<Patch>> patches_;
  std::unique_ptr<LayerSkipper> skipper_;
  std::unique_ptr<Stopper> stopper_;
  std::vector<Observer*> observers_;

  void add_stopper(const InspectionOptions& options, std::span<const AnnouncedTensor> tensors, const Session& session);
};

}  // namespace orrery::cli
