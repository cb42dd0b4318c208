#include "support/families.h"

#include <cmath>
#include <cstdio>
#include <map>
#include <memory>

#include "config/yarn.h"
#include "files/random_checkpoint.h"
#include "support/files.h"
#include "support/safetensors.h"
#include "text/byte_level_support.h"

namespace orrery::test {
namespace {

constexpr int kVocabulary = 300;

// Bytes, one merge, one end token, and tokens that mean nothing.
std::shared_ptr<ByteLevelBuilder> byte_vocabulary(const std::string& rules) {
  auto builder = std::make_shared<ByteLevelBuilder>();
  builder->vocabulary().pre_tokenization = pre_tokenization_named(rules);
  builder->merge("h", "e");
  builder->vocabulary().bos = builder->add("<|endoftext|>", PieceKind::control);
  builder->vocabulary().end_tokens = {builder->vocabulary().bos};
  for (int id = 258; id < kVocabulary; ++id) builder->add("<" + std::to_string(id) + ">", PieceKind::control);
  return builder;
}

// "qwen2" of "qwen2-yarn".
std::string family_of(const std::string& name) { return name.substr(0, name.find('-')); }

ModelConfig family_config(const std::string& name) {
  const std::string family = family_of(name);
  ModelConfig c;
  c.name = "tiny " + name;
  c.family = family == "mistral" ? "llama" : family;
  c.n_layers = family == "gemma3" ? 7 : 2;
  c.d_model = 64;
  c.n_heads = 4;
  c.n_kv_heads = 2;
  c.head_dim = family == "qwen3" ? 32 : 16;
  c.d_ff = 96;
  c.vocab_size = kVocabulary;
  c.context_length = 128;
  c.norm_epsilon = 1e-5;
  if (family == "gpt2") {
    c.norm = Norm::layer;
    c.positions = Positions::learned;
    c.n_kv_heads = c.n_heads;
    c.activation = Activation::gelu_tanh;
    c.gated_ffn = false;
    c.attention_bias = c.output_bias = c.ffn_bias = true;
    c.tied_head = true;
  } else {
    c.rope_layout = RopeLayout::half_split;
    c.rope_dims = c.head_dim;
    c.rope_base = 5000;
    c.attention_bias = family == "qwen2";
    c.qk_norm = family == "qwen3" || family == "gemma3";
    c.tied_head = family == "qwen2" || family == "gemma3";
  }
  if (family == "gemma3") {
    c.post_norms = true;
    c.activation = Activation::gelu_tanh;
    c.embedding_scale = std::sqrt(64.0);
    c.query_size = c.head_dim;
    c.rope_scale = 2;
    c.window = 8;
    c.global_every = 6;
    c.local_rope_base = 10000;
  }
  if (name == "qwen2-yarn") {  // what YaRN's authors found best
    c.yarn = {.factor = 4, .original_context = 32, .magnitude = 1 + 0.1 * std::log(4.0)};
  }
  if (name == "qwen3-yarn") {  // with a ramp that begins and ends within the head
    c.context_length = 10240;
    c.yarn = {.factor = 2.5, .original_context = 4096, .magnitude = 1.25 * (1 + 0.1 * std::log(2.5))};
  }
  return c;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

const std::map<std::string, std::string> kLlamaNames = {
    {"token_embd", "model.embed_tokens"},
    {"output_norm", "model.norm"},
    {"output", "lm_head"},
    {"attn_norm", "input_layernorm"},
    {"attn_q", "self_attn.q_proj"},
    {"attn_k", "self_attn.k_proj"},
    {"attn_v", "self_attn.v_proj"},
    {"attn_output", "self_attn.o_proj"},
    {"attn_q_norm", "self_attn.q_norm"},
    {"attn_k_norm", "self_attn.k_norm"},
    {"ffn_norm", "post_attention_layernorm"},
    {"ffn_gate", "mlp.gate_proj"},
    {"ffn_up", "mlp.up_proj"},
    {"ffn_down", "mlp.down_proj"},
};

// Where Gemma 3 calls something else.
const std::map<std::string, std::string> kGemmaNames = {
    {"post_attention_norm", "post_attention_layernorm"},
    {"ffn_norm", "pre_feedforward_layernorm"},
    {"post_ffw_norm", "post_feedforward_layernorm"},
};

// "layers.0." and "attn_q" of "blk.0.attn_q".
std::pair<std::string, std::string> cut_block(const std::string& base, const std::string& layers) {
  if (!base.starts_with("blk.")) return {"", base};
  return {layers + base.substr(4, 2), base.substr(6)};  // fewer than ten layers
}

std::string bytes_of_weight(const Tensor& weight) {
  return {reinterpret_cast<const char*>(weight.data), n_bytes(weight)};
}

// [rows, columns] as [columns, rows].
std::string transposed(const std::string& bytes, size_t rows, size_t columns) {
  const size_t element = bytes.size() / rows / columns;
  std::string result;
  for (size_t column = 0; column < columns; ++column) {
    for (size_t row = 0; row < rows; ++row) result += bytes.substr((row * columns + column) * element, element);
  }
  return result;
}

// Norms of a folder of Gemma 3 are what a norm is more than 1.
std::string bytes_in_folder(const Tensor& weight, bool is_gemma) {
  std::string bytes = bytes_of_weight(weight);
  if (!is_gemma || weight.n_dims > 1) return bytes;
  auto* gains = reinterpret_cast<float*>(bytes.data());
  for (int64_t i = 0; i < n_elements(weight); ++i) gains[i] -= 1;
  return bytes;
}

void add_llama(const Checkpoint& model, SafetensorsBuilder& builder) {
  const bool is_gemma = model.config.family == "gemma3";
  for (const FileTensor& tensor : model.tensors) {
    const size_t dot = tensor.name.rfind('.');
    const auto [block, part] = cut_block(tensor.name.substr(0, dot), "model.layers.");
    const bool is_gemmas = is_gemma && kGemmaNames.contains(part);
    const std::string& name = is_gemmas ? kGemmaNames.at(part) : kLlamaNames.at(part);
    builder.tensor(block + name + tensor.name.substr(dot), tensor.type, tensor.shape,
                   bytes_in_folder(model.weights.at(tensor.name), is_gemma));
  }
}

const std::map<std::string, std::string> kGpt2Names = {
    {"token_embd", "wte"},          {"position_embd", "wpe"}, {"output_norm", "ln_f"}, {"attn_norm", "ln_1"},
    {"attn_output", "attn.c_proj"}, {"ffn_norm", "ln_2"},     {"ffn_up", "mlp.c_fc"},  {"ffn_down", "mlp.c_proj"},
};

void add_gpt2(const Checkpoint& model, SafetensorsBuilder& builder) {
  for (const FileTensor& tensor : model.tensors) {
    const size_t dot = tensor.name.rfind('.');
    const std::string suffix = tensor.name.substr(dot);
    const auto [block, part] = cut_block(tensor.name.substr(0, dot), "h.");
    std::string bytes = bytes_of_weight(model.weights.at(tensor.name));
    std::vector<int64_t> shape = tensor.shape;
    if (part == "attn_k" || part == "attn_v") continue;  // beside q
    if (part == "attn_q") {
      for (const char* other : {"attn_k", "attn_v"}) {
        bytes += bytes_of_weight(model.weights.at("blk." + block.substr(2) + other + suffix));
      }
      shape[0] *= 3;
    }
    if (!block.empty() && suffix == ".weight" && shape.size() == 2) {
      bytes = transposed(bytes, static_cast<size_t>(shape[0]), static_cast<size_t>(shape[1]));
      std::swap(shape[0], shape[1]);
    }
    const std::string name = part == "attn_q" ? "attn.c_attn" : kGpt2Names.at(part);
    builder.tensor("transformer." + block + name + suffix, tensor.type, shape, bytes);
  }
}

}  // namespace

Checkpoint family_model(const std::string& family, DType matrices) {
  Checkpoint model = random_checkpoint(family_config(family), matrices, 2024);
  model.rope_factors = yarn_factors(model.config);
  if (model.config.family == "llama" || family == "gemma3") {
    model.vocabulary = random_vocabulary(kVocabulary, 1);
    model.vocabulary.add_space_prefix = family != "gemma3";
  } else {
    const auto builder = byte_vocabulary(family == "gpt2" ? "gpt-2" : "qwen2");
    model.vocabulary = builder->vocabulary();
    model.owners.push_back(builder);
  }
  return model;
}

std::string folder_config(const std::string& family, const ModelConfig& c, const std::string& extra) {
  const auto n = [](int value) { return std::to_string(value); };
  const std::string tied = c.tied_head ? "true" : "false";
  if (family == "gpt2") {
    return "{\"model_type\":\"gpt2\",\"n_embd\":" + n(c.d_model) + ",\"n_layer\":" + n(c.n_layers) +
           ",\"n_head\":" + n(c.n_heads) + ",\"n_inner\":" + n(c.d_ff) + ",\"n_positions\":" + n(c.context_length) +
           ",\"vocab_size\":" + n(c.vocab_size) + ",\"layer_norm_epsilon\":" + number(c.norm_epsilon) +
           ",\"activation_function\":\"gelu_new\"" + extra + "}";
  }
  const bool is_gemma = family == "gemma3";
  const std::string gemma =
      ",\"hidden_activation\":\"gelu_pytorch_tanh\",\"query_pre_attn_scalar\":" + number(c.query_size) +
      ",\"sliding_window\":" + n(c.window) + ",\"sliding_window_pattern\":" + n(c.global_every) +
      ",\"rope_local_base_freq\":" + number(c.local_rope_base) +
      ",\"rope_scaling\":{\"rope_type\":\"linear\",\"factor\":" + number(c.rope_scale) +
      "},\"attn_logit_softcapping\":null,\"final_logit_softcapping\":null";
  const std::string yarn = ",\"rope_scaling\":{\"rope_type\":\"yarn\",\"factor\":" + number(c.yarn.factor) +
                           ",\"original_max_position_embeddings\":" + n(c.yarn.original_context) +
                           ",\"beta_fast\":" + number(c.yarn.beta_fast) + ",\"beta_slow\":" + number(c.yarn.beta_slow) +
                           ",\"attention_factor\":" + number(c.yarn.magnitude) + "}";
  return "{\"model_type\":\"" + (is_gemma ? "gemma3_text" : family_of(family)) + "\",\"hidden_size\":" + n(c.d_model) +
         ",\"intermediate_size\":" + n(c.d_ff) + ",\"num_hidden_layers\":" + n(c.n_layers) +
         ",\"num_attention_heads\":" + n(c.n_heads) + ",\"num_key_value_heads\":" + n(c.n_kv_heads) +
         (c.head_dim * c.n_heads != c.d_model || is_gemma ? ",\"head_dim\":" + n(c.head_dim) : "") +
         ",\"vocab_size\":" + n(c.vocab_size) + ",\"max_position_embeddings\":" + n(c.context_length) +
         ",\"rms_norm_eps\":" + number(c.norm_epsilon) + ",\"rope_theta\":" + number(c.rope_base) +
         (is_gemma ? gemma : ",\"hidden_act\":\"silu\"") + (c.yarn.factor != 1 ? yarn : "") +
         ",\"tie_word_embeddings\":" + tied + extra + "}";
}

void write_model_folder(const std::string& folder, const std::string& family, const Checkpoint& model,
                        const std::string& extra) {
  SafetensorsBuilder builder;
  if (family == "gpt2") {
    add_gpt2(model, builder);
  } else {
    add_llama(model, builder);
  }
  write_file(folder + "/config.json", folder_config(family, model.config, extra));
  write_file(folder + "/model.safetensors", builder.bytes());
}

}  // namespace orrery::test
