#include "compare/recurrent_sequence.h"

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "compare/cross_attention.h"
#include "model/pass.h"
#include "recurrent/recurrent_layer.h"

namespace orrery {
namespace {

// The hidden state after some tokens of a target; before the first the source's, which the encoder made.
class TargetState : public SequenceState {
 public:
  int length() const override { return length_; }
  void truncate(int length) override {
    if (length == length_) return;
    if (length != 0) {
      throw Error({.what = "a recurrent state cannot go back, only begin anew",
                   .where = "decoder",
                   .expected = "0 or " + std::to_string(length_),
                   .found = std::to_string(length)});
    }
    length_ = 0;
    hidden_.clear();
  }
  size_t bytes() const override { return hidden_.size(); }
  std::unique_ptr<SequenceState> fork() const override { return std::make_unique<TargetState>(*this); }

  void read(Tensor& line) const { std::memcpy(line.data, hidden_.data(), hidden_.size()); }
  void advance(int length, const Tensor& line) {
    length_ = length;
    hidden_.assign(line.data, line.data + n_bytes(line));
  }

 private:
  int length_ = 0;
  std::vector<std::byte> hidden_;
};

void add_layer(const std::string& prefix, int64_t d_in, int64_t d_hidden, std::vector<NamedShape>& weights) {
  weights.push_back({prefix + "weight_ih", {kGruGates * d_hidden, d_in}});
  weights.push_back({prefix + "weight_hh", {kGruGates * d_hidden, d_hidden}});
  weights.push_back({prefix + "bias_ih", {kGruGates * d_hidden}});
  weights.push_back({prefix + "bias_hh", {kGruGates * d_hidden}});
}

void add_pair(const std::string& prefix, int64_t d_out, int64_t d_hidden, std::vector<NamedShape>& weights) {
  weights.push_back({prefix + "forward.weight", {d_out, d_hidden}});
  weights.push_back({prefix + "backward.weight", {d_out, d_hidden}});
}

}  // namespace

const char* name_of(Alignment alignment) {
  if (alignment == Alignment::additive) return "gru + additive attention";
  return alignment == Alignment::dot ? "gru + dot-product attention" : "gru";
}

std::vector<NamedShape> recurrent_sequence_weights(const RecurrentSequenceShape& shape) {
  const int64_t e = shape.d_embedding, h = shape.d_hidden;
  std::vector<NamedShape> weights = {{"token_embd.weight", {shape.vocab_size, e}}};
  add_layer("encoder.forward.", e, h, weights);
  add_layer("encoder.backward.", e, h, weights);
  add_pair("bridge.", h, h, weights);
  weights.push_back({"bridge.bias", {h}});
  add_layer("decoder.", e, h, weights);
  if (shape.alignment != Alignment::none) {
    add_pair("attention.key.", h, h, weights);
    add_pair("attention.value.", h, h, weights);
    weights.push_back({"attention.query.weight", {h, h}});
    if (shape.alignment == Alignment::additive) weights.push_back({"attention.score", {h}});
  }
  weights.push_back({"readout.weight", {h, h}});
  weights.push_back({"readout.bias", {h}});
  weights.push_back({"output.weight", {shape.vocab_size, h}});
  return weights;
}

RecurrentSequenceModel::RecurrentSequenceModel(const RecurrentSequenceShape& shape, const Parameters& parameters)
    : shape_(shape), parameters_(parameters), name_(name_of(shape.alignment)) {
  for (const NamedShape& weight : recurrent_sequence_weights(shape)) parameters.named(weight.name);
}

RecurrentWeights RecurrentSequenceModel::layer(const std::string& prefix) const {
  const auto weight = [&](const char* name) { return parameters_.named(prefix + name).weight; };
  return {.input = weight("weight_ih"),
          .hidden = weight("weight_hh"),
          .input_bias = weight("bias_ih"),
          .hidden_bias = weight("bias_hh")};
}

RecurrentSequenceModel::Pair RecurrentSequenceModel::pair(const std::string& name) const {
  return {parameters_.named(name + "forward.weight").weight, parameters_.named(name + "backward.weight").weight};
}

// A matrix times the states of both directions side by side: [n, out].
Tensor RecurrentSequenceModel::both(Pass& pass, const char* name, const Pair& weights, const Tensor& ahead,
                                    const Tensor& back) const {
  const int64_t n = ahead.shape[0], n_out = weights.forward.shape[0];
  Tensor of_ahead = pass.make("product", {n, n_out}), of_back = pass.make("product", {n, n_out});
  Tensor sum = pass.make(name, {n, n_out});
  pass.kernels.matmul(ahead, weights.forward, of_ahead);  // [n, out]
  pass.kernels.matmul(back, weights.backward, of_back);   // [n, out]
  pass.kernels.add(of_ahead, of_back, sum);               // [n, out]
  pass.announce(sum);
  return sum;
}

// One layer over rows of sequences; its tensors are called "PREFIXgru.0.hidden" and so on.
Tensor RecurrentSequenceModel::run(Pass& pass, const std::string& prefix, const std::vector<RowRange>& sequences,
                                   const RecurrentStart& start, const Tensor& x) const {
  const RecurrentPass layer_pass{.rows = pass.rows,
                                 .kernels = pass.kernels,
                                 .arena = pass.arena,
                                 .observers = pass.observers,
                                 .sequences = sequences,
                                 .prefix = prefix};
  return recurrent_layer(layer_pass, Architecture::gru, 0, layer(prefix), start, x).out;  // [n, d_hidden]
}

Encoded RecurrentSequenceModel::encode(std::span<const std::vector<TokenId>> sources, Kernels& kernels, Arena& arena,
                                       std::span<Observer* const> observers) {
  Encoded encoded;
  std::vector<TokenId> tokens, turned_tokens;
  std::vector<int32_t> turned, last_rows;  // for each row the one that mirrors it in its source
  for (const std::vector<TokenId>& source : sources) {
    const auto first = static_cast<int32_t>(tokens.size()), count = static_cast<int32_t>(source.size());
    encoded.sources.push_back({first, count});
    tokens.insert(tokens.end(), source.begin(), source.end());
    turned_tokens.insert(turned_tokens.end(), source.rbegin(), source.rend());
    for (int32_t i = 0; i < count; ++i) turned.push_back(first + count - 1 - i);
    last_rows.push_back(first + count - 1);
  }
  check_not_empty(encoded.sources);
  const auto n = static_cast<int64_t>(tokens.size()), n_sources = static_cast<int64_t>(sources.size());
  const int64_t d_hidden = shape_.d_hidden;
  Pass pass{.rows = {}, .kernels = kernels, .arena = arena, .observers = observers};
  const Tensor& table = parameters_.named("token_embd.weight").weight;
  Tensor x = pass.make("encoder.embed", {n, shape_.d_embedding});
  Tensor turned_x = pass.make("encoder.embed", {n, shape_.d_embedding});
  kernels.embed(table, tokens, x);                                                           // [n, d_embedding]
  kernels.embed(table, turned_tokens, turned_x);                                             // [n, d_embedding]
  const Tensor ahead = run(pass, "encoder.forward.", encoded.sources, {}, x);                // [n, d_hidden]
  const Tensor turned_back = run(pass, "encoder.backward.", encoded.sources, {}, turned_x);  // [n, d_hidden]

  Tensor last_ahead = pass.make("encoder.forward.last", {n_sources, d_hidden});
  Tensor last_back = pass.make("encoder.backward.last", {n_sources, d_hidden});
  kernels.embed(ahead, last_rows, last_ahead);                                                 // [sources, d_hidden]
  kernels.embed(turned_back, last_rows, last_back);                                            // [sources, d_hidden]
  const Tensor bridge = both(pass, "bridge.product", pair("bridge."), last_ahead, last_back);  // [sources, d_hidden]
  encoded.start = pass.make("bridge", {n_sources, d_hidden});
  kernels.add(bridge, parameters_.named("bridge.bias").weight, encoded.start);  // [sources, d_hidden]
  pass.announce(encoded.start);
  if (shape_.alignment == Alignment::none) return encoded;

  Tensor back = pass.make("encoder.backward.states", {n, d_hidden});
  kernels.embed(turned_back, turned, back);                                                         // [n, d_hidden]
  encoded.keys.push_back(both(pass, "attention.keys", pair("attention.key."), ahead, back));        // [n, d_hidden]
  encoded.values.push_back(both(pass, "attention.values", pair("attention.value."), ahead, back));  // [n, d_hidden]
  return encoded;
}

// What each target begins with: what its state holds, or else the encoder's last words.
Tensor RecurrentSequenceModel::starts(Pass& pass, const Encoded& encoded, std::span<const int> source_of) const {
  Tensor start = pass.make("start", {static_cast<int64_t>(source_of.size()), shape_.d_hidden});
  pass.kernels.embed(encoded.start, source_of, start);  // [targets, d_hidden]
  for (size_t i = 0; i < pass.sequences.size(); ++i) {
    const SequenceState* state = pass.sequences[i].state;
    if (state == nullptr || state->length() == 0) continue;
    Tensor line = slice_rows(start, static_cast<int64_t>(i), 1);
    dynamic_cast<const TargetState&>(*state).read(line);
  }
  return start;
}

Tensor RecurrentSequenceModel::look_additively(Pass& pass, const Encoded& encoded, std::span<const int> source_of,
                                               const Tensor& q) const {
  std::vector<AlignmentGroup> groups;
  int64_t most = 0;
  for (size_t i = 0; i < pass.sequences.size(); ++i) {
    const RowRange& keys = encoded.sources[static_cast<size_t>(source_of[i])];
    groups.push_back({{pass.sequences[i].first_row, pass.sequences[i].n_rows}, keys});
    most = std::max(most, keys.count);
  }
  AdditiveOutput y{.weights = pass.make("attention.weights", {q.shape[0], most}),
                   .mix = pass.make("attention.mix", {q.shape[0], shape_.d_hidden})};
  pass.kernels.attend_additively({.groups = groups,
                                  .q = q,
                                  .keys = encoded.keys[0],
                                  .score = parameters_.named("attention.score").weight,
                                  .values = encoded.values[0]},
                                 y);  // [n, most source rows], [n, d_hidden]
  pass.announce(y.weights);
  pass.announce(y.mix);
  return y.mix;
}

Tensor RecurrentSequenceModel::look(Pass& pass, const Encoded& encoded, std::span<const int> source_of,
                                    const Tensor& hidden) const {
  Tensor q = pass.make("attention.query", {hidden.shape[0], shape_.d_hidden});
  pass.kernels.matmul(hidden, parameters_.named("attention.query.weight").weight, q);  // [n, d_hidden]
  if (shape_.alignment == Alignment::additive) return look_additively(pass, encoded, source_of, q);
  const AttentionShape one_head{1, 1, shape_.d_hidden, 1 / std::sqrt(shape_.d_hidden)};
  return attend_to_sources(pass, "attention", one_head, encoded.sources, source_of, q, encoded.keys[0],
                           encoded.values[0]);  // [n, d_hidden]
}

Tensor RecurrentSequenceModel::decode(const Encoded& encoded, std::span<const Row> rows, std::span<const int> source_of,
                                      Kernels& kernels, Arena& arena, std::span<Observer* const> observers) {
  Pass pass{.rows = rows, .kernels = kernels, .arena = arena, .observers = observers};
  pass.sequences = find_sequences(rows, shape_.vocab_size, kUnboundedContext);
  check_sources(encoded.sources.size(), source_of, pass.sequences.size());
  std::vector<RowRange> targets;
  for (const Sequence& sequence : pass.sequences) {
    targets.push_back({sequence.first_row, sequence.n_rows});
    if (sequence.state == nullptr || dynamic_cast<TargetState*>(sequence.state) != nullptr) continue;
    throw Error({.what = "this state belongs to another kind of model", .where = "decoder"});
  }
  std::vector<int32_t> wanted;
  for (size_t i = 0; i < rows.size(); ++i) {
    pass.tokens.push_back(rows[i].token);
    if (rows[i].wants_logits) wanted.push_back(static_cast<int32_t>(i));
  }
  const auto weight = [&](const char* name) { return parameters_.named(name).weight; };
  Tensor x = pass.make("decoder.embed", shape_.d_embedding);
  kernels.embed(weight("token_embd.weight"), pass.tokens, x);  // [n, d_embedding]
  const RecurrentStart start{.hidden = starts(pass, encoded, source_of), .cell = {}};
  const Tensor hidden = run(pass, "decoder.", targets, start, x);  // [n, d_hidden]

  Tensor product = pass.make("product", shape_.d_hidden), readout = pass.make("readout", shape_.d_hidden);
  kernels.matmul(hidden, weight("readout.weight"), product);  // [n, d_hidden]
  kernels.add(product, weight("readout.bias"), readout);      // [n, d_hidden]
  if (shape_.alignment != Alignment::none) {
    const Tensor own = readout, seen = look(pass, encoded, source_of, hidden);  // [n, d_hidden]
    readout = pass.make("readout.aligned", shape_.d_hidden);
    kernels.add(own, seen, readout);  // [n, d_hidden]
  }
  pass.announce(readout);
  for (const Sequence& sequence : pass.sequences) {
    if (sequence.state == nullptr) continue;
    const Tensor last = slice_rows(hidden, sequence.first_row + sequence.n_rows - 1, 1);
    dynamic_cast<TargetState&>(*sequence.state).advance(sequence.n_keys(), last);
  }
  Tensor chosen = readout;
  if (wanted.size() < rows.size()) {
    chosen = pass.make("readout.wanted", {static_cast<int64_t>(wanted.size()), shape_.d_hidden});
    kernels.embed(readout, wanted, chosen);  // [rows that want logits, d_hidden]
  }
  Tensor logits = pass.make("logits", {static_cast<int64_t>(wanted.size()), shape_.vocab_size});
  kernels.matmul(chosen, weight("output.weight"), logits);  // [rows that want logits, vocab]
  pass.announce(logits);
  return logits;
}

std::unique_ptr<SequenceState> RecurrentSequenceModel::new_target() { return std::make_unique<TargetState>(); }

std::string RecurrentSequenceModel::alignment_name() const {
  return shape_.alignment == Alignment::none ? "" : "attention.weights";
}

}  // namespace orrery
