#include "units/formula.h"

#include <cmath>

#include <doctest/doctest.h>

#include "support/expect_error.h"
#include "units/unit.h"

using namespace orrery;

namespace {

std::string answer(const std::string& formula) { return evaluation_text(evaluate(formula)); }

std::string repeated(const std::string& piece, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += piece;
  return result;
}

}  // namespace

TEST_CASE("units: prefixes and what they are multiples of") {
  CHECK(evaluate("80 GB").value.value == 80e9);
  CHECK(evaluate("80 GiB").value.value == 80.0 * 1024 * 1024 * 1024);
  CHECK(evaluate("400 Gbit/s").value.value == 50e9);
  CHECK(evaluate("1 kWh").value.value == 3.6e6);
  CHECK(evaluate("1 PF-day").value.value == 8.64e19);
  CHECK(evaluate("3640 PFLOP/s").value.value == doctest::Approx(3.64e18));
  CHECK(evaluate("3640 PFLOPS").value.dimension == evaluate("1 FLOP/s").value.dimension);
  CHECK(evaluate("3640 PFLOPs").value.dimension == evaluate("1 FLOP").value.dimension);
  CHECK(evaluate("1 W").value.dimension == evaluate("1 J/s").value.dimension);
  CHECK(evaluate("3 min + 1 h").value.value == 3780);
  CHECK(evaluate("45%").value.value == doctest::Approx(0.45));
  for (const char* name : {"kib", "Gx", "KiW", "mmB", "", "PF", "dd"}) CHECK_FALSE(find_unit(name));
}

TEST_CASE("units: Chinese number words multiply") {
  CHECK(evaluate("2.1万亿").value.value == doctest::Approx(2.1e12));
  CHECK(evaluate("千万亿 FLOP/s").value.value == 1e15);
  CHECK(evaluate("1 百亿亿").value.value == doctest::Approx(1e18));
  CHECK(evaluate("千亿").value.value == 1e11);
  CHECK(evaluate("1750 亿").value.value == 1750e8);
  CHECK(answer("36e12 in 万亿") == "36 万亿");
  CHECK(answer("（3+4）× 2 ÷ 7") == "2");
  CHECK_ERROR(evaluate("10 兆"), "character 4", "1e6 in some places and 1e12 in others");
}

TEST_CASE("units: arithmetic binds as it does on paper") {
  CHECK(answer("1 + 2 * 3 ^ 2") == "19");
  CHECK(answer("-2 ^ 2") == "-4");
  CHECK(answer("2 ^ -3") == "0.125");
  CHECK(answer("2 ^ 3 ^ 2") == "512");
  CHECK(answer("10 - 4 - 3") == "3");
  CHECK(answer("100 / 10 / 5") == "2");
  CHECK(answer("2^30 B in MiB") == "1024 MiB");
  CHECK(answer("26 GB / 2039 GB/s") == "12.75 ms");  // the slash without spaces belongs to the unit,
  CHECK(answer("26 GB / 2 GB / s") == "13 1/s");     // the one with spaces divides
  CHECK(answer("min(3 GB, 4 GiB, 2000 MB)") == "2 GB");
  CHECK(answer("sqrt(16 B^2) + 1 B") == "5 B");
  CHECK(answer("log2(1024) + log10(1000) + log(exp(2)) + ceil(0.1) + floor(1.9) + abs(-1)") == "18");
}

TEST_CASE("units: worked examples come out as they do by hand") {
  CHECK(answer("6 * 175e9 * 300e9 FLOP in PF-day") == "3646 PF-day");  // 3.15e23 / 8.64e19
  CHECK(answer("512 * 400 W * 30 d in kWh") == "147,456 kWh");         // 512 * 0.4 * 720
  CHECK(answer("147456 kWh * 0.1 $/kWh") == "$14,746");
  CHECK(answer("$32.77/h * 24 h") == "$786");
  CHECK(answer("2 * 40 * 5120 * 2 B/token * 2048 token") == "1.678 GB");
  CHECK(answer("6 FLOP/token * 7e9 * 15e3 token/s / (8 * 312 TFLOP/s) in %") == "25.24%");
  CHECK(answer("5e-8") == "5e-8");
  CHECK(answer("0.3 mm / 1 ps in m/s") == "300,000,000 m/s");
}

TEST_CASE("units: amounts and rates do not mix, and the hint says why") {
  CHECK_ERROR(evaluate("1 FLOP + 1 FLOP/s"), "FLOP and FLOP/s", "FLOP is an amount, FLOP/s (FLOPS) a rate");
  CHECK_ERROR(evaluate("1 kWh - 1 kW"), "J and W", "kWh is energy, kW power");
  CHECK_ERROR(evaluate("max(1 GB, 1 GFLOP)"), "cannot be compared", "bytes store numbers");
  CHECK_ERROR(evaluate("1 TFLOPS + 1 TOPS"), "two figures");
  CHECK_ERROR(evaluate("3 + 1 GB"), "a plain number and B");
  CHECK_ERROR(evaluate("3 GB in kW"), "cannot be converted", "formula, character 9");
  CHECK_ERROR(evaluate("5 gb"), "no unit 'gb'", "GB is 1e9 bytes, GiB 2^30");
  CHECK_ERROR(evaluate("5 KWH"), "kWh is energy, kW power");
  CHECK_ERROR(evaluate("5 tflops"), "amount", "rate");
  CHECK_ERROR(evaluate("15k token"), "a prefix stands before a unit");
}

TEST_CASE("units: a hostile formula is one error, not a crash") {
  for (const std::string& formula : {repeated("(", 5000),      repeated("2^", 3000) + "2",
                                     repeated("max(", 2000),   repeated("-", 1000000) + "1",
                                     repeated("9", 400),       std::string("1/0"),
                                     std::string("1e308*10"),  std::string("0^-1"),
                                     std::string("exp(1000)"), std::string("1e308 EFLOP"),
                                     std::string("log(0)"),    std::string("sqrt(-1)"),
                                     std::string("sqrt(2 B)"), std::string("B^99999999999"),
                                     std::string("B^0.5"),     repeated("GB*", 500) + "1",
                                     std::string("nan"),       std::string("inf"),
                                     std::string("1,000"),     std::string("("),
                                     std::string(")"),         std::string("max(1"),
                                     std::string("min()"),     std::string("log(1,2)"),
                                     std::string("foo(1)"),    std::string("5 in"),
                                     std::string("in GB"),     std::string("5 GB 6"),
                                     std::string("\xff\xfe"),  std::string("1\0+1", 4),
                                     std::string(""),          std::string("5 in 0 B"),
                                     std::string("5 in 0"),    repeated("亿", 40)}) {
    CAPTURE(formula.substr(0, 30));
    CHECK_ERROR(evaluate(formula), "formula");
  }
  CHECK(answer(repeated("-", 9000) + "1") == "1");
  CHECK(answer(repeated("(", 90) + "1" + repeated(")", 90)) == "1");
  CHECK(answer(repeated("1+", 4900) + "1") == "4901");
}

TEST_CASE("units: every prefix of a formula is an answer or one error") {
  const std::string whole =
      "max(6 FLOP/token × 2.1万亿 * 300e9 token, $5^2 / 3 m^-2) / (1024 * 312 TFLOP/s) in PF-day/s";
  for (size_t length = 0; length <= whole.size(); ++length) {
    const std::string message = orrery::test::error_of([&] { evaluate(whole.substr(0, length)); });
    CHECK(message.find('\n') == std::string::npos);
  }
}

TEST_CASE("units: quantities in a unit that suits") {
  const auto shown = [](const char* formula) { return quantity_text(parse_quantity(formula)); };
  CHECK(shown("0.000128 s") == "128 us");
  CHECK(shown("4.4e6 s") == "50.93 d");
  CHECK(shown("999.999 MB") == "1 GB");
  CHECK(shown("3.14e23 FLOP") == "3.14e23 FLOP");
  CHECK(shown("989e12 FLOP/s") == "989 TFLOP/s");
  CHECK(shown("700 W") == "700 W");
  CHECK(shown("1.5e6 kWh") == "1.5 GWh");
  CHECK(shown("0 B") == "0 B");
  CHECK(shown("$0.0125") == "$0.0125");
  CHECK(shown("-3 GB") == "-3 GB");
  CHECK(shown("2 B/token") == "2 B/token");
  CHECK(significant(0.3333333) == "0.3333");
  CHECK(significant(99999.6) == "100,000");
  CHECK(significant(HUGE_VAL) == "inf");
  CHECK(scientific(1057142857143, 3) == "1.06e12");
  CHECK(scientific(0.5) == "5e-1");
  CHECK(scientific(-2) == "-2e0");
}
