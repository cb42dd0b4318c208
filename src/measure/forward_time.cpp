#include "measure/forward_time.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/clock.h"
#include "tensor/arena.h"

namespace orrery {

double shortest_forward(LanguageModel& model, Kernels& kernels, int texts, int length, int runs) {
  std::vector<Row> rows;
  for (int text = 0; text < texts; ++text) {
    for (int i = 0; i < length; ++i) {
      rows.push_back({.token = i % model.config().vocab_size, .position = i, .wants_logits = false});
    }
  }
  double shortest = INFINITY;
  Arena arena;
  for (int run = 0; run < runs; ++run) {
    arena.reset();
    const double start = seconds_now();
    model.forward(rows, kernels, arena);
    shortest = std::min(shortest, seconds_now() - start);
  }
  return shortest;
}

}  // namespace orrery
