// Loss, gradients and ten steps of AdamW as PyTorch has them. The files in tests/data/torch were made with PyTorch 1.13
// in double precision from the weights of tests/data/tiny-models.
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "files/checkpoint.h"
#include "learn/learning.h"
#include "support/files.h"

using namespace orrery;
using namespace orrery::test;
using nlohmann::json;

namespace {

struct TorchRun {
  json about = json::parse(file_bytes(data_file("torch/llama_training.json")));
  Checkpoint checkpoint = load_checkpoint(data_file("tiny-models/gguf/valid_base.gguf"));
  std::vector<std::vector<TokenId>> texts = about["tokens"].get<std::vector<std::vector<TokenId>>>();
  std::vector<Sample> samples;

  TorchRun() {
    for (const auto& text : texts) samples.push_back({text});
  }
};

// A safetensors file of F32: eight bytes with the length of a JSON header, the header, the numbers.
std::map<std::string, std::vector<double>> read_safetensors(const std::string& bytes) {
  uint64_t header_size = 0;
  std::memcpy(&header_size, bytes.data(), sizeof header_size);
  const json header = json::parse(bytes.substr(8, header_size));
  std::map<std::string, std::vector<double>> tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    REQUIRE(entry["dtype"] == "F32");
    const uint64_t begin = entry["data_offsets"][0], end = entry["data_offsets"][1];
    std::vector<float> floats((end - begin) / sizeof(float));
    std::memcpy(floats.data(), bytes.data() + 8 + header_size + begin, end - begin);
    tensors[name] = {floats.begin(), floats.end()};
  }
  return tensors;
}

// "blk.0.attn_q.weight" as Hugging Face says it.
std::string torch_name(const std::string& name) {
  static const std::map<std::string, std::string> names = {{"token_embd.weight", "model.embed_tokens.weight"},
                                                           {"output_norm.weight", "model.norm.weight"},
                                                           {"output.weight", "lm_head.weight"},
                                                           {"attn_norm.weight", "input_layernorm.weight"},
                                                           {"attn_q.weight", "self_attn.q_proj.weight"},
                                                           {"attn_k.weight", "self_attn.k_proj.weight"},
                                                           {"attn_v.weight", "self_attn.v_proj.weight"},
                                                           {"attn_output.weight", "self_attn.o_proj.weight"},
                                                           {"ffn_norm.weight", "post_attention_layernorm.weight"},
                                                           {"ffn_gate.weight", "mlp.gate_proj.weight"},
                                                           {"ffn_up.weight", "mlp.up_proj.weight"},
                                                           {"ffn_down.weight", "mlp.down_proj.weight"}};
  if (!name.starts_with("blk.")) return names.at(name);
  const size_t dot = name.find('.', 4);
  return "model.layers." + name.substr(4, dot - 4) + "." + names.at(name.substr(dot + 1));
}

// Hugging Face turns element i of a head together with element i + head_dim / 2, GGUF elements 2i and 2i + 1; so the
// rows of the projections of q and k stand in another order.
std::vector<double> rows_as_in_gguf(const std::vector<double>& rows, size_t width, size_t head_dim) {
  std::vector<double> result(rows.size());
  for (size_t row = 0; row < rows.size() / width; ++row) {
    const size_t in_head = row % head_dim;
    const size_t target = row - in_head + 2 * (in_head % (head_dim / 2)) + in_head / (head_dim / 2);
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(row * width), width,
                result.begin() + static_cast<std::ptrdiff_t>(target * width));
  }
  return result;
}

}  // namespace

TEST_CASE("loss and every gradient are PyTorch's") {
  const TorchRun run;
  const auto expected = read_safetensors(file_bytes(data_file("torch/llama_gradients.safetensors")));
  struct Kind {
    DType dtype;
    bool plain;
    double loss_tolerance, gradient_tolerance;
  };
  // The file has the gradients of the double-precision run rounded to float.
  for (const Kind& kind :
       {Kind{DType::F64, true, 1e-12, 1e-7}, Kind{DType::F32, true, 1e-6, 1e-5}, Kind{DType::F32, false, 1e-6, 1e-5}}) {
    Learning learning(run.checkpoint, kind.dtype, 2, Activations::keep, kind.plain);
    CAPTURE(learning.forward->name());
    CHECK(std::abs(learning.gradients(run.samples) - run.about["loss"].get<double>()) < kind.loss_tolerance);
    size_t n_compared = 0;
    for (const Parameter& parameter : learning.parameters.all()) {
      const std::string name = parameter.weight.name;
      CAPTURE(name);
      std::vector<double> theirs = expected.at(torch_name(name));
      if (name.ends_with("attn_q.weight") || name.ends_with("attn_k.weight")) {
        theirs = rows_as_in_gguf(theirs, 32, 8);
      }
      CHECK(relative_distance(numbers(parameter.gradient), theirs) < kind.gradient_tolerance);
      ++n_compared;
    }
    CHECK(n_compared == expected.size());
  }
}

TEST_CASE("ten steps of AdamW lose what PyTorch's lose, with and without clipping") {
  const TorchRun run;
  const json& settings = run.about["adamw"];
  for (const char* name : {"no_clipping", "clip_1.0"}) {
    CAPTURE(name);
    const json& expected = run.about["runs"][name];
    for (const DType dtype : {DType::F64, DType::F32}) {
      const double tolerance = dtype == DType::F64 ? 1e-9 : 1e-5;
      // AdamW divides a gradient by its own size: where it is hardly more than rounding, float steps the other way. The
      // loss does not care, the length of the gradient does a little.
      const double norm_tolerance = dtype == DType::F64 ? 1e-9 : 1e-3;
      Learning learning(run.checkpoint, dtype, 2);
      AdamW optimizer(learning.parameters, {.beta1 = settings["betas"][0],
                                            .beta2 = settings["betas"][1],
                                            .epsilon = settings["eps"],
                                            .weight_decay = 0.1});
      for (size_t step = 0; step < 10; ++step) {
        CAPTURE(step);
        const double loss = learning.gradients(run.samples);
        CHECK(std::abs(loss - expected["loss_before_each_step"][step].get<double>()) < tolerance);
        const double norm =
            learning.parameters.clip_gradients(*learning.backward, std::string(name) == "clip_1.0" ? 1.0 : 0);
        CHECK(std::abs(norm - expected["gradient_norm_before_clipping"][step].get<double>()) < norm_tolerance);
        optimizer.step(learning.parameters, *learning.backward, settings["lr"]);
      }
      const double after = learning.maker->loss(run.samples, total_weight(run.samples));
      CHECK(after == doctest::Approx(expected["loss_after_ten_steps"].get<double>()).epsilon(tolerance));
    }
  }
}
