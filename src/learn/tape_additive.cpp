// Additive attention on the tape: one call with two outputs, of which the weights have no gradient.
#include <memory>
#include <utility>

#include "learn/tape.h"

namespace orrery {

void Tape::attend_additively(const AdditiveInput& in, AdditiveOutput& y) {
  struct Attention {  // with memory of its own for the groups; the caller's are gone after the call
    std::vector<AlignmentGroup> groups;
    AdditiveInput in;
    std::vector<Input> read;
  };
  const auto call = std::make_shared<Attention>();
  call->groups.assign(in.groups.begin(), in.groups.end());
  call->in = in;
  call->in.groups = call->groups;
  for (const Tensor* tensor : {&in.q, &in.keys, &in.score, &in.values}) call->read.push_back(find(*tensor));
  std::vector<Input> needed = call->read;
  needed.push_back({.tensor = y.weights, .call = n_calls()});
  needed.push_back({.tensor = y.mix, .call = n_calls() + 1});
  record({.operation = "attend_additively",
          .y = y.mix,
          .inputs = call->read,
          .needed = needed,
          .make = [=, this]() mutable { forward_.attend_additively(call->in, y); },
          .back =
              [=, this](const Tensor& dmix) {
                AdditiveGradients d{.q = gradient_of(call->read[0]),
                                    .keys = gradient_of(call->read[1]),
                                    .score = gradient_of(call->read[2]),
                                    .values = gradient_of(call->read[3])};
                backward_.attend_additively(call->in, y, dmix,
                                            d);  // [n, d_score], [m, d_score], [d_score], [m, d_value]
              }},
         std::span(&y.weights, 1));
}

}  // namespace orrery
