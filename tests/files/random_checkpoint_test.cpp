#include "files/random_checkpoint.h"

#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "files/weight_list.h"
#include "support/expect_error.h"
#include "tensor/convert.h"

using namespace orrery;
using namespace orrery::test;

namespace {

ModelConfig small_config() {
  ModelConfig config;
  config.family = "llama";
  config.n_layers = 2;
  config.d_model = 128;
  config.n_heads = 4;
  config.n_kv_heads = 2;
  config.head_dim = 32;
  config.d_ff = 256;
  config.vocab_size = 400;
  config.context_length = 64;
  config.norm_epsilon = 1e-5;
  config.rope_dims = 32;
  config.rope_base = 10000;
  return config;
}

std::vector<float> as_floats(const Tensor& weight) {
  std::vector<float> result(static_cast<size_t>(n_elements(weight)));
  convert_row(weight.dtype, weight.data, DType::F32, reinterpret_cast<std::byte*>(result.data()), n_elements(weight));
  return result;
}

}  // namespace

TEST_CASE("random model: mean 0 and the standard deviation 1 / sqrt(in) in every type") {
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16, DType::Q8_0}) {
    CAPTURE(info(dtype).name);
    const Checkpoint checkpoint = random_checkpoint(small_config(), dtype, 7);
    const std::vector<float> x = as_floats(checkpoint.weight("blk.1.ffn_down.weight", {128, 256}));
    double sum = 0, squares = 0;
    for (const float value : x) {
      sum += value;
      squares += static_cast<double>(value) * value;
    }
    const auto n = static_cast<double>(x.size());
    CHECK(std::abs(sum / n) < 0.001);
    // Scales of Q8_0 are between a half and all of the limit.
    CHECK(std::sqrt(squares / n) == doctest::Approx(dtype == DType::Q8_0 ? 0.76 / 16 : 1.0 / 16).epsilon(0.03));
    for (const float gain : as_floats(checkpoint.weight("blk.0.attn_norm.weight", {128}))) {
      CHECK(std::abs(gain - 1) <= 0.1001f);
    }
  }
}

TEST_CASE("random model: the same seed gives the same bits, another one others") {
  const Checkpoint a = random_checkpoint(small_config(), DType::F16, 1);
  const Checkpoint b = random_checkpoint(small_config(), DType::F16, 1);
  const Checkpoint c = random_checkpoint(small_config(), DType::F16, 2);
  for (const auto& [name, weight] : a.weights) {
    CHECK(std::memcmp(weight.data, b.weights.at(name).data, n_bytes(weight)) == 0);
    CHECK(std::memcmp(weight.data, c.weights.at(name).data, n_bytes(weight)) != 0);
    CHECK(reinterpret_cast<uintptr_t>(weight.data) % 64 == 0);
  }
  // Pinned, so that models of old seeds stay what they were.
  CHECK(values<float>(random_checkpoint(small_config(), DType::F32, 1).weight("output.weight", {400, 128}))[0] ==
        doctest::Approx(0.0167785));
}

TEST_CASE("random model: all parts that a config may ask for") {
  ModelConfig config = small_config();
  config.norm = Norm::layer;
  config.positions = Positions::learned;
  config.gated_ffn = false;
  config.attention_bias = config.output_bias = config.ffn_bias = config.qk_norm = config.tied_head = true;
  const Checkpoint checkpoint = random_checkpoint(config, DType::F32, 1);
  CHECK(checkpoint.weight("position_embd.weight", {64, 128}).n_dims == 2);
  CHECK(checkpoint.weight("blk.0.attn_norm.bias", {128}).n_dims == 1);
  CHECK(checkpoint.weight("blk.1.attn_k.bias", {64}).n_dims == 1);
  CHECK(checkpoint.weight("blk.1.attn_k_norm.weight", {32}).n_dims == 1);
  CHECK(checkpoint.weight("blk.1.attn_output.bias", {128}).n_dims == 1);
  CHECK(checkpoint.weight("blk.1.ffn_up.bias", {256}).n_dims == 1);
  CHECK(checkpoint.weight("output_norm.bias", {128}).n_dims == 1);
  CHECK(checkpoint.find_weight("blk.0.ffn_gate.weight") == nullptr);
  CHECK(checkpoint.find_weight("output.weight") == nullptr);
  CHECK(checkpoint.weights.size() == weight_shapes(config).size());
  CHECK(checkpoint.tensors.size() == checkpoint.weights.size());
}

TEST_CASE("random model: what cannot be made") {
  ModelConfig config = small_config();
  config.d_ff = 100;
  CHECK_ERROR(random_checkpoint(config, DType::Q8_0, 1), "blk.0.ffn_down.weight", "multiple of 32", "100");
  CHECK(random_checkpoint(config, DType::BF16, 1).weights.size() > 0);
  CHECK_ERROR(random_checkpoint(config, DType::F64, 1), "F64");
  config.n_heads = 3;
  CHECK_ERROR(random_checkpoint(config, DType::F32, 1), "heads");
}

TEST_CASE("random vocabulary: specials, bytes, then pieces that merges can build") {
  const Vocabulary vocabulary = random_vocabulary(1000, 3);
  REQUIRE(vocabulary.pieces.size() == 1000);
  CHECK(vocabulary.pieces[1] == "<s>");
  CHECK(vocabulary.kinds[2] == PieceKind::control);
  CHECK(vocabulary.pieces[258] == "<0xFF>");
  CHECK(vocabulary.kinds[258] == PieceKind::byte);
  std::set<std::string_view> known;
  for (size_t id = 259; id < 1000; ++id) {
    const std::string_view piece = vocabulary.pieces[id];
    CHECK(vocabulary.scores[id] == -static_cast<float>(id - 259));
    const bool is_character = id < 259 + 1 + 52 + 17;
    bool can_be_built = is_character;
    for (size_t cut = 1; cut < piece.size() && !can_be_built; ++cut) {
      can_be_built = known.contains(piece.substr(0, cut)) && known.contains(piece.substr(cut));
    }
    CHECK(can_be_built);
    CHECK(known.insert(piece).second);
  }
  CHECK(random_vocabulary(259, 1).pieces.size() == 259);
  CHECK(random_vocabulary(261, 1).pieces.size() == 261);
  CHECK_ERROR(random_vocabulary(258, 1), "at least 259", "258");
}
