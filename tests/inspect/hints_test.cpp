// Every diagnosis, on a small model that is broken in just that way and on traces that lack the telling tensor.
#include "inspect/hints.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <doctest/doctest.h>

#include "kernels/reference/reference_kernels.h"
#include "model/transformer.h"
#include "support/models.h"
#include "tensor/convert.h"

using namespace orrery;
using namespace orrery::test;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
using Names = std::function<bool(std::string_view)>;
const std::vector<TokenId> kIds = {5, 17, 250, 3, 99, 42, 8};

// The reference kernels with mistakes.
struct Broken : ReferenceKernels<double> {
  Broken() : ReferenceKernels<double>(Threads(1)) {}
  bool turns_other_pairs = false, maps_modulo = false, sees_all = false;
  int sees_further = 0;
  double scale = 1, epsilon = 0;

  void rope(const Tensor& x, const Tensor& cosine, const Tensor& sine, RopeLayout layout, int head_dim,
            Tensor& y) override {
    const RopeLayout other = layout == RopeLayout::interleaved ? RopeLayout::half_split : RopeLayout::interleaved;
    ReferenceKernels<double>::rope(x, cosine, sine, turns_other_pairs ? other : layout, head_dim, y);
  }
  void rms_norm(const Tensor& x, const Tensor& gain, double given, Tensor& y) override {
    ReferenceKernels<double>::rms_norm(x, gain, epsilon > 0 ? epsilon : given, y);
  }
  void layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, double given, Tensor& y) override {
    ReferenceKernels<double>::layer_norm(x, gain, bias, epsilon > 0 ? epsilon : given, y);
  }
  // One loop over all heads, whose keys and masks can be wrong.
  void attention_scores(const AttentionShape& shape, const AttentionGroup& group, const Tensor& q,
                        Tensor& scores) override {
    const Tensor& keys = group.spans[0].keys;
    const int64_t n = scores.shape[1], m = scores.shape[2], d = shape.head_dim;
    for (int64_t h = 0; h < shape.n_heads; ++h) {
      const int64_t g = maps_modulo ? h % shape.n_kv_heads : h / (shape.n_heads / shape.n_kv_heads);
      for (int64_t i = 0; i < n; ++i) {
        const int64_t last = sees_all ? m - 1 : group.positions[static_cast<size_t>(i)] + sees_further;
        for (int64_t j = 0; j < m; ++j) {
          double sum = 0;
          for (int64_t c = 0; c < d; ++c) {
            sum +=
                values<double>(q)[i * q.stride[0] + h * d + c] * values<double>(keys)[j * keys.stride[0] + g * d + c];
          }
          values<double>(scores)[(h * n + i) * m + j] = j <= last ? scale * shape.scale * sum : -kInfinity;
        }
      }
    }
  }
};

Trace run(const Checkpoint& checkpoint, Kernels& kernels, const Names& names = {},
          const std::vector<TokenId>& ids = kIds) {
  const DType type = kernels.activation_type();
  Transformer model(std::make_shared<const Checkpoint>(checkpoint), {0, type, type});
  TraceRequest request;
  if (names) request.wants = names;
  return record_trace(model, ids, kernels, request);
}

Trace right(int variant, const Names& names = {}) {
  ReferenceKernels<double> kernels{Threads(1)};
  return run(*random_model(small_config(variant), DType::F32), kernels, names);
}

Names without(std::initializer_list<const char*> kinds) {
  return [kinds = std::vector<std::string>(kinds.begin(), kinds.end())](std::string_view name) {
    return std::ranges::none_of(kinds, [&](const std::string& kind) { return name.ends_with(kind); });
  };
}

// All hints by their names, "" where nothing differs; either trace may be the right one.
std::string hints(const Trace& a, const Trace& b, const std::string& first, const Checkpoint* model = nullptr,
                  const std::string& words = "", double tolerance = 1e-4) {
  std::string found[2];
  for (const bool is_swapped : {false, true}) {
    const Trace &x = is_swapped ? b : a, &y = is_swapped ? a : b;
    const TraceDiff diff = compare_traces(x, y, {tolerance});
    if (diff.first_mismatch() == nullptr) continue;
    CHECK(diff.first_mismatch()->name == first);
    for (const Hint& hint : find_hints(x, y, diff, model)) {
      found[is_swapped ? 1 : 0] +=
          (found[is_swapped ? 1 : 0].empty() ? "" : ", ") + std::string(symptom_name(hint.symptom));
      if (!is_swapped) {
        CAPTURE(hint.text);
        CHECK(hint.text.find(words) != std::string::npos);
      }
    }
  }
  CHECK(found[0] == found[1]);
  return found[0];
}

// A weight of the checkpoint made anew from its numbers.
void change(Checkpoint& checkpoint, const std::string& name, const std::function<void(std::vector<float>&)>& edit) {
  Tensor& weight = checkpoint.weights.at(name);
  const auto copy =
      std::make_shared<std::vector<float>>(values<float>(weight), values<float>(weight) + n_elements(weight));
  edit(*copy);
  weight.data = reinterpret_cast<std::byte*>(copy->data());
  checkpoint.owners.push_back(copy);
}

}  // namespace

TEST_CASE("hints: none where traces agree, nor for a difference that is none of these") {
  for (int variant = 0; variant < kVariants; ++variant) {
    CHECK(hints(right(variant), right(variant), "") == "");
    Checkpoint other = *random_model(small_config(variant), DType::F32);
    change(other, "blk.1.ffn_up.weight", [](std::vector<float>& w) {
      for (size_t i = 0; i < w.size(); ++i) w[i] *= static_cast<float>(i % 7);
    });
    ReferenceKernels<double> kernels{Threads(1)};
    CHECK(hints(right(variant), run(other, kernels), "blk.1.ffn.up", &other) == "");
  }
}

TEST_CASE("hints: the token that begins a text is missing") {
  ReferenceKernels<double> kernels{Threads(1)};
  const std::vector<TokenId> rest(kIds.begin() + 1, kIds.end());
  for (const int variant : {0, 5}) {
    Trace shorter = run(*random_model(small_config(variant), DType::F32), kernels, {}, rest);
    CHECK(hints(right(variant), shorter, "embed", nullptr, "A has one token more, at the beginning, id 5") ==
          "missing BOS");
    shorter.header.prompt_ids.clear();
    // With learned positions the rows of the embedding are not the same ones.
    CHECK(hints(right(variant), shorter, "embed") == (variant == 0 ? "missing BOS" : ""));
  }
  const std::vector<TokenId> others = {9, 8, 7, 6, 5, 4, 3};
  CHECK(hints(right(0), run(*random_model(small_config(0), DType::F32), kernels, {}, others), "embed") == "");
}

TEST_CASE("hints: RoPE turns other pairs, or the rows of q and k are in another order") {
  for (const int variant : {0, 2, 4, 6}) {
    CAPTURE(variant);
    Broken broken;
    broken.turns_other_pairs = true;
    const Checkpoint model = *random_model(small_config(variant), DType::F32);
    CHECK(hints(right(variant), run(model, broken), "blk.0.attn.q_rope", nullptr, "A turns") == "RoPE layout");
    // With the layout changed where the model looks for it, the header says it too.
    Checkpoint declared = model;
    RopeLayout& layout = declared.config.rope_layout;
    layout = layout == RopeLayout::interleaved ? RopeLayout::half_split : RopeLayout::interleaved;
    ReferenceKernels<double> kernels{Threads(1)};
    CHECK(hints(right(variant), run(declared, kernels), "blk.0.attn.q", nullptr, "same in another order") ==
          "RoPE layout");
  }
}

TEST_CASE("hints: RoPE turns by other angles") {
  for (const int variant : {0, 4}) {
    Checkpoint other = *random_model(small_config(variant), DType::F32);
    other.config.rope_base = 500;
    ReferenceKernels<double> kernels{Threads(1)};
    CHECK(hints(right(variant), run(other, kernels), "blk.0.attn.q_rope", nullptr, "rope_base") == "RoPE angles");
    const Names names = without({"_rope"});
    CHECK(hints(right(variant, names), run(other, kernels, names), "blk.0.attn.scores", nullptr,
                "their own keys agree") == "RoPE angles");
  }
}

TEST_CASE("hints: a row sees other keys") {
  const Checkpoint model = *random_model(small_config(0), DType::F32);
  Broken one_more, one_less, all;
  one_more.sees_further = 1;
  one_less.sees_further = -1;
  all.sees_all = true;
  CHECK(hints(right(0), run(model, one_more), "blk.0.attn.scores", nullptr,
              "position 0 sees keys 0 to 0 in A, keys 0 to 1 in B: a key after its own") == "mask");
  CHECK(hints(right(0), run(model, all), "blk.0.attn.scores", nullptr, "keys 0 to 6 in B") == "mask");
  const Names weights_only = without({"scores"}), mix_only = without({"scores", "weights"});
  CHECK(hints(right(0, weights_only), run(model, all, weights_only), "blk.0.attn.weights") == "mask");
  Trace a = right(0), b = run(model, all);
  for (Trace* trace : {&a, &b}) {
    std::erase_if(trace->tensors,
                  [](const TraceTensor& t) { return t.name.ends_with("scores") || t.name.ends_with("weights"); });
  }
  CHECK(hints(a, b, "blk.0.attn.mix", nullptr, "last row") == "mask");
  // The first row sees nothing at all then, and softmax of that is NaN.
  CHECK(hints(right(0), run(model, one_less), "blk.0.attn.scores", nullptr, "sees keys 0 to 0 in A, no key in B") ==
        "mask");
  Checkpoint windowed = model;
  windowed.config.window = 3;
  ReferenceKernels<double> kernels{Threads(1)};
  CHECK(hints(right(0), run(windowed, kernels), "blk.0.attn.scores", nullptr,
              "position 3 sees keys 0 to 3 in A, keys 1 to 3 in B: another window") == "mask");
}

TEST_CASE("hints: query heads read other key-value heads") {
  const Checkpoint model = *random_model(small_config(0), DType::F32);  // 4 heads, 2 key-value heads
  Broken broken;
  broken.maps_modulo = true;
  CHECK(hints(right(0), run(model, broken), "blk.0.attn.scores", nullptr, "h % n_kv_heads") == "head mapping");
  const Names names = without({"scores"});
  CHECK(hints(right(0, names), run(model, broken, names), "blk.0.attn.weights") == "head mapping");
  // With a head for each key-value head both mappings are one.
  CHECK(hints(right(2), run(*random_model(small_config(2), DType::F32), broken), "") == "");
  // Heads that trade places.
  Trace a = right(0), b = right(0);
  for (TraceTensor& tensor : b.tensors) {
    if (tensor.name != "blk.1.attn.scores") continue;
    const size_t head = tensor.bytes.size() / 4;
    auto bytes = std::make_shared<std::vector<std::byte>>();
    for (const size_t from : {size_t{2}, size_t{0}, size_t{1}, size_t{3}}) {
      const auto part = tensor.bytes.subspan(from * head, head);
      bytes->insert(bytes->end(), part.begin(), part.end());
    }
    tensor.bytes = *bytes;
    b.owners.push_back(bytes);
  }
  CHECK(hints(a, b, "blk.1.attn.scores", nullptr, "another order") == "head mapping");
}

TEST_CASE("hints: scores without their scale, an embedding without its own") {
  const Checkpoint model = *random_model(small_config(0), DType::F32);
  Broken broken;
  broken.scale = std::sqrt(8.0);  // of 8 elements
  CHECK(hints(right(0), run(model, broken), "blk.0.attn.scores", nullptr,
              "0.3536 times B's, 1 by the root of head_dim") == "missing scale");
  const Names names = without({"scores"});
  CHECK(hints(right(0, names), run(model, broken, names), "blk.0.attn.weights", nullptr, "0.3536") == "missing scale");
  Checkpoint gemma = *random_model(small_config(6), DType::F32);
  gemma.config.embedding_scale = 1;
  ReferenceKernels<double> kernels{Threads(1)};
  CHECK(hints(right(6), run(gemma, kernels), "embed", nullptr, "the root of its width") == "missing scale");
}

TEST_CASE("hints: another epsilon, from the numbers and from the headers") {
  for (const int variant : {0, 4, 5, 6}) {
    CAPTURE(variant);
    const Checkpoint model = *random_model(small_config(variant), DType::F32);
    Broken broken;
    broken.epsilon = 3e-2;
    CHECK(hints(right(variant), run(model, broken), "blk.0.attn_norm", nullptr,
                "epsilon of 0.03 in B and 1e-05 in A") == "epsilon");
    Checkpoint other = model;
    other.config.norm_epsilon = 1e-3;
    ReferenceKernels<double> kernels{Threads(1)};
    CHECK(hints(right(variant), run(other, kernels), "blk.0.attn_norm", nullptr, "header says 1e-05 and B's 0.001") ==
          "epsilon");
  }
  // A gain that is wrong is no epsilon.
  Checkpoint other = *random_model(small_config(0), DType::F32);
  change(other, "blk.0.attn_norm.weight", [](std::vector<float>& w) {
    for (size_t i = 0; i < w.size(); ++i) w[i] += i % 2 == 0 ? 0.1F : 0;
  });
  ReferenceKernels<double> kernels{Threads(1)};
  CHECK(hints(right(0), run(other, kernels), "blk.0.attn_norm") == "");
}

TEST_CASE("hints: keys of an earlier sequence") {
  const auto checkpoint = random_model(small_config(0), DType::F32);
  ReferenceKernels<double> kernels{Threads(1)};
  Transformer model(checkpoint, {0, DType::F64, DType::F64});
  const auto state = model.new_sequence();
  record_trace(model, *state, kIds, kernels);
  const Trace again = record_trace(model, *state, kIds, kernels);  // goes on where it should begin anew
  CHECK(hints(right(0), again, "blk.0.attn.q_rope", nullptr, "B has keys or positions past the end") ==
        "cache not reset");
  // Only the mix is there: every row is another one, also the first, which sees nothing but itself.
  Trace a = right(0), b = right(0);
  for (Trace* trace : {&a, &b}) {
    std::erase_if(trace->tensors,
                  [](const TraceTensor& t) { return t.name.ends_with("scores") || t.name.ends_with("weights"); });
  }
  for (TraceTensor& tensor : b.tensors) {
    if (tensor.name != "blk.0.attn.mix") continue;
    auto bytes = std::make_shared<std::vector<std::byte>>(tensor.bytes.begin(), tensor.bytes.end());
    auto* number = reinterpret_cast<double*>(bytes->data());
    for (size_t i = 0; i < bytes->size() / sizeof(double); ++i) number[i] = 0.5 * number[i] + std::sin(double(i));
    tensor.bytes = *bytes;
    b.owners.push_back(bytes);
  }
  CHECK(hints(a, b, "blk.0.attn.mix", nullptr, "not of this sequence") == "cache not reset");
}

TEST_CASE("hints: a matrix that is read the other way round, a bias that is missing") {
  for (const char* name : {"attn_q", "attn_k", "ffn_up", "ffn_down", "attn_output"}) {
    for (const int variant : {0, 5}) {
      const Checkpoint model = *random_model(small_config(variant), DType::F32);
      Checkpoint wrong = model;
      const Tensor& weight = model.weights.at("blk.0." + std::string(name) + ".weight");
      const int64_t out = weight.shape[0], in = weight.shape[1];
      change(wrong, "blk.0." + std::string(name) + ".weight", [&](std::vector<float>& w) {
        for (int64_t o = 0; o < out; ++o) {
          for (int64_t i = 0; i < in; ++i) w[static_cast<size_t>(i * out + o)] = values<float>(weight)[o * in + i];
        }
      });
      ReferenceKernels<double> kernels{Threads(1)};
      const std::string kind = std::string(name) == "attn_q"     ? "attn.q"
                               : std::string(name) == "attn_k"   ? "attn.k"
                               : std::string(name) == "ffn_up"   ? "ffn.up"
                               : std::string(name) == "ffn_down" ? "ffn.out"
                                                                 : "attn.out";
      CHECK(hints(right(variant), run(wrong, kernels), "blk.0." + kind, &model, "not transposed") ==
            "transposed matrix");
      CHECK(hints(right(variant), run(wrong, kernels), "blk.0." + kind) == "");
    }
  }
  Checkpoint other = *random_model(small_config(5), DType::F32);
  change(other, "blk.1.ffn_up.bias", [](std::vector<float>& w) { w.assign(w.size(), 0); });
  ReferenceKernels<double> kernels{Threads(1)};
  CHECK(hints(right(5), run(other, kernels), "blk.1.ffn.up", nullptr, "differ by the same numbers") == "missing bias");
}

TEST_CASE("hints: nothing but shorter types") {
  ReferenceKernels<double> kernels{Threads(1)};
  for (const DType type : {DType::F16, DType::BF16, DType::Q8_0}) {
    Checkpoint shorter = *random_model(small_config(0), DType::F32);
    change(shorter, "token_embd.weight", [&](std::vector<float>& w) {
      const auto n = static_cast<int64_t>(w.size());
      std::vector<std::byte> narrow(bytes_of(type, n));
      convert_row(DType::F32, reinterpret_cast<const std::byte*>(w.data()), type, narrow.data(), n);
      convert_row(type, narrow.data(), DType::F32, reinterpret_cast<std::byte*>(w.data()), n);
    });
    const Trace other = run(shorter, kernels);
    CHECK(hints(right(0), other, "embed", nullptr, info(type).name) == "precision only");
  }
  // The same weights, with a tolerance that the rounding of float passes somewhere on the way.
  ReferenceKernels<float> single{Threads(1)};
  const Trace other = run(*random_model(small_config(0), DType::F32), single), exact = right(0);
  const TraceDiff diff = compare_traces(other, exact, {4e-7});
  REQUIRE(diff.first_mismatch() != nullptr);
  REQUIRE(find_hints(other, exact, diff).size() == 1);
  CHECK(find_hints(other, exact, diff)[0].text.find("grow slowly") != std::string::npos);
}
