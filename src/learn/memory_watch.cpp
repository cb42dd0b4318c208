#include "learn/memory_watch.h"

namespace orrery {

AreaFigure memory_figure(const MemoryWatch& watch, size_t states) {
  AreaFigure figure{.title = "Bytes held in one training step",
                    .x_axis = {.label = "tensors computed so far: first forward, then backward"},
                    .y_axis = {.label = "MB", .low = 0}};
  figure.areas = {{.name = "parameters, gradients, moments"}, {.name = "activations"}, {.name = "their gradients"}};
  for (size_t i = 0; i < watch.activations().size(); ++i) {
    figure.x.push_back(static_cast<double>(i));
    size_t j = 0;
    for (const size_t bytes : {states, watch.activations()[i], watch.gradients()[i]}) {
      figure.areas[j++].y.push_back(static_cast<double>(bytes) / 1e6);
    }
  }
  return figure;
}

}  // namespace orrery
