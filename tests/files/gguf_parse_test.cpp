// Broken GGUF files, each the smallest of its kind, and what is said about them.
#include <string>

#include <doctest/doctest.h>

#include "files/checkpoint.h"
#include "files/gguf.h"
#include "files/gguf_builder.h"
#include "support/expect_error.h"
#include "support/files.h"

using namespace orrery;
using namespace orrery::test;

namespace {

struct Fixture {
  TemporaryFolder folder;

  Checkpoint load(const std::string& bytes) { return load_checkpoint(write_file(folder / "m.gguf", bytes)); }
  Checkpoint load(const GgufBuilder& builder) { return load(builder.bytes()); }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "gguf: versions other than 2 and 3 are refused by number") {
  GgufBuilder builder = tiny_llama();
  builder.version = 2;
  CHECK(load(builder).format == "GGUF v2");
  builder.version = 1;
  CHECK_ERROR(load(builder), "m.gguf: header at byte 4", "not supported", "version 2 or 3", "version 1");
  builder.version = 4;
  CHECK_ERROR(load(builder), "version 4");
  builder.version = 0x03000000;
  CHECK_ERROR(load(builder), "big-endian");
}

TEST_CASE_FIXTURE(Fixture, "gguf: counts are compared with the bytes that are left before anything is taken") {
  for (const uint64_t count : {uint64_t{1} << 60, uint64_t{1} << 32, ~uint64_t{0}, uint64_t{1000}}) {
    GgufBuilder builder;
    builder.n_metadata = count;
    CHECK_ERROR(load(builder), "ends too early", "header");
    builder.n_metadata = 0;
    builder.n_tensors = count;
    CHECK_ERROR(load(builder), "ends too early");
    CHECK_ERROR(load(GgufBuilder().array("a", kString, count, "")), "ends too early", "metadata key a");
    CHECK_ERROR(load(GgufBuilder().array("a", kFloat32, count, "")), "ends too early", "metadata key a");
    CHECK_ERROR(load(GgufBuilder().add("a", kString, raw(count))), "ends too early", "metadata key a");
    CHECK_ERROR(load(GgufBuilder().array("a", kString, 1, raw(count))), "ends too early", "metadata key a");
    CHECK_ERROR(load("GGUF" + raw<uint32_t>(3) + raw<uint64_t>(0) + raw<uint64_t>(1) + raw(count) + "aaaaaaaaaaaaaaa"),
                "ends too early", "metadata key at byte 32");
  }
}

TEST_CASE_FIXTURE(Fixture, "gguf: metadata that makes no sense") {
  CHECK_ERROR(load(GgufBuilder().number("", 1)), "key is empty", "byte 24");
  CHECK_ERROR(load(GgufBuilder().number(std::string(65536, 'k'), 1)), "too long", "65535", "65536");
  CHECK_ERROR(load(GgufBuilder().number("a", 1).number("a", 1)), "metadata key a", "comes twice");
  CHECK_ERROR(load(GgufBuilder().add("a", 13, raw<uint64_t>(0))), "type that GGUF does not know", "0 to 12", "13");
  CHECK_ERROR(load(GgufBuilder().add("a", kBool, raw<uint8_t>(2))), "neither false nor true", "found 2");
  CHECK_ERROR(load(GgufBuilder().array("a", kArray, 1, raw(kUint8) + raw<uint64_t>(0))), "arrays of arrays");
  CHECK_ERROR(load(GgufBuilder().number("general.alignment", 0)), "alignment", "power of two");
  CHECK_ERROR(load(GgufBuilder().number("general.alignment", 48)), "alignment", "power of two", "48");
  CHECK_ERROR(load(GgufBuilder().number("general.alignment", 1u << 31)), "alignment");
  CHECK_ERROR(load(GgufBuilder().text("general.alignment", "32")), "wrong type", "an integer", "found string");
}

TEST_CASE_FIXTURE(Fixture, "gguf: control characters of names never reach the message") {
  CHECK_ERROR(load(GgufBuilder().number("a\x1B[2J", 1).number("a\x1B[2J", 1)), "a\\x1B[2J");
}

TEST_CASE_FIXTURE(Fixture, "gguf: a tensor list that makes no sense") {
  const std::string eight(32, '\0');
  const auto with = [&](std::string_view name, const std::vector<uint64_t>& dims, uint32_t type) {
    return GgufBuilder().tensor_with_data(name, dims, type, eight);
  };
  CHECK_ERROR(load(with("", {8}, kF32)), "name of a tensor is empty");
  CHECK_ERROR(load(with(std::string(65, 'n'), {8}, kF32)), "too long", "at most 64", "found 65");
  CHECK_ERROR(load(with("t", {8}, kF32).tensor_with_data("t", {8}, kF32, eight)), "tensor t", "comes twice");
  CHECK_ERROR(load(with("t", {1, 1, 1, 1, 1}, kF32)), "number of dimensions", "1 to 4", "5");
  CHECK_ERROR(load(with("t", {8, 0}, kF32)), "dimension makes no sense", "found 0");
  CHECK_ERROR(load(with("t", {~uint64_t{0}}, kF32)), "dimension makes no sense");
  CHECK_ERROR(load(with("t", {uint64_t{1} << 40, uint64_t{1} << 40}, kF32)), "product of the dimensions");
  CHECK_ERROR(load(with("t", {8}, 4)), "type that is not known", "type 4");
  CHECK_ERROR(load(with("t", {8}, 9999)), "type that is not known", "type 9999");
  CHECK_ERROR(load(with("t", {33}, kQ8_0)), "whole blocks of Q8_0", "multiple of 32", "33");
  CHECK_ERROR(load(GgufBuilder().tensor("t", {8}, kF32, 4)), "misaligned", "multiple of 32", "4");
  GgufBuilder overlap;
  overlap.tensor("a", {16}, kF32, 0).tensor("b", {8}, kF32, 32);
  overlap.data = std::string(64, '\0');
  CHECK_ERROR(load(overlap), "overlap", "tensor b", "a from byte");
  CHECK_ERROR(load(GgufBuilder().tensor("t", {8}, kF32, ~uint64_t{31})), "past the end");
}

TEST_CASE_FIXTURE(Fixture, "gguf: a download that was cut short says how far it came") {
  std::string whole = file_bytes(data_file("tiny-models/gguf/valid_base.gguf"));
  REQUIRE(whole.size() == 169568);
  CHECK_ERROR(load(whole.substr(0, 103437)), "tensor blk.1.ffn_gate.weight at byte", "past the end",
              "at least 169568 bytes", "found 103437 bytes", "the download stopped at 61%");
  // A tensor that lies where no writer would put it does not point to a download.
  GgufBuilder gap;
  gap.tensor("t", {8}, kF32, 320);
  const std::string message = error_of([&] { load(gap); });
  CHECK(contains(message, "past the end"));
  CHECK_FALSE(contains(message, "download"));
}

TEST_CASE_FIXTURE(Fixture, "gguf: metadata as text") {
  const std::string long_text(1000, 'x');
  GgufBuilder builder;
  builder.text("a", long_text).real("b", 0.1f).add("c", kBool, raw<uint8_t>(1));
  builder.array("d", kInt32, 10, std::string(40, '\0')).texts("e", {"one", std::string(40, 'y')});
  builder.add("f", kUint64, raw(~uint64_t{0}));
  const Checkpoint checkpoint = load(builder);
  REQUIRE(checkpoint.metadata.size() == 6);
  CHECK(checkpoint.metadata[0].second == long_text.substr(0, 400) + "... (1,000 bytes)");
  CHECK(checkpoint.metadata[1] == std::pair<std::string, std::string>("b", "0.1"));
  CHECK(checkpoint.metadata[2].second == "true");
  CHECK(checkpoint.metadata[3].second == "[10 int32s: 0, 0, 0, 0, 0, 0, 0, 0, ...]");
  CHECK(checkpoint.metadata[4].second == "[2 strings: one, yyyyyyyyyyyyyyyyyyyyyyyy... (40 bytes)]");
  CHECK(checkpoint.metadata[5].second == "18446744073709551615");
}

TEST_CASE_FIXTURE(Fixture, "files of other kinds are told apart by content") {
  CHECK_ERROR(load("version https://git-lfs.github.com/spec/v1\noid sha256:0\n"), "Git LFS pointer", "git lfs pull");
  CHECK_ERROR(load("<!DOCTYPE html><html></html>"), "web page");
  CHECK_ERROR(load("PK\x03\x04 and so on and so on and so on"), "PyTorch");
  CHECK_ERROR(load("tjgg and so on and so on and so on and so on"), "GGJT");
  CHECK_ERROR(load("Once upon a time there was a file of plain text."), "not a model file", "GGUF");
  CHECK_ERROR(load(std::string(100, '\0')), "not a model file");
  CHECK_ERROR(load("G"), "not a model file");
  CHECK_ERROR(load("GGUF"), "ends too early");
  CHECK_ERROR(load(""), "empty");
  CHECK_ERROR(load_checkpoint(folder / ""), "no config.json");
  CHECK_ERROR(load_checkpoint(folder / "none.gguf"), "none.gguf", "cannot open");
}
