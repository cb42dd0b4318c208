#include "recurrent/recurrent_model.h"

#include "base/error.h"
#include "files/weight_list.h"
#include "model/pass.h"

namespace orrery {
namespace {

const ModelConfig& checked_config(const Checkpoint& checkpoint) {
  if (checkpoint.config.is_recurrent()) return checkpoint.config;
  throw Error({.what = "this is not a recurrent model",
               .where = checkpoint.path,
               .expected = "rnn, lstm or gru",
               .found = name_of(checkpoint.config.architecture)});
}

int checked_context(const Checkpoint& checkpoint, int wanted) {
  const int known = checkpoint.config.context_length;
  if (wanted >= 0 && wanted <= known) return wanted == 0 ? known : wanted;
  throw Error({.what = "the model does not know a context of that length",
               .where = checkpoint.path,
               .expected = "at most " + std::to_string(known) + " positions",
               .found = std::to_string(wanted)});
}

}  // namespace

struct RecurrentModel::Call {
  RecurrentPass pass;
  std::vector<Sequence> sequences;
  bool has_states = false;      // some sequence has one
  std::vector<TokenId> tokens;  // of the rows
  std::vector<int> logit_rows;  // those that want logits
  std::vector<Row> wanting;     // the same
};

RecurrentModel::RecurrentModel(std::shared_ptr<const Checkpoint> checkpoint, const RecurrentOptions& options)
    : checkpoint_(std::move(checkpoint)),
      context_length_(checked_context(*checkpoint_, options.context_length)),
      state_type_(options.state_type),
      nothing_(checked_config(*checkpoint_), state_type_) {
  const ModelConfig& c = config();
  embedding_ = checkpoint_->weight("token_embd.weight", {c.vocab_size, c.d_model});
  const int64_t n_units = int64_t{gates_of(c.architecture)} * c.d_hidden;
  for (int layer = 0; layer < c.n_layers; ++layer) {
    const std::string prefix = block_prefix(layer);
    layers_.push_back({.input = checkpoint_->weight(prefix + "cell_ih.weight", {n_units, recurrent_input(c, layer)}),
                       .hidden = checkpoint_->weight(prefix + "cell_hh.weight", {n_units, c.d_hidden}),
                       .input_bias = checkpoint_->weight(prefix + "cell_ih.bias", {n_units}),
                       .hidden_bias = checkpoint_->weight(prefix + "cell_hh.bias", {n_units})});
  }
  head_ = c.tied_head ? embedding_ : checkpoint_->weight("output.weight", {c.vocab_size, c.d_hidden});
  if (c.head_bias) head_bias_ = checkpoint_->weight("output.bias", {c.vocab_size});
}

std::unique_ptr<SequenceState> RecurrentModel::new_sequence() {
  return std::make_unique<RecurrentState>(config(), state_type_);
}

// The whole model: embedding, layers, head.
Tensor RecurrentModel::forward(std::span<const Row> rows, Kernels& kernels, Arena& arena,
                               std::span<Observer* const> observers) {
  Call call{.pass = {.rows = rows, .kernels = kernels, .arena = arena, .observers = observers}};
  call.sequences = find_sequences(rows, config().vocab_size, context_length_);
  for (const Sequence& sequence : call.sequences) {
    call.pass.sequences.push_back({sequence.first_row, sequence.n_rows});
    call.has_states = call.has_states || sequence.state != nullptr;
    if (sequence.state != nullptr && dynamic_cast<RecurrentState*>(sequence.state) == nullptr) {
      throw Error({.what = "this state belongs to another kind of model"});
    }
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    call.tokens.push_back(rows[i].token);
    if (!rows[i].wants_logits) continue;
    call.logit_rows.push_back(static_cast<int>(i));
    call.wanting.push_back(rows[i]);
  }
  Tensor x = embed(call);  // [n, d_model]
  std::vector<RecurrentLayerOutput> outputs;
  for (int layer = 0; layer < config().n_layers; ++layer) {
    outputs.push_back(recurrent_layer(call.pass, config().architecture, layer, layers_[static_cast<size_t>(layer)],
                                      start(call, layer), x));
    x = outputs.back().out;  // [n, d_hidden]
  }
  Tensor logits = head(call, x);  // [rows that want logits, vocab]
  for (int layer = 0; layer < config().n_layers; ++layer) keep(call, layer, outputs[static_cast<size_t>(layer)]);
  for (const Sequence& sequence : call.sequences) {
    if (sequence.state != nullptr) static_cast<RecurrentState*>(sequence.state)->advance(sequence.n_keys());
  }
  return logits;
}

Tensor RecurrentModel::embed(const Call& call) const {
  Tensor embedded = call.pass.make("embed", {static_cast<int64_t>(call.tokens.size()), config().d_model});
  call.pass.kernels.embed(embedding_, call.tokens, embedded);  // [n, d_model]
  call.pass.announce(embedded, -1);
  return embedded;
}

// The states of the sequences, one below the other. Nobody has one while training: then there is nothing to begin with.
RecurrentStart RecurrentModel::start(const Call& call, int layer) const {
  if (!call.has_states) return {};
  const bool has_cells = config().architecture == Architecture::lstm;
  const auto n = static_cast<int64_t>(call.sequences.size());
  RecurrentStart start;
  start.hidden = call.pass.make("start.hidden", {n, config().d_hidden});
  if (has_cells) start.cell = call.pass.make("start.cell", {n, config().d_hidden});
  for (int64_t i = 0; i < n; ++i) {
    const SequenceState* given = call.sequences[static_cast<size_t>(i)].state;
    const RecurrentState& state = given == nullptr ? nothing_ : static_cast<const RecurrentState&>(*given);
    Tensor line = slice_rows(start.hidden, i, 1);
    call.pass.kernels.convert(state.hidden(layer), line);  // [1, d_hidden]
    if (!has_cells) continue;
    line = slice_rows(start.cell, i, 1);
    call.pass.kernels.convert(state.cell(layer), line);  // [1, d_hidden]
  }
  return start;
}

// The last row of a sequence is what its state remembers.
void RecurrentModel::keep(const Call& call, int layer, const RecurrentLayerOutput& output) const {
  for (const Sequence& sequence : call.sequences) {
    if (sequence.state == nullptr) continue;
    const auto& state = static_cast<const RecurrentState&>(*sequence.state);
    const int last = sequence.first_row + sequence.n_rows - 1;
    Tensor to = state.hidden(layer);
    call.pass.kernels.convert(slice_rows(output.hidden, last, 1), to);  // [1, d_hidden]
    if (output.cell.data == nullptr) continue;
    to = state.cell(layer);
    call.pass.kernels.convert(slice_rows(output.cell, last, 1), to);  // [1, d_hidden]
  }
}

Tensor RecurrentModel::head(const Call& call, const Tensor& x) const {
  const RecurrentPass& pass = call.pass;
  const auto n_logits = static_cast<int64_t>(call.logit_rows.size());
  Tensor logits = pass.make("logits", {n_logits, config().vocab_size});
  if (n_logits == 0) return logits;
  Tensor wanted = x;
  if (n_logits < static_cast<int64_t>(call.tokens.size())) {
    wanted = pass.make("out", {n_logits, config().d_hidden});
    pass.kernels.embed(x, call.logit_rows, wanted);  // [n_logits, d_hidden]
  }
  Tensor product = config().head_bias ? pass.make("product", {n_logits, config().vocab_size}) : logits;
  pass.kernels.matmul(wanted, head_, product);                            // [n_logits, vocab]
  if (config().head_bias) pass.kernels.add(product, head_bias_, logits);  // [n_logits, vocab]
  pass.announce(logits, -1, call.wanting);
  return logits;
}

}  // namespace orrery
