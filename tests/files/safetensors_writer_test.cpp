#include "files/safetensors_writer.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include <doctest/doctest.h>

#include "files/safetensors.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/safetensors.h"

using namespace orrery;
using namespace orrery::test;

namespace {

template <class T>
SafetensorsTensor tensor(const std::string& name, const std::string& type, std::vector<int64_t> shape,
                         const std::vector<T>& values) {
  return {name, type, std::move(shape), std::as_bytes(std::span(values))};
}

std::string bytes_of_tensor(const SafetensorsFile& file, size_t index) {
  const FileTensor& tensor = file.tensors.at(index);
  return {reinterpret_cast<const char*>(file.file->bytes().data()) + tensor.offset, tensor.bytes};
}

}  // namespace

TEST_CASE("safetensors: what was written is what is read, with metadata") {
  const TemporaryFolder folder;
  const std::vector<float> floats = {1.5F, -0.0F, std::numeric_limits<float>::infinity(), 1e-40F, 3, 4};
  const std::vector<double> doubles = {1 / 3.0};
  const std::vector<int32_t> ids = {-1, 7};
  const std::vector<uint16_t> halves = {0x3C00, 0x0001, 0x7BFF};
  const std::vector<uint8_t> flags = {1, 0, 1};
  const std::map<std::string, std::string> metadata = {
      {"format", "orrery trace"}, {"prompt", "a \"quoted\"\n\ttext, \xE8\xAF\x8D \x01"}, {"empty", ""}};
  const SafetensorsTensor tensors[] = {
      tensor("flags", "BOOL", {3}, flags),     tensor("blk.0.attn.scores", "F32", {1, 2, 3}, floats),
      tensor("half", "F16", {3, 1}, halves),   tensor("wide", "F64", {}, doubles),
      tensor("ids", "I32", {2}, ids),          tensor("brain", "BF16", {3}, halves),
      tensor<float>("none", "F32", {0, 7}, {})};
  write_safetensors(folder / "t.safetensors", tensors, metadata);

  const SafetensorsFile file = read_safetensors(folder / "t.safetensors");
  CHECK(file.metadata == metadata);
  std::vector<std::string> names;
  for (const FileTensor& t : file.tensors) {
    names.push_back(t.name);
    CHECK(t.offset % safetensors_element_bytes(t.type) == 0);
    for (const SafetensorsTensor& written : tensors) {
      if (written.name != t.name) continue;
      CHECK(t.type == written.type);
      CHECK(t.shape == written.shape);
      const std::string_view expected(reinterpret_cast<const char*>(written.bytes.data()), written.bytes.size());
      CHECK(bytes_of_tensor(file, names.size() - 1) == expected);
    }
  }
  // "none" has no bytes: where it stands beside others is not told by offsets.
  std::erase(names, "none");
  CHECK(names == std::vector<std::string>{"wide", "blk.0.attn.scores", "ids", "half", "brain", "flags"});
}

TEST_CASE("safetensors: the bytes are those that another writer makes") {
  const TemporaryFolder folder;
  const std::vector<float> floats = {1, 2, 3};
  const SafetensorsTensor one[] = {tensor("a/b", "F32", {3, 1}, floats)};
  write_safetensors(folder / "ours", one);
  CHECK(file_bytes(folder / "ours") == SafetensorsBuilder().floats("a/b", {3, 1}, floats).bytes());
  write_safetensors(folder / "none", {}, {{"k", "v"}});
  CHECK(read_safetensors(folder / "none").tensors.empty());
  CHECK(read_safetensors(folder / "none").metadata.at("k") == "v");
}

TEST_CASE("safetensors: a tensor of ours") {
  float numbers[6] = {0, 1, 2, 3, 4, 5};
  Tensor whole = make_tensor("embed", DType::F32, {2, 3}, reinterpret_cast<std::byte*>(numbers));
  CHECK(safetensors_tensor(whole).name == "embed");
  CHECK(safetensors_tensor(whole, "other").name == "other");
  CHECK(safetensors_tensor(whole).shape == std::vector<int64_t>{2, 3});
  CHECK(safetensors_tensor(whole).bytes.size() == sizeof numbers);
  whole.stride[0] = 2;
  CHECK_ERROR(safetensors_tensor(whole), "cannot hold", "embed", "side by side");
  std::byte block[34] = {};
  CHECK_ERROR(safetensors_tensor(make_tensor("w", DType::Q8_0, {32}, block)), "cannot hold", "found Q8_0");
}

TEST_CASE("safetensors: what cannot be written leaves no file") {
  const TemporaryFolder folder;
  const std::string path = folder / "t.safetensors";
  const std::vector<float> floats = {1, 2, 3, 4};
  const auto write = [&](const SafetensorsTensor& t) { write_safetensors(path, std::span(&t, 1)); };
  CHECK_ERROR(write(tensor("t", "F31", {4}, floats)), "t.safetensors: tensor t", "no such type", "F31");
  CHECK_ERROR(write(tensor("t", "F32", {3}, floats)), "do not fit", "found 16");
  CHECK_ERROR(write(tensor("t", "F32", {5}, floats)), "do not fit");
  CHECK_ERROR(write(tensor("t", "F32", {0}, floats)), "do not fit");
  CHECK_ERROR(write(tensor<float>("t", "F32", {1}, {})), "do not fit");
  CHECK_ERROR(write(tensor("t", "F32", {-4}, floats)), "negative");
  CHECK_ERROR(write(tensor("t", "F32", {int64_t{1} << 62, 4}, floats)), "do not fit");
  CHECK_ERROR(write(tensor("\xFF", "F32", {4}, floats)), "cannot have this name");
  CHECK_ERROR(write(tensor("__metadata__", "F32", {4}, floats)), "cannot have this name");
  CHECK_ERROR(write_safetensors(path, {}, {{"key", "\x80"}}), "UTF-8", "key");
  const SafetensorsTensor twice[] = {tensor("t", "F32", {4}, floats), tensor("t", "F32", {4}, floats)};
  CHECK_ERROR(write_safetensors(path, twice), "tensor t", "there twice");
  CHECK_ERROR(write_safetensors(folder / "no/such/folder", {}), "no/such/folder");
  CHECK(std::filesystem::is_empty(folder.path()));
}
