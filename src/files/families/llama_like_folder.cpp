// config.json of Llama and the families after it, and the names of their weights.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "config/yarn.h"
#include "files/families/llama_like.h"

namespace orrery {
namespace {

constexpr FolderName kOuter[] = {
    {"token_embd", "embed_tokens"},
    {"output_norm", "norm"},
};
constexpr FolderName kBlock[] = {
    {"attn_norm", "input_layernorm"},    {"attn_q", "self_attn.q_proj"},
    {"attn_k", "self_attn.k_proj"},      {"attn_v", "self_attn.v_proj"},
    {"attn_q_norm", "self_attn.q_norm"}, {"attn_k_norm", "self_attn.k_norm"},
    {"attn_output", "self_attn.o_proj"}, {"ffn_norm", "post_attention_layernorm"},
    {"ffn_gate", "mlp.gate_proj"},       {"ffn_up", "mlp.up_proj"},
    {"ffn_down", "mlp.down_proj"},
};
constexpr std::string_view kIgnored[] = {".rotary_emb.inv_freq"};  // old files keep the rotary frequencies

void refuse_what_we_lack(const JsonValues& file, const LlamaLike& like) {
  const std::string at(like.activation_key), wanted(like.activation_name), activation = file.text(at, wanted);
  if (activation != wanted) file.fail(at, "this activation is not supported", activation, wanted);
  if (const double part = file.number("partial_rotary_factor", 1); part != 1) {
    file.fail("partial_rotary_factor", "turning only a part of each head is not supported", std::to_string(part), "1");
  }
}

void read_heads(const JsonValues& file, int head_dim, ModelConfig& config) {
  config.n_heads = file.count("num_attention_heads");
  config.n_kv_heads = file.count_or("num_key_value_heads", config.n_heads);
  config.head_dim = file.count_or("head_dim", head_dim);
  if (file.has("head_dim") || head_dim > 0) return;
  if (config.n_heads == 0 || config.d_model % config.n_heads != 0) {
    file.fail("num_attention_heads", "the width of the model is not a multiple of the heads",
              std::to_string(config.n_heads), "a divisor of " + std::to_string(config.d_model));
  }
  config.head_dim = config.d_model / config.n_heads;
}

// Newer files have the base and the scaling of the rotary positions in one place, by the kind of layer where these
// differ.
std::string rope_scaling_at(const JsonValues& file) {
  if (file.is("rope_parameters/full_attention", JsonValue::object)) return "rope_parameters/full_attention";
  return file.is("rope_parameters", JsonValue::object) ? "rope_parameters" : "rope_scaling";
}

std::string rope_type(const JsonValues& file) {
  const std::string at = rope_scaling_at(file);
  return file.text(at + "/rope_type", file.text(at + "/type", "default"));
}

// A number that must be there and be positive.
double positive(const JsonValues& file, const std::string& at) {
  const double value = file.number(at, 0);
  if (!std::isfinite(value) || value <= 0)
    file.fail(at, "the value is missing or makes no sense", "", "a positive number");
  return value;
}

void read_yarn(const JsonValues& file, const std::string& at, ModelConfig& config) {
  for (const char* key : {"/mscale", "/mscale_all_dim"}) {
    if (file.has(at + key)) file.fail(at + key, "this variant of YaRN is not supported");
  }
  if (!file.flag(at + "/truncate", true)) file.fail(at + "/truncate", "this variant of YaRN is not supported");
  Yarn& yarn = config.yarn;
  yarn.factor = positive(file, at + "/factor");
  yarn.original_context = file.count_or(at + "/original_max_position_embeddings", config.context_length);
  yarn.beta_fast = file.number(at + "/beta_fast", yarn.beta_fast);
  yarn.beta_slow = file.number(at + "/beta_slow", yarn.beta_slow);
  yarn.magnitude = file.number(at + "/attention_factor", usual_yarn_magnitude(yarn.factor));
  stretch_context(config);
}

void read_rope(const JsonValues& file, double base, ModelConfig& config) {
  const std::string at = rope_scaling_at(file);
  config.rope_layout = RopeLayout::half_split;
  config.rope_dims = config.head_dim;
  config.rope_base = file.number(at + "/rope_theta", file.number("rope_theta", base));
  const std::string type = rope_type(file);
  if (type == "linear") {
    config.rope_scale = positive(file, at + "/factor");
  } else if (type == "yarn") {
    read_yarn(file, at, config);
  } else if (type != "default" && type != "llama3") {
    file.fail(at, "this scaling of rotary positions is not supported", type, "linear, llama3 or yarn");
  }
}

}  // namespace

ModelConfig llama_like_from_folder(const FolderModel& model, std::string_view family, const LlamaLike& like) {
  const JsonValues& file = model.config;
  refuse_what_we_lack(file, like);
  ModelConfig config;
  config.family = family;
  config.n_layers = file.count("num_hidden_layers");
  config.d_model = file.count("hidden_size");
  config.d_ff = file.count("intermediate_size");
  config.vocab_size = file.count("vocab_size");
  config.context_length = file.count("max_position_embeddings");
  config.norm_epsilon = positive(file, "rms_norm_eps");
  read_heads(file, like.head_dim, config);
  read_rope(file, like.rope_base, config);
  config.tied_head = file.flag("tie_word_embeddings", !model.has_weight("output.weight"));
  return config;
}

void read_folder_window(const JsonValues& file, bool of_all_layers, ModelConfig& config) {
  bool some_are_full = false, some_are_windowed = false;
  file.for_each("layer_types", [&](const std::string& at) {
    const std::string type = file.text(at);
    if (type != "full_attention" && type != "sliding_attention") file.fail(at, "this layer is not supported", type);
    (type == "full_attention" ? some_are_full : some_are_windowed) = true;
  });
  if (!file.flag("use_sliding_window", of_all_layers) || !file.has("sliding_window")) return;
  if (some_are_full && !some_are_windowed) return;
  const int window = file.count("sliding_window");
  if (window < config.context_length) config.window = window;
  if (some_are_full || !(of_all_layers || some_are_windowed)) bound_context_by_window(config);
}

void bound_context_by_window(ModelConfig& config) {
  if (config.window > 0) config.context_length = config.window;
  config.window = 0;
}

std::vector<double> llama_like_rope_factors(const JsonValues& file, const ModelConfig& config) {
  if (rope_type(file) != "llama3") return yarn_factors(config);
  const std::string at = rope_scaling_at(file);
  const double factor = positive(file, at + "/factor");
  const double low = positive(file, at + "/low_freq_factor");
  const double high = positive(file, at + "/high_freq_factor");
  const double context = positive(file, at + "/original_max_position_embeddings");
  if (low >= high) file.fail(at, "the low frequencies must end below the high ones");
  std::vector<double> factors;
  for (int i = 0; i < config.rope_dims / 2; ++i) {
    // How often this pair turns within the context that the model was first trained with: often, and it stays as it
    // is; seldom, and it turns slower by the factor; in between, something between.
    const double frequency = std::pow(config.rope_base, -2.0 * i / config.rope_dims);
    const double turns = context * frequency / (2 * std::numbers::pi);
    const double kept = std::clamp((turns - low) / (high - low), 0.0, 1.0);
    factors.push_back(1 / (kept + (1 - kept) / factor));
  }
  return factors;
}

FolderLayout llama_like_folder(std::string_view model_type, ModelConfig (*config)(const FolderModel& model)) {
  FolderLayout layout;
  layout.model_type = model_type;
  layout.config = config;
  layout.rope_factors = llama_like_rope_factors;
  layout.prefix = "model.";
  layout.layers = "layers.";
  layout.outer = kOuter;
  layout.block = kBlock;
  layout.ignored = kIgnored;
  return layout;
}

}  // namespace orrery
