#include "files/families/llama_like.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "config/yarn.h"

namespace orrery {
namespace {

// "llama.block_count" of "block_count".
struct Keys {
  std::string_view family;
  std::string operator()(const char* suffix) const { return std::string(family) + "." + suffix; }
};

// What some files ask for by a value other than 0, and we do not compute.
constexpr struct {
  const char* suffix;
  const char* meaning;
} kUnsupported[] = {
    {"attention.clamp_kqv", "clamped queries, keys and values are"},
    {"attention.max_alibi_bias", "ALiBi positions are"},
    {"attention.scale", "another scale of the attention scores is"},
    {"attn_logit_softcapping", "soft-capped attention scores are"},
    {"embedding_scale", "a scale of the embeddings is"},
    {"final_logit_softcapping", "soft-capped logits are"},
    {"logit_scale", "a scale of the logits is"},
    {"residual_scale", "a scale of the residual branches is"},
};

[[noreturn]] void refuse(const GgufMetadata& metadata, const std::string& name, const std::string& what) {
  metadata.fail(name, {.what = what + " not supported", .found = value_text(*metadata.find(name))});
}

void refuse_what_we_lack(const Keys& key, const GgufMetadata& metadata) {
  if (const std::string name = key("expert_count"); metadata.count_or(name, 0) > 0) {
    refuse(metadata, name, "a mixture of experts (MoE) is");
  }
  for (const auto& [suffix, meaning] : kUnsupported) {
    const std::string name = key(suffix);
    if (metadata.number_or(name, 0) != 0) refuse(metadata, name, meaning);
  }
  if (const std::string name = key("use_parallel_residual"); metadata.flag_or(name, false)) {
    refuse(metadata, name, "attention and feed-forward layer in parallel are");
  }
}

// Newer files may give such a number as an array, one element a layer.
int count_of_all_layers(const Keys& key, const GgufMetadata& metadata, const char* suffix) {
  const std::string name = key(suffix);
  const GgufValue* value = metadata.find(name);
  if (value != nullptr && value->is_array) refuse(metadata, name, "layers that differ from each other are");
  return metadata.count(name);
}

int count_of_all_layers_or(const Keys& key, const GgufMetadata& metadata, const char* suffix, int otherwise) {
  return metadata.find(key(suffix)) == nullptr ? otherwise : count_of_all_layers(key, metadata, suffix);
}

void read_heads(const Keys& key, const GgufMetadata& metadata, ModelConfig& config) {
  config.n_heads = count_of_all_layers(key, metadata, "attention.head_count");
  config.n_kv_heads = count_of_all_layers_or(key, metadata, "attention.head_count_kv", config.n_heads);
  const std::string key_length = key("attention.key_length");
  if (metadata.find(key_length) == nullptr && (config.n_heads == 0 || config.d_model % config.n_heads != 0)) {
    metadata.fail(key("attention.head_count"), {.what = "the width of the model is not a multiple of the heads",
                                                .expected = "a divisor of " + std::to_string(config.d_model),
                                                .found = std::to_string(config.n_heads)});
  }
  config.head_dim = metadata.find(key_length) != nullptr ? metadata.count(key_length) : config.d_model / config.n_heads;
  const std::string value_length = key("attention.value_length");
  if (metadata.count_or(value_length, config.head_dim) != config.head_dim) {
    refuse(metadata, value_length, "values of another size than the keys' " + std::to_string(config.head_dim) + " are");
  }
}

// The factor on queries and keys is what YaRN's authors found best for the factor on positions, times the file's.
void read_yarn(const Keys& key, const GgufMetadata& metadata, ModelConfig& config) {
  for (const auto& [suffix, usual] :
       {std::pair("rope.scaling.yarn_ext_factor", 1.0), std::pair("rope.scaling.yarn_attn_factor", 1.0),
        std::pair("rope.scaling.yarn_log_multiplier", 0.0)}) {
    if (metadata.number_or(key(suffix), usual) != usual) refuse(metadata, key(suffix), "this variant of YaRN is");
  }
  Yarn& yarn = config.yarn;
  yarn.factor = metadata.number_or(key("rope.scaling.factor"), 1);
  yarn.original_context = metadata.count_or(key("rope.scaling.original_context_length"), config.context_length);
  yarn.beta_fast = metadata.number_or(key("rope.scaling.yarn_beta_fast"), yarn.beta_fast);
  yarn.beta_slow = metadata.number_or(key("rope.scaling.yarn_beta_slow"), yarn.beta_slow);
  yarn.magnitude = metadata.number_or(key("rope.scaling.attn_factor"), 1) * usual_yarn_magnitude(yarn.factor);
  stretch_context(config);
}

void read_rope(const Keys& key, const GgufMetadata& metadata, ModelConfig& config) {
  config.rope_dims = metadata.count_or(key("rope.dimension_count"), config.head_dim);
  config.rope_base = metadata.number_or(key("rope.freq_base"), 10000);  // the default of docs/gguf.md

  const std::string type_key = key("rope.scaling.type");
  const auto type = metadata.text(type_key);
  if (type == "yarn") return read_yarn(key, metadata, config);
  if (type && *type != "none" && *type != "linear") refuse(metadata, type_key, "this scaling of rotary positions is");
  if (type == "none") return;
  // Older files have scale_linear alone. 0 stands for no scaling.
  const double factor = metadata.number_or(key("rope.scaling.factor"), metadata.number_or(key("rope.scale_linear"), 1));
  if (factor != 0) config.rope_scale = factor;
}

int read_vocabulary_size(const Keys& key, const GgufFile& file) {
  const std::string name = key("vocab_size");
  if (file.metadata.find(name) != nullptr) return file.metadata.count(name);
  const FileTensor* embedding = file.find_tensor("token_embd.weight");
  return embedding == nullptr ? 0 : static_cast<int>(std::min<int64_t>(embedding->shape.front(), INT32_MAX));
}

}  // namespace

ModelConfig llama_like_from_gguf(const GgufFile& file, std::string_view family, RopeLayout layout) {
  const Keys key{family};
  const GgufMetadata& metadata = file.metadata;
  refuse_what_we_lack(key, metadata);
  ModelConfig config;
  config.family = family;
  config.n_layers = metadata.count(key("block_count"));
  config.d_model = metadata.count(key("embedding_length"));
  config.d_ff = count_of_all_layers(key, metadata, "feed_forward_length");
  config.context_length = metadata.count(key("context_length"));
  config.vocab_size = read_vocabulary_size(key, file);
  read_heads(key, metadata, config);
  config.rope_layout = layout;
  read_rope(key, metadata, config);
  const int window = metadata.count_or(key("attention.sliding_window"), 0);
  if (window < config.context_length) config.window = window;

  const std::string epsilon = key("attention.layer_norm_rms_epsilon");
  const auto norm_epsilon = metadata.number(epsilon);
  if (!norm_epsilon) {
    metadata.fail(epsilon, {.what = "the file does not have this key, and the model cannot be built without it"});
  }
  config.norm_epsilon = *norm_epsilon;

  // These have no keys: the tensors are there or not.
  config.attention_bias = file.has_tensor("blk.0.attn_q.bias");
  config.output_bias = file.has_tensor("blk.0.attn_output.bias");
  config.ffn_bias = file.has_tensor("blk.0.ffn_up.bias");
  config.tied_head = !file.has_tensor("output.weight");
  return config;
}

namespace {

void check_is_like(const ModelConfig& config, const LlamaLike& like) {
  const auto require = [&](bool holds, const char* what) {
    if (!holds)
      throw Error({.what = std::string(what) + " cannot be written as a model of the family " + config.family});
  };
  require(config.norm == Norm::rms, "LayerNorm");
  require(config.positions == Positions::rope, "a model with learned positions");
  require(config.activation == like.activation, "another activation than the family's");
  require(config.post_norms == like.post_norms, "a model with other norms");
  require(like.post_norms || (config.embedding_scale == 1 && config.query_size == 0), "a model with scales of its own");
  require(like.post_norms || (config.global_every == 0 && config.local_rope_base == 0),
          "a model with windowed layers beside others");
  require(config.gated_ffn, "a feed-forward layer without a gate");
  // Halves can be put side by side when the weights are written; the other way round nobody needs.
  require(config.rope_layout == RopeLayout::half_split ||
              find_family(config.family)->gguf_rope_layout == RopeLayout::interleaved,
          "rotary positions that turn neighbours");
}

void add_rope_scaling(const Keys& key, const ModelConfig& config, GgufMetadataWriter& metadata) {
  if (config.rope_scale != 1) {
    metadata.add_text(key("rope.scaling.type"), "linear");
    metadata.add_float32(key("rope.scaling.factor"), config.rope_scale);
  }
  const Yarn& yarn = config.yarn;
  if (yarn.factor == 1) return;
  metadata.add_text(key("rope.scaling.type"), "yarn");
  metadata.add_float32(key("rope.scaling.factor"), yarn.factor);
  metadata.add_uint32(key("rope.scaling.original_context_length"), yarn.original_context);
  metadata.add_float32(key("rope.scaling.yarn_beta_fast"), yarn.beta_fast);
  metadata.add_float32(key("rope.scaling.yarn_beta_slow"), yarn.beta_slow);
  const double usual = usual_yarn_magnitude(yarn.factor);
  if (yarn.magnitude != usual) metadata.add_float32(key("rope.scaling.attn_factor"), yarn.magnitude / usual);
}

}  // namespace

void llama_like_to_gguf(const ModelConfig& config, GgufMetadataWriter& metadata, const LlamaLike& like) {
  check_is_like(config, like);
  const Keys key{config.family};
  metadata.add_uint32(key("context_length"), config.context_length);
  metadata.add_uint32(key("embedding_length"), config.d_model);
  metadata.add_uint32(key("block_count"), config.n_layers);
  metadata.add_uint32(key("feed_forward_length"), config.d_ff);
  metadata.add_uint32(key("attention.head_count"), config.n_heads);
  metadata.add_uint32(key("attention.head_count_kv"), config.n_kv_heads);
  metadata.add_uint32(key("attention.key_length"), config.head_dim);
  metadata.add_uint32(key("attention.value_length"), config.head_dim);
  metadata.add_float32(key("attention.layer_norm_rms_epsilon"), config.norm_epsilon);
  metadata.add_uint32(key("rope.dimension_count"), config.rope_dims);
  metadata.add_float32(key("rope.freq_base"), config.rope_base);
  add_rope_scaling(key, config, metadata);
  if (config.window > 0) metadata.add_uint32(key("attention.sliding_window"), config.window);
  metadata.add_uint32(key("vocab_size"), config.vocab_size);
}

}  // namespace orrery
