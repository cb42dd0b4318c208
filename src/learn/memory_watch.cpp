#include "learn/memory_watch.h"

namespace orrery {

// TODO(plot): stacked areas.
LineFigure memory_figure(const MemoryWatch& watch, size_t states) {
  LineFigure figure{.title = "Bytes held in one training step",
                    .x = {.label = "tensors computed so far: first forward, then backward"},
                    .y = {.label = "MB", .low = 0}};
  figure.series = {
      {.name = "parameters, gradients, moments"}, {.name = "+ activations"}, {.name = "+ their gradients"}};
  for (size_t i = 0; i < watch.activations().size(); ++i) {
    double level = 0;
    size_t j = 0;
    for (const size_t bytes : {states, watch.activations()[i], watch.gradients()[i]}) {
      Series& series = figure.series[j++];
      series.x.push_back(static_cast<double>(i));
      series.y.push_back(level += static_cast<double>(bytes) / 1e6);
    }
  }
  return figure;
}

}  // namespace orrery
