// GPT-2 (Radford et al., 2019): learned positions, LayerNorm, biases everywhere, GELU without a gate, queries, keys and
// values from one matrix. Folders have it as transformers (matrices [in, out]) and as minGPT (matrices [out, in]) write
// it.
#include "base/error.h"
#include "files/families.h"

namespace orrery {
namespace {

constexpr std::string_view kName = "gpt2";
constexpr double kMinGptEpsilon = 1e-5;  // PyTorch's default, which minGPT does not change

std::string key(const char* suffix) { return std::string("gpt2.") + suffix; }

constexpr FolderName kOuter[] = {{"token_embd", "wte"}, {"position_embd", "wpe"}, {"output_norm", "ln_f"}};
constexpr FolderName kBlock[] = {
    {"attn_norm", "ln_1"},           {"attn_q", "attn.c_attn", 0, 3}, {"attn_k", "attn.c_attn", 1, 3},
    {"attn_v", "attn.c_attn", 2, 3}, {"attn_output", "attn.c_proj"},  {"ffn_norm", "ln_2"},
    {"ffn_up", "mlp.c_fc"},          {"ffn_down", "mlp.c_proj"},
};
constexpr std::string_view kIgnored[] = {".attn.bias", ".attn.masked_bias"};  // which position may see which

ModelConfig gpt2_shape() {
  ModelConfig config;
  config.family = kName;
  config.norm = Norm::layer;
  config.positions = Positions::learned;
  config.activation = Activation::gelu_tanh;
  config.gated_ffn = false;
  return config;
}

void share_width(ModelConfig& config, const std::string& where) {
  config.n_kv_heads = config.n_heads;
  if (config.n_heads == 0 || config.d_model % config.n_heads != 0) {
    throw Error({.what = "the width of the model is not a multiple of the heads",
                 .where = where,
                 .expected = "a divisor of " + std::to_string(config.d_model),
                 .found = std::to_string(config.n_heads)});
  }
  config.head_dim = config.d_model / config.n_heads;
}

ModelConfig from_gguf(const GgufFile& file) {
  const GgufMetadata& metadata = file.metadata;
  ModelConfig config = gpt2_shape();
  config.n_layers = metadata.count(key("block_count"));
  config.d_model = metadata.count(key("embedding_length"));
  config.d_ff = metadata.count(key("feed_forward_length"));
  config.context_length = metadata.count(key("context_length"));
  config.n_heads = metadata.count(key("attention.head_count"));
  config.vocab_size = metadata.count_or(key("vocab_size"), 0);
  if (const FileTensor* embedding = file.find_tensor("token_embd.weight"); embedding && config.vocab_size == 0) {
    config.vocab_size = static_cast<int>(std::min<int64_t>(embedding->shape.front(), INT32_MAX));
  }
  share_width(config, metadata.path());
  const auto epsilon = metadata.number(key("attention.layer_norm_epsilon"));
  if (!epsilon) {
    metadata.fail(key("attention.layer_norm_epsilon"),
                  {.what = "the file does not have this key, and the model cannot be built without it"});
  }
  config.norm_epsilon = *epsilon;
  config.attention_bias = file.has_tensor("blk.0.attn_qkv.bias");
  config.output_bias = file.has_tensor("blk.0.attn_output.bias");
  config.ffn_bias = file.has_tensor("blk.0.ffn_up.bias");
  config.tied_head = !file.has_tensor("output.weight");
  return config;
}

void to_gguf(const ModelConfig& config, GgufMetadataWriter& metadata) {
  const bool fits = config.norm == Norm::layer && config.positions == Positions::learned && !config.gated_ffn &&
                    config.activation == Activation::gelu_tanh && config.n_kv_heads == config.n_heads &&
                    config.q_dim() == config.d_model;
  if (!fits) throw Error({.what = "a model of another shape cannot be written as a model of the family gpt2"});
  metadata.add_uint32(key("context_length"), config.context_length);
  metadata.add_uint32(key("embedding_length"), config.d_model);
  metadata.add_uint32(key("block_count"), config.n_layers);
  metadata.add_uint32(key("feed_forward_length"), config.d_ff);
  metadata.add_uint32(key("attention.head_count"), config.n_heads);
  metadata.add_float32(key("attention.layer_norm_epsilon"), config.norm_epsilon);
  metadata.add_uint32(key("vocab_size"), config.vocab_size);
}

// What both ways of writing a folder share.
ModelConfig read_sizes(const FolderModel& model, const char* context_key) {
  const JsonValues& file = model.config;
  ModelConfig config = gpt2_shape();
  config.n_layers = file.count("n_layer");
  config.d_model = file.count("n_embd");
  config.n_heads = file.count("n_head");
  config.vocab_size = file.count("vocab_size");
  config.context_length = file.count(context_key);
  share_width(config, file.path() + ": n_head");
  // Capped, so that four times the width of a broken file does not overflow; check() refuses it then.
  config.d_ff = file.count_or("n_inner", static_cast<int>(std::min<int64_t>(4 * int64_t{config.d_model}, INT32_MAX)));
  config.attention_bias = model.has_weight("blk.0.attn_q.bias");
  config.output_bias = model.has_weight("blk.0.attn_output.bias");
  config.ffn_bias = model.has_weight("blk.0.ffn_up.bias");
  return config;
}

ModelConfig from_folder(const FolderModel& model) {
  const JsonValues& file = model.config;
  const std::string activation = file.text("activation_function", "gelu_new");
  if (activation != "gelu_new" && activation != "gelu_pytorch_tanh") {
    file.fail("activation_function", "this activation is not supported", activation, "gelu_new");
  }
  for (const char* flag : {"scale_attn_by_inverse_layer_idx", "add_cross_attention"}) {
    if (file.flag(flag, false)) file.fail(flag, "this is not supported");
  }
  if (!file.flag("scale_attn_weights", true))
    file.fail("scale_attn_weights", "scores without a scale are not supported");
  ModelConfig config = read_sizes(model, "n_positions");
  config.norm_epsilon = file.number("layer_norm_epsilon", 1e-5);  // transformers' default
  config.tied_head = file.flag("tie_word_embeddings", true);      //
  return config;
}

ModelConfig from_min_gpt_folder(const FolderModel& model) {
  ModelConfig config = read_sizes(model, "block_size");
  config.norm_epsilon = kMinGptEpsilon;
  config.tied_head = false;
  return config;
}

FolderLayout folder(std::string_view model_type, ModelConfig (*config)(const FolderModel& model), bool is_transposed) {
  FolderLayout layout;
  layout.model_type = model_type;
  layout.config = config;
  layout.prefix = "transformer.";
  layout.layers = "h.";
  layout.outer = kOuter;
  layout.block = kBlock;
  layout.blocks_are_transposed = is_transposed;
  layout.ignored = kIgnored;
  return layout;
}

}  // namespace

const Family kGpt2Family = {.name = kName, .from_gguf = from_gguf, .to_gguf = to_gguf, .gguf_fuses_qkv = true};
const FolderLayout kGpt2Folder = folder("gpt2", from_folder, true);
const FolderLayout kMinGptFolder = folder("gpt-nano", from_min_gpt_folder, false);

}  // namespace orrery
