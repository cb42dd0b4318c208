#include "files/npy_reader.h"

#include <cstring>

#include <doctest/doctest.h>

#include "support/expect_error.h"
#include "support/files.h"
#include "support/npy.h"

using namespace orrery;
using namespace orrery::test;

namespace {

NpyArray read(const std::string& bytes) {
  const TemporaryFolder folder;
  return read_npy(write_file(folder / "a.npy", bytes));
}

NpyArray read_header(const std::string& header, const std::string& data = "") {
  return read(npy_with_header(header, data));
}

}  // namespace

TEST_CASE("npy: an array as numpy.save wrote it") {
  // numpy.save(f, numpy.array([[1, 2, 3], [4, 5, -6]], numpy.float32)), byte by byte: a header of 118 bytes.
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  header.resize(117, ' ');
  const float numbers[] = {1, 2, 3, 4, 5, -6};
  const NpyArray array =
      read_header(header + "\n", std::string(reinterpret_cast<const char*>(numbers), sizeof numbers));
  CHECK(array.dtype == DType::F32);
  CHECK(array.shape == std::vector<int64_t>{2, 3});
  REQUIRE(array.data.size() == sizeof numbers);
  CHECK(std::memcmp(array.data.data(), numbers, sizeof numbers) == 0);
}

TEST_CASE("npy: types, versions and shapes") {
  CHECK(read(npy_file("<f8", "(3,)", {1, 2, 3}, 2)).dtype == DType::F64);
  CHECK(read(npy_file("<f8", "(3,)", {1, 2, 3}, 3)).shape == std::vector<int64_t>{3});
  CHECK(read_header("{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }", "abcd").dtype == DType::F16);
  CHECK(read_header("{'shape': (1), \"fortran_order\": False,'descr':'<f4'}", "abcd").shape.size() == 1);
  CHECK(read(npy_file("<f4", "()", {7})).shape.empty());
  CHECK(read(npy_file("<f4", "(0, 5)", {})).data.empty());
}

TEST_CASE("npy: broken and hostile files end in one line") {
  const std::string good = npy_file("<f4", "(2, 3)", {1, 2, 3, 4, 5, 6});
  for (size_t length = 1; length < good.size(); ++length) {
    CAPTURE(length);
    CHECK_ERROR(read(good.substr(0, length)), "a.npy");
  }
  CHECK_ERROR(read(good + "x"), "bytes follow the array");
  const auto shape = [](const std::string& text) { return read(npy_file("<f4", text, {1, 2, 3, 4, 5, 6})); };
  CHECK_ERROR(shape("(4611686018427387904, 4)"), "ends too early");  // their product is 0 in 64 bits
  CHECK_ERROR(shape("(99999999999999999999,)"), "header");
  CHECK_ERROR(shape("(0, 4611686018427387904, 99)"), "bytes follow");
  CHECK_ERROR(shape("(-1,)"), "header");
  CHECK_ERROR(shape("(2x3)"), "header");
  CHECK_ERROR(shape("[2, 3]"), "header");
  CHECK_ERROR(read_header("{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }", "12345678"), "<i8", "float32");
  CHECK_ERROR(read_header("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", "1234"), ">f4");
  CHECK_ERROR(read_header("{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }", "1234"), "Fortran");
  for (const char* header : {"", "{", "{}", "{'descr'", "{'descr': ", "{'descr': '<f4'}", "{'descr': '<f4' 'x': 1}",
                             "{'descr': '<f4', 'descr': '<f4'}", "[1, 2]", "{'shape': (1"}) {
    CAPTURE(header);
    CHECK_ERROR(read_header(header), "header");
  }
  CHECK_ERROR(read("PK\x03\x04 a zip file, as numpy.savez writes it"), "this is not a .npy file");
}
