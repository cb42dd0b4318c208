// Gemma 3 (Gemma Team, 2025, arXiv:2503.19786), text models: norms before and after each half of a block, normed
// queries and keys, GELU with a gate, an embedding that is scaled and tied. Of six layers five look back no further
// than a window, and turn by another base.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "files/families/llama_like.h"

namespace orrery {
namespace {

constexpr std::string_view kName = "gemma3";
constexpr int kGlobalEvery = 6;           // where the file does not say
constexpr double kLocalRopeBase = 10000;  //
// The largest model divides scores by another root than the others. GGUF has no key for it: it is known by its layers.
constexpr int kLayersOfLargest = 62;

constexpr LlamaLike kLike = {.activation = Activation::gelu_tanh,
                             .activation_key = "hidden_activation",
                             .activation_name = "gelu_pytorch_tanh",
                             .post_norms = true,
                             .rope_base = 1e6,
                             .head_dim = 256};

std::string key(const char* suffix) { return std::string(kName) + "." + suffix; }

// What no file says, because it is the same in all. The root is not rounded (transformers rounds it to the type that
// it computes in, llama.cpp to F32; kernels round it to theirs).
void set_shape(ModelConfig& config) {
  config.activation = Activation::gelu_tanh;
  config.qk_norm = config.post_norms = true;
  config.embedding_scale = std::sqrt(config.d_model);
}

double query_size_in_gguf(const ModelConfig& config) {
  return config.n_layers == kLayersOfLargest && config.n_heads > 0 ? config.d_model / config.n_heads : config.head_dim;
}

ModelConfig from_gguf(const GgufFile& file) {
  ModelConfig config = llama_like_from_gguf(file, kName, RopeLayout::half_split);
  set_shape(config);
  config.query_size = query_size_in_gguf(config);
  const GgufMetadata& metadata = file.metadata;
  const std::string pattern = key("attention.sliding_window_pattern");
  if (const GgufValue* value = metadata.find(pattern); value != nullptr && value->is_array) {
    metadata.fail(pattern, {.what = "windowed layers in a list are not supported", .expected = "a number"});
  }
  config.window = metadata.count(key("attention.sliding_window"));
  config.global_every = metadata.count_or(pattern, kGlobalEvery);
  config.local_rope_base = metadata.number_or(key("rope.freq_base_swa"), kLocalRopeBase);
  return config;
}

void to_gguf(const ModelConfig& config, GgufMetadataWriter& metadata) {
  const auto require = [](bool holds, const std::string& what) {
    if (!holds) throw Error({.what = what + " cannot be written as a model of the family gemma3"});
  };
  require(config.qk_norm, "a model that does not norm queries and keys");
  require(config.embedding_scale == std::sqrt(config.d_model), "another scale of the embedding than its root");
  require(config.query_size == query_size_in_gguf(config), "another scale of the attention scores than GGUF knows");
  require(config.window > 0 && config.global_every > 0, "a model without windowed and other layers");
  require(config.tied_head, "an output of its own");
  llama_like_to_gguf(config, metadata, kLike);
  if (config.global_every != kGlobalEvery)
    metadata.add_uint32(key("attention.sliding_window_pattern"), config.global_every);
  if (config.local_rope_base != kLocalRopeBase) metadata.add_float32(key("rope.freq_base_swa"), config.local_rope_base);
}

constexpr FolderName kOuter[] = {{"token_embd", "embed_tokens"}, {"output_norm", "norm"}};
constexpr FolderName kBlock[] = {
    {"attn_norm", "input_layernorm"},
    {"attn_q", "self_attn.q_proj"},
    {"attn_k", "self_attn.k_proj"},
    {"attn_v", "self_attn.v_proj"},
    {"attn_q_norm", "self_attn.q_norm"},
    {"attn_k_norm", "self_attn.k_norm"},
    {"attn_output", "self_attn.o_proj"},
    {"post_attention_norm", "post_attention_layernorm"},
    {"ffn_norm", "pre_feedforward_layernorm"},
    {"ffn_gate", "mlp.gate_proj"},
    {"ffn_up", "mlp.up_proj"},
    {"ffn_down", "mlp.down_proj"},
    {"post_ffw_norm", "post_feedforward_layernorm"},
};

void refuse_what_we_lack(const JsonValues& file) {
  for (const char* cap : {"attn_logit_softcapping", "final_logit_softcapping"}) {
    if (file.has(cap)) file.fail(cap, "soft-capped scores and logits are not supported");
  }
  for (const char* flag : {"use_bidirectional_attention", "attention_bias"}) {
    if (file.flag(flag, false)) file.fail(flag, "this is not supported in a model of the family gemma3");
  }
}

// A period, in newer files a list of all layers, which must be periodic.
int read_global_every(const JsonValues& file, const ModelConfig& config) {
  const int every = file.count_or("sliding_window_pattern", file.count_or("_sliding_window_pattern", kGlobalEvery));
  int layer = 0, first_global = 0;
  file.for_each("layer_types", [&](const std::string& at) {
    ++layer;
    const std::string type = file.text(at);
    if (type != "full_attention" && type != "sliding_attention") file.fail(at, "this layer is not supported", type);
    if (first_global == 0 && type == "full_attention") first_global = layer;
    const bool is_periodic =
        type == (first_global > 0 && layer % first_global == 0 ? "full_attention" : "sliding_attention");
    if (!is_periodic) file.fail(at, "windowed layers without a period are not supported", type);
  });
  if (layer == 0) return every;
  if (layer != config.n_layers)
    file.fail("layer_types", "the list does not name every layer", std::to_string(layer),
              std::to_string(config.n_layers));
  return first_global > 0 ? first_global : std::max(every, layer + 1);
}

ModelConfig from_folder(const FolderModel& model) {
  const JsonValues& file = model.config;
  refuse_what_we_lack(file);
  ModelConfig config = llama_like_from_folder(model, kName, kLike);
  set_shape(config);
  config.query_size = file.number("query_pre_attn_scalar", 256);  // transformers' default
  config.window = file.count_or("sliding_window", 4096);          //
  config.global_every = read_global_every(file, config);
  config.local_rope_base =
      file.number("rope_parameters/sliding_attention/rope_theta", file.number("rope_local_base_freq", kLocalRopeBase));
  config.tied_head = file.flag("tie_word_embeddings", true);
  return config;
}

FolderLayout folder() {
  FolderLayout layout = llama_like_folder("gemma3_text", from_folder);
  layout.outer = kOuter;
  layout.block = kBlock;
  layout.norms_lack_one = true;
  return layout;
}

}  // namespace

const Family kGemma3Family = {
    .name = kName, .from_gguf = from_gguf, .to_gguf = to_gguf, .gguf_rope_layout = RopeLayout::half_split};
const FolderLayout kGemma3Folder = folder();
const FolderLayout kGemma3ImagesFolder = {
    .model_type = "gemma3",
    .obstacle = "a Gemma 3 that also sees images is not supported as a folder: take its GGUF, or a text model"};

}  // namespace orrery
