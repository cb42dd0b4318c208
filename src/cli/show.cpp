// orrery show: what is in a model file, and the memory it needs, before anything is loaded.
#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "base/format.h"
#include "cli/session.h"
#include "config/arithmetic.h"
#include "config/recurrent_arithmetic.h"
#include "generate/generate.h"

namespace orrery::cli {
namespace {

constexpr size_t kLongestName = 64;  // of a tensor; longer ones push their row to the right

void line(std::string& text, const std::string& name, const std::string& value) {
  text += "  " + name + std::string(name.size() < 22 ? 22 - name.size() : 1, ' ') + value + "\n";
}

std::string heads_text(const ModelConfig& c) {
  std::string text = std::to_string(c.n_heads) + " of " + std::to_string(c.head_dim);
  if (c.n_kv_heads != c.n_heads) text += ", sharing " + std::to_string(c.n_kv_heads) + " of keys and values";
  return text;
}

std::string positions_text(const ModelConfig& c) {
  if (c.positions == Positions::learned) return "learned";
  std::string text = "RoPE, " + std::to_string(c.rope_dims) + " elements, base " + fixed(c.rope_base, 0);
  text += c.rope_layout == RopeLayout::interleaved ? ", pairs interleaved" : ", pairs half a head apart";
  if (c.local_rope_base != 0) text += ", base " + fixed(c.local_rope_base, 0) + " in windowed layers";
  if (c.yarn.factor != 1) text += ", YaRN by " + fixed(c.yarn.factor, 2);
  if (c.rope_scale != 1) text += ", positions divided by " + fixed(c.rope_scale, 2);
  return text;
}

std::string window_text(const ModelConfig& c) {
  std::string text = std::to_string(c.window) + " positions";
  return text + (c.global_every == 0 ? "" : ", but for every " + std::to_string(c.global_every) + "th layer");
}

std::string feed_forward_text(const ModelConfig& c) {
  const std::string activation = c.activation == Activation::silu ? "SiLU" : "GELU (tanh)";
  return std::to_string(c.d_ff) + " wide, " + activation + (c.gated_ffn ? ", gated" : "");
}

// 1e-05 rather than 0.00001000.
std::string epsilon_text(double epsilon) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", epsilon);
  return text;
}

std::string parameters_text(const ModelConfig& c, const char* of_what) {
  const ParameterCount count = parameter_count(c);
  return with_separators(count.total()) + " (" + with_separators(count.matrices) + " in the matrices of the " +
         of_what + ")";
}

std::string context_text(int context) { return context == kUnboundedContext ? "without end" : std::to_string(context); }

std::string recurrent_config_text(const ModelConfig& c) {
  std::string text = "Model\n";
  if (!c.name.empty()) line(text, "name", printable(c.name));
  line(text, "family", printable(c.family));
  line(text, "layers", std::to_string(c.n_layers) + ", " + name_of(c.architecture));
  line(text, "hidden state", std::to_string(c.d_hidden));
  line(text, "embedding", std::to_string(c.d_model));
  line(text, "vocabulary", std::to_string(c.vocab_size) + (c.tied_head ? ", output tied to the embedding" : ""));
  line(text, "context", context_text(c.context_length));
  line(text, "parameters", parameters_text(c, "layers"));
  return text;
}

std::string config_text(const ModelConfig& c) {
  if (c.is_recurrent()) return recurrent_config_text(c);
  std::string text = "Model\n";
  if (!c.name.empty()) line(text, "name", printable(c.name));
  line(text, "family", printable(c.family));
  line(text, "layers", std::to_string(c.n_layers));
  line(text, "width", std::to_string(c.d_model));
  line(text, "attention heads", heads_text(c));
  line(text, "feed-forward", feed_forward_text(c));
  line(text, "norm",
       std::string(c.norm == Norm::rms ? "RMSNorm" : "LayerNorm") + ", epsilon " + epsilon_text(c.norm_epsilon));
  line(text, "positions", positions_text(c));
  if (c.window > 0) line(text, "window", window_text(c));
  line(text, "vocabulary", std::to_string(c.vocab_size) + (c.tied_head ? ", output tied to the embedding" : ""));
  line(text, "context", std::to_string(c.context_length));
  line(text, "parameters", parameters_text(c, "blocks"));
  return text;
}

uint64_t tensor_bytes(const Checkpoint& checkpoint) {
  uint64_t bytes = 0;
  for (const FileTensor& tensor : checkpoint.tensors) bytes += tensor.bytes;
  return bytes;
}

std::string memory_text(const Checkpoint& checkpoint, int context) {
  const ModelConfig& c = checkpoint.config;
  const auto positions = static_cast<uint64_t>(context);
  std::string text = "Memory\n";
  line(text, "weights", bytes_text(tensor_bytes(checkpoint)) + ", used where the file is mapped");
  for (const WeightCopy& copy : checkpoint.copies) {
    line(text, "  copied", printable(copy.name) + ", " + bytes_text(copy.bytes) + ": " + copy.reason);
  }
  if (c.is_recurrent()) {
    line(text, "state in F32", bytes_text(recurrent_state_bytes(c, DType::F32)) + ", however long the text is");
  }
  // The cache grows page by page as a text grows: this is what a full context takes.
  for (const DType type : {DType::F32, DType::F16}) {
    if (c.is_recurrent()) break;
    const uint64_t each = kv_bytes_per_position(c, type, type);
    line(
        text, "KV cache in " + std::string(info(type).name),
        bytes_text(each * positions) + " for " + std::to_string(context) + " positions, " + bytes_text(each) + " each");
  }
  const int rows = std::min(kPrefillRows, context);
  line(text, "activations",
       bytes_text(activation_bytes(c, rows, 1, DType::F32)) + " for a prompt of " + std::to_string(rows) + " tokens, " +
           bytes_text(activation_bytes(c, 1, 1, DType::F32)) + " for one token");
  return text;
}

std::string token_text(const Vocabulary& vocabulary, TokenId id) {
  if (id == kNoToken) return "none";
  return std::to_string(id) + " '" + printable(vocabulary.pieces[static_cast<size_t>(id)]) + "'";
}

std::string tokenizer_kind(const Vocabulary& vocabulary) {
  if (vocabulary.model == "llama") return "SentencePiece BPE";
  return vocabulary.model == "gpt2" ? "byte-level BPE" : printable(vocabulary.model);
}

std::string tokenizer_text(const Vocabulary& vocabulary) {
  std::string text = "Tokenizer\n";
  if (vocabulary.empty()) return text + "  none in this file\n";
  line(text, "kind", tokenizer_kind(vocabulary));
  line(text, "pieces", std::to_string(vocabulary.pieces.size()));
  line(text, "begin", token_text(vocabulary, vocabulary.bos) + (vocabulary.add_bos ? ", put before a text" : ""));
  std::vector<std::string> ends;
  for (const TokenId id : vocabulary.end_tokens) ends.push_back(token_text(vocabulary, id));
  line(text, "end", ends.empty() ? "none" : join(ends, ", "));
  return text;
}

std::string tensors_text(const Checkpoint& checkpoint) {
  std::string text = "Tensors: " + std::to_string(checkpoint.tensors.size()) + "\n";
  size_t width = 32;  // of the names and the space around them
  for (const FileTensor& tensor : checkpoint.tensors) {
    width = std::max(width, std::min(printable(tensor.name).size() + 3, kLongestName));
  }
  for (const FileTensor& tensor : checkpoint.tensors) {
    std::vector<std::string> shape;
    for (const int64_t extent : tensor.shape) shape.push_back(std::to_string(extent));
    std::string row = "  " + printable(tensor.name);
    row += std::string(row.size() < width ? width - row.size() : 1, ' ') + tensor.type;
    row += std::string(row.size() < width + 6 ? width + 6 - row.size() : 1, ' ') + "[" + join(shape, ", ") + "]";
    row += std::string(row.size() < width + 24 ? width + 24 - row.size() : 1, ' ') + bytes_text(tensor.bytes);
    text += row + "\n";
  }
  return text;
}

std::string metadata_text(const Checkpoint& checkpoint) {
  std::string text = "Metadata\n";
  for (const auto& [key, value] : checkpoint.metadata) {
    text += "  " + printable(key) + " = " + printable(value) + "\n";
  }
  return text;
}

}  // namespace

int show(const ShowOptions& options) {
  const auto checkpoint = open_checkpoint(
      options.model, {.tokenizer_path = options.model.tokenizer, .needs_tokenizer = false, .needs_weights = false});
  const ModelConfig& config = checkpoint->config;
  std::string text =
      printable(checkpoint->path) + ": " + checkpoint->format + ", " + bytes_text(checkpoint->file_bytes) + "\n";
  if (!checkpoint->obstacle.empty()) text += "This model cannot run here: " + printable(checkpoint->obstacle) + "\n";
  if (config.n_layers > 0) {
    const int context = options.model.context > 0 ? options.model.context : config.context_length;
    if (context > config.context_length) {
      throw Error({.what = "the model does not know a context of that length",
                   .where = checkpoint->path,
                   .expected = "at most " + std::to_string(config.context_length),
                   .found = std::to_string(context)});
    }
    text += "\n" + config_text(config) + "\n" + memory_text(*checkpoint, context);
  }
  text += "\n" + tokenizer_text(checkpoint->vocabulary) + "\n" + tensors_text(*checkpoint);
  if (options.metadata) text += "\n" + metadata_text(*checkpoint);
  print(text);
  return kDone;
}

}  // namespace orrery::cli
