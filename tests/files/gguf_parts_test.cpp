// Models in several GGUF files. The parts are made here, tensor by tensor, from a whole file.
#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "files/checkpoint.h"
#include "files/gguf_builder.h"
#include "files/gguf_writer.h"
#include "support/expect_error.h"
#include "support/files.h"

using namespace orrery;
using namespace orrery::test;

namespace {

constexpr uint32_t kUint16 = 2;

// The tensors of tiny_llama(), with numbers that tell them apart.
struct NamedTensor {
  std::string name;
  std::vector<uint64_t> dims;  // innermost first
};
const std::vector<NamedTensor> kTensors = {
    {"token_embd.weight", {2, 3}},     {"blk.0.attn_norm.weight", {2}},   {"blk.0.attn_q.weight", {2, 2}},
    {"blk.0.attn_k.weight", {2, 2}},   {"blk.0.attn_v.weight", {2, 2}},   {"blk.0.attn_output.weight", {2, 2}},
    {"blk.0.ffn_norm.weight", {2}},    {"blk.0.ffn_gate.weight", {2, 2}}, {"blk.0.ffn_up.weight", {2, 2}},
    {"blk.0.ffn_down.weight", {2, 2}}, {"output_norm.weight", {2}},
};

void add_tensors(GgufBuilder& builder, size_t first, size_t end) {
  for (size_t i = first; i < end; ++i) {
    uint64_t elements = 1;
    for (const uint64_t dim : kTensors[i].dims) elements *= dim;
    std::string data;
    for (uint64_t at = 0; at < elements; ++at) data += raw(static_cast<float>(100 * i + at));
    builder.tensor_with_data(kTensors[i].name, kTensors[i].dims, kF32, data);
  }
}

GgufBuilder with_config() {
  GgufBuilder builder;
  builder.text("general.architecture", "llama").text("general.name", "in parts");
  builder.number("llama.context_length", 8).number("llama.embedding_length", 2).number("llama.block_count", 1);
  builder.number("llama.feed_forward_length", 2).number("llama.attention.head_count", 1);
  builder.number("llama.vocab_size", 3);
  return builder.real("llama.attention.layer_norm_rms_epsilon", 1e-5f);
}

GgufBuilder with_place(GgufBuilder builder, uint16_t number, uint16_t count, int32_t n_tensors = 11) {
  builder.add("split.no", kUint16, raw(number)).add("split.count", kUint16, raw(count));
  return builder.add("split.tensors.count", kInt32, raw(n_tensors));
}

GgufBuilder part(GgufBuilder builder, uint16_t number, uint16_t count, size_t first, size_t end) {
  builder = with_place(std::move(builder), number, count);
  add_tensors(builder, first, end);
  return builder;
}

struct InParts {
  TemporaryFolder folder;
  std::string path(int number) const { return folder / ("m-0000" + std::to_string(number) + "-of-00003.gguf"); }
  void put(int number, const GgufBuilder& builder) const { write_file(path(number), builder.bytes()); }
  // The first part without tensors, as gguf-split leaves it where it is asked to.
  InParts() {
    put(1, part(with_config(), 0, 3, 0, 0));
    put(2, part({}, 1, 3, 0, 7));
    put(3, part({}, 2, 3, 7, 11));
  }
};

}  // namespace

TEST_CASE_FIXTURE(InParts, "gguf in parts: the same as the whole, whichever part is named") {
  GgufBuilder builder = with_config();
  add_tensors(builder, 0, kTensors.size());
  const Checkpoint whole = load_checkpoint(write_file(folder / "whole.gguf", builder.bytes()));
  for (int number = 1; number <= 3; ++number) {
    const Checkpoint parts = load_checkpoint(path(number));
    CHECK(parts.path == path(number));
    CHECK(parts.format == "GGUF v3 in 3 parts");
    CHECK(parts.file_bytes == file_bytes(path(1)).size() + file_bytes(path(2)).size() + file_bytes(path(3)).size());
    CHECK(parts.config.name == "in parts");
    CHECK(parts.tensors.size() == kTensors.size());
    REQUIRE(parts.weights.size() == whole.weights.size());
    for (const auto& [name, weight] : whole.weights) {
      const Tensor* same = parts.find_weight(name);
      REQUIRE(same != nullptr);
      REQUIRE(same_shape(*same, weight));
      CHECK(std::memcmp(same->data, weight.data, n_bytes(weight)) == 0);
    }
  }
  // Written again, it is one file that does not take itself for a part.
  write_gguf(folder / "joined.gguf", load_checkpoint(path(1)));
  const Checkpoint joined = load_checkpoint(folder / "joined.gguf");
  CHECK(joined.format == "GGUF v3");
  CHECK(joined.weights.size() == whole.weights.size());
  // One part of one is a whole, whatever its name.
  GgufBuilder single = with_place(with_config(), 0, 1);
  add_tensors(single, 0, kTensors.size());
  CHECK(load_checkpoint(write_file(folder / "single.gguf", single.bytes())).format == "GGUF v3");
}

TEST_CASE_FIXTURE(InParts, "gguf in parts: what is missing is named, also for show") {
  const std::string second = path(2);
  std::filesystem::remove(second);
  for (const bool needs_weights : {true, false}) {
    for (const int number : {1, 3}) {
      CHECK_ERROR(load_checkpoint(path(number), {.needs_weights = needs_weights}), "missing", second.c_str(),
                  "3 parts");
    }
  }
  std::filesystem::create_directory(second);
  CHECK_ERROR(load_checkpoint(path(1)), second.c_str(), "not a regular file");
  std::filesystem::remove(second);
  write_file(second, "something else");
  CHECK_ERROR(load_checkpoint(path(1)), second.c_str(), "not a GGUF file");
  write_file(second, "GGU");
  CHECK_ERROR(load_checkpoint(path(1)), second.c_str(), "not a GGUF file");
  write_file(second, part({}, 1, 3, 0, 7).bytes().substr(0, 400));
  CHECK_ERROR(load_checkpoint(path(1)), second.c_str());
}

TEST_CASE_FIXTURE(InParts, "gguf in parts: names that do not say which part it is") {
  const std::string bytes = file_bytes(path(1));
  for (const char* name :
       {"m.gguf", "m-1-of-3.gguf", "m-00001-of-00003", "m-00001-of-00002.gguf", "m-00000-of-00003.gguf",
        "m-00004-of-00003.gguf", "m00001-of-00003.gguf", "m-0000x-of-00003.gguf", "00001-of-00003.gguf", ".gguf"}) {
    CAPTURE(name);
    CHECK_ERROR(load_checkpoint(write_file(folder / name, bytes)), "its name does not say which",
                "model-00001-of-00003.gguf", name);
  }
  // A count that no name can have, and one for which the first part is the only one.
  put(1, with_config().number("split.count", 70000));
  CHECK_ERROR(load_checkpoint(path(1)), "the number of parts makes no sense", "found 70000");
  put(1, with_config().add("split.count", kInt32, raw<int32_t>(-3)));
  CHECK_ERROR(load_checkpoint(path(1)), "split.count", "makes no sense", "-3");
  put(1, with_config().text("split.count", "3"));
  CHECK_ERROR(load_checkpoint(path(1)), "split.count", "wrong type");
  const std::string many = folder / "m-00001-of-65535.gguf";
  write_file(many, part(with_config(), 0, 65535, 0, 0).bytes());
  CHECK_ERROR(load_checkpoint(many), "missing", "m-00002-of-65535.gguf");
}

TEST_CASE_FIXTURE(InParts, "gguf in parts: parts that do not belong together") {
  const auto refused = [&](int number, const GgufBuilder& builder, auto... all) {
    const std::string before = file_bytes(path(number));
    put(number, builder);
    CHECK_ERROR(load_checkpoint(path(1)), all...);
    write_file(path(number), before);
  };
  refused(2, part({}, 2, 3, 0, 7), "another one than its name says", "m-00002-of-00003.gguf", "expected 1", "found 2");
  refused(1, part(with_config(), 1, 3, 0, 0), "another one than its name says", "m-00001-of-00003.gguf");
  refused(2, part({}, 1, 4, 0, 7), "another number of parts", "m-00002-of-00003.gguf", "expected 3", "found 4");
  refused(2, tiny_llama(), "another number of parts", "found 1");
  GgufBuilder nameless;
  nameless.add("split.count", kUint16, raw<uint16_t>(3));
  refused(2, nameless, "split.no", "does not have this key");
  refused(3, part({}, 2, 3, 6, 11), "two parts have the same tensor", "blk.0.ffn_norm.weight", "m-00002-of-00003.gguf");
  refused(3, part({}, 2, 3, 8, 11), "another number of tensors", "expected 11", "found 10");
  GgufBuilder other;
  other.text("general.name", "another");
  refused(2, part(other, 1, 3, 0, 7), "belongs to another model", "general.name", "in parts", "another");
  other = {};
  other.text("general.author", "somebody");
  refused(2, part(other, 1, 3, 0, 7), "belongs to another model", "no such key", "somebody");
  refused(2, with_place({}, 1, 3, 12), "belongs to another model", "11 tensors in all", "found 12");
  // What a part may say beside its place.
  other = {};
  other.text("general.architecture", "llama").number("general.alignment", 32);
  put(2, part(other, 1, 3, 0, 7));
  CHECK(load_checkpoint(path(1)).weights.size() == kTensors.size());
}
