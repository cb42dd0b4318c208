#include <array>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/output_file.h"
#include "files/llama2c.h"
#include "files/llama2c_layout.h"
#include "files/row_writer.h"

namespace orrery {
namespace {

void require_expressible(const Checkpoint& checkpoint) {
  const ModelConfig& config = checkpoint.config;
  const ModelConfig fixed = llama2c_config();
  const auto require = [](bool holds, const char* what) {
    if (!holds) throw Error({.what = std::string("llama2.c's format has no place for ") + what, .hint = "write GGUF"});
  };
  // As F32, in which other formats keep it, 1e-5 is not quite 1e-5.
  const bool same_epsilon = static_cast<float>(config.norm_epsilon) == static_cast<float>(fixed.norm_epsilon);
  require(config.norm == fixed.norm, "LayerNorm");
  require(same_epsilon, "another norm epsilon than 1e-5");
  require(config.positions == fixed.positions, "learned positions");
  require(config.rope_layout == fixed.rope_layout, "rotary positions that turn halves");
  require(config.rope_base == fixed.rope_base, "another RoPE base than 10000");
  require(config.rope_scale == 1 && checkpoint.rope_factors.empty() && config.yarn.factor == 1,
          "scaled rotary positions");
  require(config.rope_dims == config.head_dim, "heads that are rotated in part");
  require(config.q_dim() == config.d_model, "a head size of its own");
  require(config.activation == fixed.activation && config.gated_ffn, "another feed-forward layer than gated SiLU");
  require(!config.attention_bias && !config.output_bias && !config.ffn_bias, "biases");
  require(!config.qk_norm && !config.post_norms, "other norms than before each half of a block");
  require(config.embedding_scale == 1 && config.query_size == 0, "scales of its own");
  require(config.window == 0, "windows of attention");
}

template <class T>
void write_number(OutputFile& file, T value) {
  file.write(std::as_bytes(std::span(&value, 1)));
}

void write_header(const ModelConfig& config, int version, OutputFile& file) {
  if (version == 1) {
    write_number(file, kLlama2cMagic);
    write_number<int32_t>(file, version);
  }
  const int vocab_size = version == 0 && !config.tied_head ? -config.vocab_size : config.vocab_size;
  for (const int value : {config.d_model, config.d_ff, config.n_layers, config.n_heads, config.n_kv_heads, vocab_size,
                          config.context_length}) {
    write_number<int32_t>(file, value);
  }
  if (version == 1) {
    write_number<uint8_t>(file, config.tied_head);
    file.pad_to(kLlama2cHeaderBytes[1]);
  }
}

// What export.py leaves here; run.c skips it, older programs read it.
void write_rope_table(const ModelConfig& config, bool cosines, OutputFile& file) {
  for (int position = 0; position < config.context_length; ++position) {
    for (int pair = 0; pair < config.head_dim / 2; ++pair) {
      const double angle = position * std::pow(config.rope_base, -2.0 * pair / config.head_dim);
      write_number(file, static_cast<float>(cosines ? std::cos(angle) : std::sin(angle)));
    }
  }
}

}  // namespace

void write_llama2c(const std::string& path, const Checkpoint& checkpoint, int version) {
  if (version != 0 && version != 1) {
    throw Error({.what = "this version of llama2.c's format is not written",
                 .where = path,
                 .expected = "0 or 1",
                 .found = std::to_string(version)});
  }
  require_expressible(checkpoint);
  const ModelConfig& config = checkpoint.config;
  OutputFile file(path);
  write_header(config, version, file);
  for (const NamedShape& weight : llama2c_layout(config, version)) {
    const bool is_cosines = weight.name == kLlama2cCosines;
    if (is_cosines || weight.name == kLlama2cSines) {
      write_rope_table(config, is_cosines, file);
    } else if (weight.shape.size() == 1) {
      write_rows(weight.name, checkpoint.weight(weight.name, {weight.shape[0]}), DType::F32, file);
    } else {
      write_rows(weight.name, checkpoint.weight(weight.name, {weight.shape[0], weight.shape[1]}), DType::F32, file);
    }
  }
  file.commit();
}

}  // namespace orrery
