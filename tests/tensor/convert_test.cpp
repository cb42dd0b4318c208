#include "tensor/convert.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "base/random.h"

using namespace orrery;

namespace {

// The list `key` of a file of reference values.
nlohmann::json numbers(const std::string& name, const char* key) {
  std::ifstream file(std::string(ORRERY_TEST_DATA) + "/numbers/" + name);
  REQUIRE_MESSAGE(file.good(), name);
  return nlohmann::json::parse(file).at(key);
}

uint32_t hex(const nlohmann::json& text) {
  return static_cast<uint32_t>(std::stoul(text.get<std::string>(), nullptr, 16));
}

template <class To, class From>
To converted(DType from, From value, DType to) {
  To result = {};
  convert_row(from, reinterpret_cast<const std::byte*>(&value), to, reinterpret_cast<std::byte*>(&result), 1);
  return result;
}

uint16_t f64_to_f16(double value) { return converted<uint16_t>(DType::F64, value, DType::F16); }
uint16_t f64_to_bf16(double value) { return converted<uint16_t>(DType::F64, value, DType::BF16); }

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("F16: the reference values") {
  for (const auto& pair : numbers("f16_to_f32.json", "pairs")) {
    CHECK(std::bit_cast<uint32_t>(f16_to_f32(static_cast<uint16_t>(hex(pair[0])))) == hex(pair[1]));
  }
  for (const auto& pair : numbers("f32_to_f16.json", "pairs")) {
    CAPTURE(pair.at("f32"));
    CHECK(f32_to_f16(std::bit_cast<float>(hex(pair.at("f32")))) == hex(pair.at("f16")));
  }
}

TEST_CASE("F16: all 65536 by the definition, and back") {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = f16_to_f32(half);
    const int exponent = static_cast<int>(bits >> 10 & 31);
    const double fraction = bits & 1023;
    if (exponent == 31 && fraction != 0) {
      REQUIRE(std::isnan(value));
      REQUIRE(std::isnan(f16_to_f32(f32_to_f16(value))));
      REQUIRE((f32_to_f16(value) & 0x8000) == (half & 0x8000));
      continue;
    }
    const double magnitude = exponent == 31  ? kInfinity
                             : exponent == 0 ? std::ldexp(fraction, -24)
                                             : std::ldexp(1024 + fraction, exponent - 25);
    REQUIRE(static_cast<double>(value) == (bits < 32768 ? magnitude : -magnitude));
    REQUIRE(std::signbit(value) == (bits >= 32768));
    REQUIRE(f32_to_f16(value) == half);
    REQUIRE(f64_to_f16(value) == half);
  }
}

// Between two neighbours the middle goes to the even one, and the least bit more or less decides: also the last bit of
// a double, which is lost on the way through a float.
TEST_CASE("F16: rounded once, from float and from double") {
  for (uint16_t low = 0; low < 0x7C00; ++low) {
    const auto high = static_cast<uint16_t>(low + 1);
    const double upper = high == 0x7C00 ? 65536 : f16_to_f32(high);  // where infinity would stand were it a number
    const double middle = (f16_to_f32(low) + upper) / 2;
    const uint16_t even = low % 2 == 0 ? low : high;
    const auto middle_float = static_cast<float>(middle);
    REQUIRE(static_cast<double>(middle_float) == middle);
    REQUIRE(f32_to_f16(middle_float) == even);
    REQUIRE(f32_to_f16(std::nextafter(middle_float, 1e9f)) == high);
    REQUIRE(f32_to_f16(std::nextafter(middle_float, -1e9f)) == low);
    REQUIRE(f64_to_f16(middle) == even);
    REQUIRE(f64_to_f16(std::nextafter(middle, kInfinity)) == high);
    REQUIRE(f64_to_f16(std::nextafter(middle, -kInfinity)) == low);
    REQUIRE(f64_to_f16(-std::nextafter(middle, kInfinity)) == (high | 0x8000));
    REQUIRE(f64_to_f16(-std::nextafter(middle, 0)) == (low | 0x8000));
  }
}

TEST_CASE("BF16: all 65536 and back, rounded once") {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto low = static_cast<uint16_t>(bits);
    const float value = bf16_to_f32(low);
    REQUIRE(std::bit_cast<uint32_t>(value) == bits << 16);
    if (std::isnan(value)) {
      REQUIRE(std::isnan(bf16_to_f32(f32_to_bf16(value))));
      continue;
    }
    REQUIRE(f32_to_bf16(value) == low);
    REQUIRE(f64_to_bf16(value) == low);
    if (std::isinf(value)) continue;
    // Away from zero, whatever the sign.
    const auto high = static_cast<uint16_t>(bits + 1);
    const uint16_t even = bits % 2 == 0 ? low : high;
    const auto middle = std::bit_cast<float>(bits << 16 | 0x8000);
    const double farther = std::copysign(kInfinity, middle);
    REQUIRE(f32_to_bf16(middle) == even);
    REQUIRE(f32_to_bf16(std::bit_cast<float>(bits << 16 | 0x8001)) == high);
    REQUIRE(f32_to_bf16(std::bit_cast<float>(bits << 16 | 0x7FFF)) == low);
    REQUIRE(f64_to_bf16(middle) == even);
    REQUIRE(f64_to_bf16(std::nextafter(static_cast<double>(middle), farther)) == high);
    REQUIRE(f64_to_bf16(std::nextafter(static_cast<double>(middle), 0)) == low);
  }
}

TEST_CASE("doubles beyond the other types") {
  CHECK(f64_to_f16(1e300) == 0x7C00);
  CHECK(f64_to_f16(-1e300) == 0xFC00);
  CHECK(f64_to_f16(1e-300) == 0);
  CHECK(f64_to_f16(-1e-300) == 0x8000);
  CHECK(f64_to_bf16(1e300) == 0x7F80);
  CHECK(f64_to_bf16(-1e-300) == 0x8000);
  CHECK(std::isnan(f16_to_f32(f64_to_f16(std::nan("")))));
  CHECK(std::isnan(bf16_to_f32(f64_to_bf16(std::nan("")))));
  CHECK(converted<float>(DType::F64, 1e300, DType::F32) == std::numeric_limits<float>::infinity());
  CHECK(converted<float>(DType::F64, 0.1, DType::F32) == 0.1f);
  CHECK(converted<double>(DType::F32, 0.1f, DType::F64) == static_cast<double>(0.1f));
}

TEST_CASE("Q8_0: the reference blocks") {
  for (const auto& reference : numbers("int8_blocks.json", "blocks")) {
    std::vector<float> x = reference.at("in");
    REQUIRE(x.size() == kQ8BlockElements);
    const Q8Block block = quantize_q8_block(std::span<const float, kQ8BlockElements>(x));
    CHECK(f16_to_f32(block.scale) == reference.at("d").get<float>());
    for (size_t i = 0; i < x.size(); ++i) CHECK(block.q[i] == reference.at("q")[i].get<int>());
  }
}

TEST_CASE("Q8_0: ties, ends and small numbers") {
  std::vector<float> x(kQ8BlockElements, 0.0f);
  const auto quantized = [&] { return quantize_q8_block(std::span<const float, kQ8BlockElements>(x)); };
  x[0] = -127;
  x[1] = 0.5f;
  x[2] = -0.5f;
  x[3] = 1.5f;
  x[4] = 2.49f;
  x[5] = 127;
  const Q8Block block = quantized();
  CHECK(f16_to_f32(block.scale) == 1);
  const int expected[] = {-127, 1, -1, 2, 2, 127, 0};
  for (int i = 0; i < 7; ++i) CHECK(block.q[i] == expected[i]);

  x.assign(kQ8BlockElements, 0.0f);
  x[7] = 1e-42f;  // a subnormal float: its scale has no inverse
  for (const int8_t q : quantized().q) CHECK(q == 0);
  x[7] = 127.0f * 65504.0f;
  CHECK(quantized().scale == 0x7BFF);
  CHECK(quantized().q[7] == 127);
}

TEST_CASE("Q8_0: a random row there and back is near") {
  Random random(7);
  constexpr int n = 4 * kQ8BlockElements;
  std::vector<float> x(n), back(n);
  for (float& value : x) value = static_cast<float>(random.normal());
  std::vector<Q8Block> blocks(4);
  const auto bytes = [](auto& values) { return reinterpret_cast<std::byte*>(values.data()); };
  convert_row(DType::F32, bytes(x), DType::Q8_0, bytes(blocks), n);
  convert_row(DType::Q8_0, bytes(blocks), DType::F32, bytes(back), n);
  for (size_t i = 0; i < x.size(); ++i) {
    const Q8Block& block = blocks[i / kQ8BlockElements];
    CHECK(back[i] == f16_to_f32(block.scale) * block.q[i % kQ8BlockElements]);
    CHECK(std::abs(back[i] - x[i]) <= 0.56f * f16_to_f32(block.scale));  // half a step, and the scale is rounded, too
  }
  std::vector<Q8Block> copied(4);
  convert_row(DType::Q8_0, bytes(blocks), DType::Q8_0, bytes(copied), n);
  CHECK(std::equal(bytes(blocks), bytes(blocks) + 4 * sizeof(Q8Block), bytes(copied)));
}

TEST_CASE("convert_row: bytes need not be aligned") {
  std::byte source[9] = {}, target[13] = {};
  const double value = 1.5;
  std::copy_n(reinterpret_cast<const std::byte*>(&value), 8, source + 1);
  convert_row(DType::F64, source + 1, DType::F16, target + 1, 1);
  convert_row(DType::F16, target + 1, DType::F32, target + 5, 1);
  float result = 0;
  std::copy_n(target + 5, 4, reinterpret_cast<std::byte*>(&result));
  CHECK(result == 1.5f);
}

TEST_CASE("DType: names and sizes") {
  CHECK(dtype_from_name("f16") == DType::F16);
  CHECK(dtype_from_name("BF16") == DType::BF16);
  CHECK(dtype_from_name("q8_0") == DType::Q8_0);
  CHECK_FALSE(dtype_from_name("q4_0").has_value());
  CHECK_FALSE(dtype_from_name("").has_value());
  for (const DType dtype : {DType::F32, DType::F16, DType::BF16, DType::F64, DType::Q8_0}) {
    CHECK(dtype_from_name(info(dtype).name) == dtype);
  }
  CHECK(bytes_of(DType::F64, 3) == 24);
  CHECK(bytes_of(DType::Q8_0, 64) == 68);
}
