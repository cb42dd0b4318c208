#include "files/safetensors.h"

#include <string>

#include <doctest/doctest.h>

#include "support/expect_error.h"
#include "support/files.h"
#include "support/safetensors.h"

using namespace orrery;
using namespace orrery::test;

namespace {

struct Fixture {
  TemporaryFolder folder;

  SafetensorsFile read(const std::string& bytes) {
    return read_safetensors(write_file(folder / "m.safetensors", bytes));
  }
  SafetensorsFile read(const SafetensorsBuilder& builder) { return read(builder.bytes()); }
  // A file of 8 bytes of data with this entry alone.
  SafetensorsFile read_entry(const std::string& type, const std::string& shape, int64_t begin, int64_t end) {
    SafetensorsBuilder builder;
    builder.entry("t", type, shape, begin, end).data = std::string(8, '\0');
    return read(builder);
  }
  SafetensorsFile read_header(const std::string& header) {
    return read(SafetensorsBuilder::with_header(header, std::string(8, '\0')));
  }

  // A folder in two parts, with an index that says `map`.
  std::vector<SafetensorsFile> read_parts(const std::string& map) {
    write_file(folder / "a.safetensors", SafetensorsBuilder().floats("x", {1}, {1}).floats("y", {1}, {2}).bytes());
    write_file(folder / "b.safetensors", SafetensorsBuilder().floats("z", {1}, {3}).bytes());
    write_file(folder / "model.safetensors.index.json",
               R"({"metadata": {"total_size": 12}, "weight_map": )" + map + "}");
    return read_safetensors_folder(folder.path().string());
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "safetensors: tensors by their place in the file") {
  SafetensorsBuilder builder;
  builder.entries = R"("__metadata__":{"format":"pt"})";
  builder.entry("second/b", "F32", "[2]", 6, 14)
      .entry("first", "BF16", "[1,3]", 0, 6)
      .entry("none", "I64", "[0,7]", 0, 0);
  builder.data = std::string(14, '\x01');
  const SafetensorsFile file = read(builder);
  REQUIRE(file.tensors.size() == 3);
  CHECK(file.tensors[0].name == "none");
  CHECK(file.tensors[0].bytes == 0);
  CHECK(file.tensors[1].name == "first");
  CHECK(file.tensors[1].type == "BF16");
  CHECK(file.tensors[1].shape == std::vector<int64_t>{1, 3});
  CHECK(file.tensors[1].offset == file.file->bytes().size() - 14);
  CHECK(file.tensors[2].name == "second/b");
  CHECK(file.tensors[2].bytes == 8);
  CHECK(file.tensors[2].offset == file.tensors[1].offset + 6);
  CHECK(read(SafetensorsBuilder::with_header("{}", "")).tensors.empty());

  CHECK(safetensors_dtype("F32") == DType::F32);
  CHECK(safetensors_dtype("F64") == DType::F64);
  CHECK_FALSE(safetensors_dtype("I32"));
  CHECK_FALSE(safetensors_dtype("f32"));
  CHECK_FALSE(safetensors_dtype("Q8_0"));
}

TEST_CASE_FIXTURE(Fixture, "safetensors: shapes and offsets that make no sense") {
  CHECK(read_entry("F32", "[2]", 0, 8).tensors.size() == 1);
  CHECK_ERROR(read_entry("F32", "[2]", 0, 12), "m.safetensors: tensor t", "past the end", "at most 8", "found 12");
  CHECK_ERROR(read_entry("F32", "[2]", 8, 0), "ends before it begins");
  CHECK_ERROR(read_entry("F32", "[1]", 0, 8), "expected 4, found 8");
  CHECK_ERROR(read_entry("F32", "[2]", 0, 7), "expected 8, found 7");
  CHECK_ERROR(read_entry("F32", "[-2]", 0, 8), "not negative");
  CHECK_ERROR(read_entry("F32", "[2]", -8, 0), "not negative");
  CHECK_ERROR(read_entry("F32", "[2.0]", 0, 8), "whole numbers");
  CHECK_ERROR(read_entry("F32", "[[2]]", 0, 8), "whole numbers");
  CHECK_ERROR(read_entry("F32", "2", 0, 8), "makes no sense", "found shape");
  CHECK_ERROR(read_entry("F32", "[99999999999999999999]", 0, 8), "whole numbers");
  // The product is 2^64 * 2, which is 2 where nobody looks.
  CHECK_ERROR(read_entry("U8", "[4294967296, 4294967296, 8]", 0, 8), "larger than the file");
  CHECK_ERROR(read_entry("F64", "[2305843009213693953]", 0, 8), "larger than the file");
  CHECK_ERROR(read_entry("Q3", "[2]", 0, 8), "type of the tensor is not known", "found Q3");
  CHECK_ERROR(read_entry("F32", "[1]", 4, 8), "bytes that belong to none");
  CHECK_ERROR(read_entry("F32", "[1]", 0, 4), "ends with bytes that belong to no tensor");
}

TEST_CASE_FIXTURE(Fixture, "safetensors: tensors that overlap or are there twice") {
  SafetensorsBuilder builder;
  builder.entry("a", "F32", "[2]", 0, 8).entry("b", "F32", "[1]", 4, 8).data = std::string(8, '\0');
  CHECK_ERROR(read(builder), "tensor b", "overlaps");
  builder = {};
  builder.entry("a", "F32", "[1]", 0, 4).entry("a", "F32", "[1]", 4, 8).data = std::string(8, '\0');
  CHECK_ERROR(read(builder), "tensor a", "there twice");
}

TEST_CASE_FIXTURE(Fixture, "safetensors: broken headers") {
  CHECK_ERROR(read("1234567"), "does not fit into the file");
  CHECK_ERROR(read(std::string(8, '\xFF') + "{}"), "does not fit into the file");
  CHECK_ERROR(read(SafetensorsBuilder::with_header("{}   ", "").substr(0, 12)), "does not fit into the file");
  CHECK_ERROR(read_header("{\"t\":"), "header", "broken JSON at byte");
  CHECK_ERROR(read_header("[]"), "not a JSON object");
  CHECK_ERROR(read_header("{\"t\":1}"), "tensor t", "says nothing");
  CHECK_ERROR(read_header("{\"t\":{}}"), "type of the tensor is not known");
  CHECK_ERROR(read_header("{\"t\":{\"dtype\":\"F32\",\"data_offsets\":[0,8]}}"), "no shape");
  CHECK_ERROR(read_header("{\"t\":{\"dtype\":\"F32\",\"shape\":[2]}}"), "two numbers");
  CHECK_ERROR(read_header("{\"t\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8,8]}}"), "two numbers");
  CHECK_ERROR(read_header("{\"t\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}"), "makes no sense", "found dtype");
  CHECK_ERROR(read_header("{\"t\":{\"shape\":[],\"shape\":[]}}"), "makes no sense", "found shape");
  CHECK_ERROR(read_header("{\"t\":{\"colour\":\"red\"}}"), "makes no sense", "found colour");
  CHECK_ERROR(read_header("{\"__metadata__\":{\"a\":[1]}}"), "not a list of texts");
  CHECK_ERROR(read_header("{\"__metadata__\":{\"a\":1}}"), "not a list of texts");
  CHECK_ERROR(read_header("{\"t\":" + std::string(100, '[')), "says nothing");
  CHECK_ERROR(read_header("{\"\\u001b[31m\":1}"), "\\x1B[31m");
}

TEST_CASE_FIXTURE(Fixture, "safetensors: a model in several files") {
  CHECK_FALSE(has_safetensors(folder.path().string()));
  const auto parts = read_parts(R"({"x": "a.safetensors", "z": "b.safetensors", "y": "a.safetensors"})");
  CHECK(has_safetensors(folder.path().string()));
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].tensors.size() == 2);
  CHECK(parts[1].tensors[0].name == "z");
  const char* missing = R"({"x": "a.safetensors", "y": "a.safetensors", "z": "b.safetensors", "w": "b.safetensors"})";
  CHECK_ERROR(read_parts(missing), "index.json", "not in the file that the index says", "found w");
  CHECK_ERROR(read_parts(R"({"x": "a.safetensors"})"), "does not say that the tensor y is in a.safetensors");
  CHECK_ERROR(read_parts(R"({"x": "a.safetensors", "y": "b.safetensors"})"), "tensor y is in a.safetensors");
  CHECK_ERROR(read_parts(R"({"x": "a.safetensors", "x": "b.safetensors"})"), "tensor twice", "found x");
  CHECK_ERROR(read_parts(R"({"x": "c.safetensors"})"), "c.safetensors", "cannot open");
  CHECK_ERROR(read_parts(R"({"x": 1})"), "names of files");
  CHECK_ERROR(read_parts("{}"), "names no files");
  CHECK_ERROR(read_parts("[]"), "not an object");
  for (const char* name :
       {"../a.safetensors", "/a.safetensors", "model.safetensors.index.json", "", "..", "d\\\\a.safetensors"}) {
    CAPTURE(name);
    CHECK_ERROR(read_parts(std::string("{\"x\": \"") + name + "\"}"), "must be a .safetensors file in the same folder");
  }
  std::filesystem::create_symlink("c.safetensors", folder / "c.safetensors");  // of itself
  CHECK_ERROR(read_parts(R"({"x": "c.safetensors"})"), "c.safetensors", "cannot open");
  // One file counts more than several, as with Hugging Face.
  write_file(folder / "model.safetensors", SafetensorsBuilder().floats("only", {1}, {1}).bytes());
  CHECK(read_parts("{}").front().tensors[0].name == "only");
}
