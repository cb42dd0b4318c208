#include "recurrent/recurrent_layer.h"

#include "base/error.h"

namespace orrery {

const char* cell_name(Architecture architecture) {
  return architecture == Architecture::gru_reset_before ? "gru" : name_of(architecture);
}

Tensor RecurrentPass::make(std::string_view name, std::initializer_list<int64_t> shape) const {
  return arena.make(prefix + std::string(name), kernels.activation_type(), shape);
}

void RecurrentPass::announce(Tensor& tensor, int layer, std::span<const Row> tensor_rows) const {
  const Probe probe{tensor.name, layer, tensor_rows};
  for (Observer* observer : observers) {
    if (observer->wants(probe)) observer->on_tensor(probe, tensor);
  }
}

bool RecurrentPass::is_wanted(std::string_view name, int layer) const {
  const std::string full_name = prefix + std::string(name);
  for (const Observer* observer : observers) {
    if (observer->wants({full_name, layer, rows})) return true;
  }
  return false;
}

RecurrentLayerOutput recurrent_layer(const RecurrentPass& pass, Architecture architecture, int layer,
                                     const RecurrentWeights& weights, const RecurrentStart& start, const Tensor& x) {
  const std::string begin = std::string(cell_name(architecture)) + "." + std::to_string(layer) + ".";
  const int64_t n = x.shape[0], d_hidden = weights.hidden.shape[1];
  const auto make = [&](const char* name) { return pass.make(begin + name, {n, d_hidden}); };
  const auto announce = [&](std::initializer_list<Tensor*> tensors) {
    for (Tensor* tensor : tensors) pass.announce(*tensor, layer);
  };
  const RecurrentInput in{.sequences = pass.sequences, .x = x, .weights = weights, .start = start};
  RecurrentLayerOutput result;
  switch (architecture) {
    case Architecture::rnn: {
      RnnOutput y{.hidden = make("hidden")};
      pass.kernels.rnn(in, y);  // [n, d_hidden]
      announce({&y.hidden});
      result.hidden = y.hidden;
      break;
    }
    case Architecture::lstm: {
      LstmOutput y{.input = make("input"),
                   .forget = make("forget"),
                   .candidate = make("candidate"),
                   .output = make("output"),
                   .cell = make("cell"),
                   .hidden = make("hidden")};
      pass.kernels.lstm(in, y);  // [n, d_hidden], six times
      announce({&y.input, &y.forget, &y.candidate, &y.output, &y.cell, &y.hidden});
      result.hidden = y.hidden;
      result.cell = y.cell;
      break;
    }
    case Architecture::gru:
    case Architecture::gru_reset_before: {
      GruOutput y{.reset = make("reset"),
                  .update = make("update"),
                  .recurrent = make("recurrent"),
                  .candidate = make("candidate"),
                  .hidden = make("hidden")};
      const bool is_before = architecture == Architecture::gru_reset_before;
      pass.kernels.gru(in, is_before ? GruReset::before_product : GruReset::after_product, y);  // [n, d_hidden], ...
      announce({&y.reset, &y.update, &y.recurrent, &y.candidate, &y.hidden});
      result.hidden = y.hidden;
      break;
    }
    case Architecture::transformer: throw Error({.what = "a transformer has no recurrent layers", .where = begin});
  }
  // The states themselves belong to the recurrence: who changes what goes on changes a copy of them.
  result.out = result.hidden;
  if (pass.is_wanted(begin + "out", layer)) {
    result.out = make("out");
    pass.kernels.scale(result.hidden, 1, result.out);  // [n, d_hidden]
    announce({&result.out});
  }
  return result;
}

}  // namespace orrery
