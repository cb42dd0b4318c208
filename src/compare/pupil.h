// One way to train for all that are compared: AdamW, clipped gradients, a rate that rises over the first twentieth of
// the budget and then falls along half a cosine to a tenth. The budget is of seconds or of tokens.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kernels/backward.h"
#include "learn/parameters.h"

namespace orrery {

// Somebody who learns something.
class Pupil {
 public:
  virtual ~Pupil() = default;
  virtual Parameters& parameters() = 0;
  virtual BackwardKernels& backward_kernels() = 0;
  // Adds the gradient of the next batch to the parameters'. Returns its mean loss in nats, and how many tokens it had.
  struct Batch {
    double loss = 0;
    int64_t tokens = 0;
  };
  virtual Batch add_gradients() = 0;
  // On what it has not seen: a loss in nats, or a share of right answers.
  virtual double judge() = 0;
};

struct Budget {
  double seconds = 0;  // of training alone; 0: as long as it takes
  int64_t tokens = 0;  // 0: as many as there is time for
  bool is_spent(double used_seconds, int64_t used_tokens) const;
  double share(double used_seconds, int64_t used_tokens) const;  // that is spent, 0 to 1
};

struct Schooling {
  double rate = 3e-3;
  double clip = 1;
  double weight_decay = 0;
  int points = 12;  // of the curve, spread evenly over the budget
};

struct SchoolCurve {
  std::vector<double> tokens, seconds, training_loss, judged;  // at each point
  int64_t steps = 0, all_tokens = 0;
  double all_seconds = 0;
  bool is_finished = false;  // else somebody asked to stop
};

// Asked after each step with the share of the budget that is spent; false: stop.
using GoesOn = std::function<bool(double share)>;

// Judging costs none of the budget.
SchoolCurve teach(Pupil& pupil, const Schooling& schooling, const Budget& budget, const GoesOn& goes_on);

// Teaches a new pupil with each rate for a while; the rate with the lowest training loss at the end, and how many
// tokens went by in a second. `losses` has one for each rate.
struct RateChoice {
  double rate = 0;
  double tokens_per_second = 0;
  std::vector<double> losses;
  bool is_finished = false;
};
RateChoice choose_rate(const std::function<std::unique_ptr<Pupil>()>& make, std::span<const double> rates,
                       const Schooling& schooling, double seconds, const GoesOn& goes_on);

}  // namespace orrery
