// Language models of stacked recurrent layers: embedding, layers of one kind (RNN, LSTM or GRU), and a projection to
// the vocabulary, as PyTorch's word_language_model example has them. The layers' arithmetic is in kernels/recurrent.h.
#pragma once

#include <memory>
#include <vector>

#include "files/checkpoint.h"
#include "model/language_model.h"
#include "recurrent/recurrent_layer.h"
#include "recurrent/recurrent_state.h"

namespace orrery {

struct RecurrentOptions {
  int context_length = 0;         // most positions of a sequence; 0: what the model says, which mostly is no bound
  DType state_type = DType::F32;  // F32 or F64
};

class RecurrentModel : public LanguageModel {
 public:
  // Throws Error for a model of another kind, and for missing or misshapen weights.
  explicit RecurrentModel(std::shared_ptr<const Checkpoint> checkpoint, const RecurrentOptions& options = {});

  const ModelConfig& config() const override { return checkpoint_->config; }
  int context_length() const override { return context_length_; }
  std::unique_ptr<SequenceState> new_sequence() override;

  // Rows without a state begin with zeros.
  Tensor forward(std::span<const Row> rows, Kernels& kernels, Arena& arena,
                 std::span<Observer* const> observers = {}) override;

 private:
  struct Call;  // one forward()
  RecurrentStart start(const Call& call, int layer) const;
  void keep(const Call& call, int layer, const RecurrentLayerOutput& output) const;
  Tensor embed(const Call& call) const;
  Tensor head(const Call& call, const Tensor& x) const;

  std::shared_ptr<const Checkpoint> checkpoint_;
  Tensor embedding_;                      // [vocab, d_model]
  std::vector<RecurrentWeights> layers_;  //
  Tensor head_, head_bias_;               // [vocab, d_hidden], [vocab]
  int context_length_;
  DType state_type_;
  RecurrentState nothing_;  // what a sequence without a state begins with
};

}  // namespace orrery
