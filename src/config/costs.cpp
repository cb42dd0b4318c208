#include "config/costs.h"

#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/format.h"
#include "config/arithmetic.h"

namespace orrery {
namespace {

// Numbers of one feed-forward layer of a width, with its biases.
double feed_forward(const ModelConfig& c, double width) {
  const double matrices = (c.gated_ffn ? 3.0 : 2.0) * c.d_model * width;
  return matrices + (c.ffn_bias ? (c.gated_ffn ? 2 : 1) * width + c.d_model : 0);
}

// What a mixture has beyond the one feed-forward layer that parameter_count() counts in every layer.
double experts_of_layer(const CataloguedModel& model, int count) {
  const ModelConfig& c = model.config;
  const double router = static_cast<double>(model.experts.count) * c.d_model;
  // DeepSeek's and OpenAI's routers have a bias, Qwen's has none.
  const double router_bias = model.latent.kv_rank > 0 || c.ffn_bias ? model.experts.count : 0;
  return router + router_bias + (count + model.experts.shared) * feed_forward(c, model.experts.width);
}

double latent_attention(const CataloguedModel& model) {
  const LatentAttention& l = model.latent;
  const double d = model.config.d_model, heads = model.config.n_heads;
  const double queries = d * l.q_rank + l.q_rank + l.q_rank * heads * (l.nope_dims + l.rope_dims);
  const double keys = d * (l.kv_rank + l.rope_dims) + l.kv_rank + l.kv_rank * heads * (l.nope_dims + l.value_dims);
  return queries + keys + heads * l.value_dims * d;
}

double common_attention(const ModelConfig& c) {
  const double d = c.d_model;
  return 2.0 * d * c.q_dim() + 2.0 * d * c.kv_dim() + (c.attention_bias ? c.q_dim() + 2.0 * c.kv_dim() : 0) +
         (c.output_bias ? d : 0);
}

// What families have outside the blocks, or not inside them.
double peculiarities(const ModelConfig& c) {
  const double d = c.d_model, layers = c.n_layers;
  // A table of two segments, and the pooler behind the first position. Its norm stands before the blocks, not after.
  if (c.family == "bert") return 2 * d + d * d + d;
  if (c.family == "opt") return 2 * d;                   // the first two of its positions are never used
  if (c.family == "palm") return -layers * d;            // one norm for attention and feed-forward
  if (c.family == "gpt-oss") return layers * c.n_heads;  // a logit for looking at nothing, for each head
  return 0;
}

}  // namespace

ModelParameters model_parameters(const CataloguedModel& model) {
  const ModelConfig& c = model.config;
  const ParameterCount count = parameter_count(c);
  ModelParameters result{.total = static_cast<double>(count.total()) + peculiarities(c),
                         .embedding = static_cast<double>(count.embedding)};
  if (model.latent.kv_rank > 0) result.total += c.n_layers * (latent_attention(model) - common_attention(c));
  result.active = result.total;
  if (model.experts.count > 0) {
    const int layers = c.n_layers - model.experts.dense_layers;
    result.total += layers * (experts_of_layer(model, model.experts.count) - feed_forward(c, c.d_ff));
    result.active += layers * (experts_of_layer(model, model.experts.active) - feed_forward(c, c.d_ff));
  }
  return result;
}

double bytes_per_number(const std::string& type) {
  constexpr double kBlock = 32;
  static const std::vector<std::pair<std::string, double>> sizes = {{"f32", 4},
                                                                    {"f16", 2},
                                                                    {"bf16", 2},
                                                                    {"fp8", 1},
                                                                    {"int8", 1},
                                                                    {"fp4", 0.5},
                                                                    {"q8_0", (kBlock + 2) / kBlock},
                                                                    {"q4_0", (kBlock / 2 + 2) / kBlock},
                                                                    {"mxfp4", (kBlock / 2 + 1) / kBlock}};
  std::vector<std::string> names;
  for (const auto& [name, size] : sizes) {
    if (name == type) return size;
    names.push_back(name);
  }
  throw Error({.what = "no such type of numbers", .where = type, .expected = "one of " + join(names, ", ")});
}

double kv_numbers_per_token(const CataloguedModel& model) {
  const ModelConfig& c = model.config;
  if (c.family == "bert") return 0;
  if (model.latent.kv_rank > 0)
    return static_cast<double>(c.n_layers) * (model.latent.kv_rank + model.latent.rope_dims);
  return 2.0 * c.n_layers * c.kv_dim();
}

double attention_flops_per_token(const CataloguedModel& model, double visible) {
  const ModelConfig& c = model.config;
  const int value_dim = model.latent.kv_rank > 0 ? model.latent.value_dims : c.head_dim;
  return 2.0 * c.n_layers * c.n_heads * (c.head_dim + value_dim) * visible;
}

double forward_flops_per_token(const CataloguedModel& model, double visible) {
  return 2 * model_parameters(model).active + attention_flops_per_token(model, visible);
}

double training_flops_per_token(const CataloguedModel& model) { return 6 * model_parameters(model).active; }

double training_flops_per_token_with_attention(const CataloguedModel& model, double length) {
  return training_flops_per_token(model) + 3 * attention_flops_per_token(model, length);
}

double zero_bytes_per_card(double parameters, int stage, double cards) {
  const double weights = stage >= 3 ? kWeightBytes / cards : kWeightBytes;
  const double gradients = stage >= 2 ? kGradientBytes / cards : kGradientBytes;
  const double optimizer = stage >= 1 ? kOptimizerBytes / cards : kOptimizerBytes;
  return parameters * (weights + gradients + optimizer);
}

double activation_bytes(const CataloguedModel& model, double batch, double length, Recompute recompute) {
  const ModelConfig& c = model.config;
  const double sbh = length * batch * c.d_model;
  const double per_element = recompute == Recompute::full        ? 2
                             : recompute == Recompute::selective ? 34
                                                                 : 34 + 5.0 * c.n_heads * length / c.d_model;
  return c.n_layers * sbh * per_element;
}

double training_seconds(double flops, double chips, double peak, double mfu) { return flops / (chips * peak * mfu); }

double weights_read(const CataloguedModel& model, double batch) {
  const ModelParameters parameters = model_parameters(model);
  // Of the embedding table a step reads a row for each sequence; where it is the head too, it reads all of it.
  const double table = model.config.tied_head ? 0 : parameters.embedding;
  const Experts& e = model.experts;
  if (e.count == 0) return parameters.total - table;
  const double idle = std::pow(1 - static_cast<double>(e.active) / e.count, batch);  // share that no token picks
  const double per_expert = (model.config.n_layers - e.dense_layers) * feed_forward(model.config, e.width);
  return parameters.total - table - idle * e.count * per_expert;
}

double decode_tokens_per_second(const CataloguedModel& model, double batch, double length, double weight_bytes,
                                double kv_bytes, double bandwidth) {
  const double bytes =
      weights_read(model, batch) * weight_bytes + batch * length * kv_numbers_per_token(model) * kv_bytes;
  return batch * bandwidth / bytes;
}

double prefill_tokens_per_second(const CataloguedModel& model, double length, double peak) {
  // A token sees half of the prompt on average.
  return peak / forward_flops_per_token(model, length / 2);
}

}  // namespace orrery
