#include "compare/sequence_transformer.h"

#include <cmath>
#include <tuple>

#include "compare/cross_attention.h"
#include "files/weight_list.h"
#include "learn/learner.h"

namespace orrery {
namespace {

constexpr const char* kEmbedding = "token_embd.weight";

std::string cross_name(int layer, const char* part) {
  return "blk." + std::to_string(layer) + ".cross_attn_" + part + ".weight";
}

// One side's weights under the names that a Transformer knows.
std::shared_ptr<const Checkpoint> side(const Parameters& parameters, const ModelConfig& config,
                                       const std::string& prefix) {
  auto checkpoint = std::make_shared<Checkpoint>(parameters.checkpoint(config));
  checkpoint->weights.clear();
  for (const NamedShape& weight : weight_shapes(config)) {
    const std::string name = weight.name == kEmbedding ? weight.name : prefix + weight.name;
    checkpoint->weights.emplace(weight.name, parameters.named(name).weight);
  }
  return checkpoint;
}

// A cache that rounds nothing.
TransformerOptions cache_as(const Parameters& parameters) {
  const DType type = parameters.all().front().weight.dtype;
  return {.context_length = 0, .key_type = type, .value_type = type};
}

}  // namespace

ModelConfig stack_config(const SequenceTransformerShape& shape) {
  ModelConfig config = llama_config({.n_layers = shape.n_layers,
                                     .d_model = shape.d_model,
                                     .n_heads = shape.n_heads,
                                     .vocab_size = shape.vocab_size,
                                     .context_length = shape.context_length,
                                     .n_kv_heads = 0,
                                     .d_ff = shape.d_ff});
  config.positions = Positions::learned;  // what is where in the source is for the decoder to know
  return config;
}

std::vector<NamedShape> sequence_transformer_weights(const SequenceTransformerShape& shape) {
  const ModelConfig config = stack_config(shape);
  std::vector<NamedShape> all = {{kEmbedding, {config.vocab_size, config.d_model}}};
  for (const std::string side : {"encoder.", "decoder."}) {
    for (const NamedShape& weight : weight_shapes(config)) {
      if (weight.name != kEmbedding) all.push_back({side + weight.name, weight.shape});
    }
  }
  for (int layer = 0; layer < config.n_layers; ++layer) {
    all.push_back({"decoder." + cross_name(layer, "norm"), {config.d_model}});
    for (const char* part : {"q", "k", "v", "output"}) {
      all.push_back({"decoder." + cross_name(layer, part), {config.d_model, config.d_model}});
    }
  }
  return all;
}

SourceDecoder::SourceDecoder(std::shared_ptr<const Checkpoint> checkpoint, const Parameters& parameters,
                             const std::string& prefix)
    : Transformer(std::move(checkpoint), cache_as(parameters)) {
  for (int layer = 0; layer < config().n_layers; ++layer) {
    const auto weight = [&](const char* part) { return parameters.named(prefix + cross_name(layer, part)).weight; };
    cross_.push_back({.norm = {.gain = weight("norm"), .bias = {}},
                      .q = {.weight = weight("q"), .bias = {}},
                      .k = {.weight = weight("k"), .bias = {}},
                      .v = {.weight = weight("v"), .bias = {}},
                      .out = {.weight = weight("output"), .bias = {}}});
  }
}

void SourceDecoder::add_layers(Encoded& encoded, const Tensor& x, Kernels& kernels, Arena& arena) const {
  Pass pass{.rows = {}, .kernels = kernels, .arena = arena, .observers = {}};
  for (pass.layer = 0; pass.layer < config().n_layers; ++pass.layer) {
    const CrossWeights& weights = cross_[static_cast<size_t>(pass.layer)];
    for (const auto& [name, weight, to] :
         {std::tuple{"cross.k", &weights.k, &encoded.keys}, std::tuple{"cross.v", &weights.v, &encoded.values}}) {
      Tensor y = pass.make(name, {x.shape[0], config().d_model});
      kernels.matmul(x, weight->weight, y);  // [n, d_model]
      to->push_back(y);
    }
  }
}

Tensor SourceDecoder::decode(const Encoded& encoded, std::span<const Row> rows, std::span<const int> source_of,
                             Kernels& kernels, Arena& arena, std::span<Observer* const> observers) {
  Pass pass = begin(rows, kernels, arena, observers);
  check_sources(encoded.sources.size(), source_of, pass.sequences.size());
  Tensor x = embed(pass);  // [n, d_model]
  for (pass.layer = 0; pass.layer < config().n_layers; ++pass.layer) {
    x = block_with_source(pass, encoded, source_of, x);  // [n, d_model]
  }
  pass.layer = -1;
  const Tensor logits = head(pass, x);  // [rows that want logits, vocab]
  for (const Sequence& sequence : pass.sequences) {
    if (sequence.cache != nullptr) sequence.cache->advance(sequence.n_keys());
  }
  return logits;
}

// Three parts that add to the residual stream: attention to the target so far, attention to the source, feed-forward.
Tensor SourceDecoder::block_with_source(Pass& pass, const Encoded& encoded, std::span<const int> source_of,
                                        const Tensor& x) const {
  const auto layer = static_cast<size_t>(pass.layer);
  const BlockWeights& weights = weights_.blocks[layer];
  const CrossWeights& cross = cross_[layer];
  Tensor resid = pass.make("resid", config().d_model);  // outlives the block: made before the scope
  const Arena::Scope scope(pass.arena);

  const Tensor attn_norm = norm(pass, "attn_norm", weights.attn_norm, x);  // [n, d_model]
  const Tensor attn_out = attention(pass, attn_norm);                      // [n, d_model]
  Tensor resid_self = pass.make("resid_self", config().d_model);
  pass.kernels.add(x, attn_out, resid_self);  // [n, d_model]
  pass.announce(resid_self);

  const AttentionShape shape{config().n_heads, config().n_heads, config().head_dim, 1 / std::sqrt(config().head_dim)};
  const Tensor cross_norm = norm(pass, "cross_norm", cross.norm, resid_self);  // [n, d_model]
  const Tensor q = linear(pass, "cross.q", cross.q, cross_norm);               // [n, n_heads * head_dim]
  const Tensor mix = attend_to_sources(pass, "cross", shape, encoded.sources, source_of, q, encoded.keys[layer],
                                       encoded.values[layer]);         // [n, n_heads * head_dim]
  const Tensor cross_out = linear(pass, "cross.out", cross.out, mix);  // [n, d_model]
  Tensor resid_mid = pass.make("resid_mid", config().d_model);
  pass.kernels.add(resid_self, cross_out, resid_mid);  // [n, d_model]
  pass.announce(resid_mid);

  const Tensor ffn_norm = norm(pass, "ffn_norm", weights.ffn_norm, resid_mid);  // [n, d_model]
  const Tensor ffn_out = feed_forward(pass, ffn_norm);                          // [n, d_model]
  pass.kernels.add(resid_mid, ffn_out, resid);                                  // [n, d_model]
  pass.announce(resid);
  return resid;
}

SequenceTransformer::SequenceTransformer(const SequenceTransformerShape& shape, const Parameters& parameters)
    : encoder_(side(parameters, stack_config(shape), "encoder.")),
      decoder_(side(parameters, stack_config(shape), "decoder."), parameters, "decoder.") {}

Encoded SequenceTransformer::encode(std::span<const std::vector<TokenId>> sources, Kernels& kernels, Arena& arena,
                                    std::span<Observer* const> observers) {
  Encoded encoded;
  std::vector<Row> rows;
  for (const std::vector<TokenId>& source : sources) {
    encoded.sources.push_back({static_cast<int64_t>(rows.size()), static_cast<int64_t>(source.size())});
    for (size_t i = 0; i < source.size(); ++i) rows.push_back({.token = source[i], .position = static_cast<int>(i)});
  }
  check_not_empty(encoded.sources);
  const Tensor x = encoder_.encode(rows, kernels, arena, observers);  // [n, d_model]
  decoder_.add_layers(encoded, x, kernels, arena);
  return encoded;
}

std::string SequenceTransformer::alignment_name() const {
  return "blk." + std::to_string(decoder_.config().n_layers - 1) + ".cross.weights";
}

}  // namespace orrery
