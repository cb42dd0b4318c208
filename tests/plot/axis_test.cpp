#include "plot/axis.h"

#include <cmath>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include "base/error.h"

using namespace orrery;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// "0 0.5 1": the labels; a fine line is "'".
std::string labels(const std::vector<Tick>& ticks) {
  std::string text;
  for (const Tick& tick : ticks) text += (text.empty() ? "" : " ") + (tick.label.empty() ? "'" : tick.label);
  return text;
}

std::string linear(double low, double high, int at_most) {
  return labels(Axis(Scale::linear, low, high).ticks(at_most));
}
std::string logarithmic(double low, double high, int at_most) {
  return labels(Axis(Scale::logarithmic, low, high).ticks(at_most));
}

}  // namespace

TEST_CASE("plot: linear ticks are at 1, 2 or 5 times a power of ten") {
  CHECK(linear(0, 5000, 6) == "0 1000 2000 3000 4000 5000");
  CHECK(linear(0, 5000, 5) == "0 2000 4000");
  CHECK(linear(0, 1, 6) == "0.0 0.2 0.4 0.6 0.8 1.0");
  CHECK(linear(-1, 1, 5) == "-1.0 -0.5 0.0 0.5 1.0");
  CHECK(linear(0.9, 4.2, 4) == "1 2 3 4");
  CHECK(linear(0.9, 4.2, 7) == "1.0 1.5 2.0 2.5 3.0 3.5 4.0");
  CHECK(linear(-130, -90, 5) == "-130 -120 -110 -100 -90");
  CHECK(linear(0, 10, 1) == "0");
  CHECK(linear(0.031, 0.079, 5) == "0.04 0.05 0.06 0.07");
}

TEST_CASE("plot: tick labels are short and alike") {
  CHECK(linear(0, 12345, 7) == "0 2k 4k 6k 8k 10k 12k");
  CHECK(linear(0, 9999, 3) == "0 5000");
  CHECK(linear(0, 25000, 6) == "0 5k 10k 15k 20k 25k");
  CHECK(linear(0, 1.2e6, 4) == "0 0.5M 1.0M");
  CHECK(linear(1e6, 1005000, 3) == "1000k 1002k 1004k");
  CHECK(linear(1e6, 1000100, 3) == "1000000 1000050 1000100");
  CHECK(linear(0, 3e9, 4) == "0 1G 2G 3G");
  CHECK(linear(-2e12, 2e12, 5) == "-2T -1T 0 1T 2T");
  CHECK(linear(0, 2e-5, 5) == "0 5e-6 1e-5 1.5e-5 2e-5");
  CHECK(linear(-4e20, 4e20, 5) == "-4e20 -2e20 0 2e20 4e20");
  CHECK(linear(0, 0.001, 3) == "0.0000 0.0005 0.0010");
}

TEST_CASE("plot: ticks have no rounding errors of their own") {
  const std::vector<Tick> ticks = Axis(Scale::linear, 0, 0.75).ticks(8);
  REQUIRE(ticks.size() == 8);
  CHECK(ticks[3].value == 0.3);  // 3 * 0.1 is not
  CHECK(ticks[7].value == 0.7);
  CHECK_FALSE(std::signbit(Axis(Scale::linear, -1, 1).ticks(3)[1].value));
}

TEST_CASE("plot: logarithmic ticks are at powers of ten, with fine lines between") {
  CHECK(logarithmic(1, 100, 5) == "1 ' ' ' ' ' ' ' ' 10 ' ' ' ' ' ' ' ' 100");
  CHECK(logarithmic(0.5, 30, 5) == "' ' ' ' ' 1 ' ' ' ' ' ' ' ' 10 ' '");
  CHECK(logarithmic(1e-6, 1e4, 20) == "1e-6 1e-5 1e-4 1e-3 1e-2 1e-1 1 1e1 1e2 1e3 1e4");
  CHECK(logarithmic(1e-6, 1e4, 4) == "1e-6 ' ' 1e-3 ' ' 1 ' ' 1e3 '");
  CHECK(logarithmic(1e-3, 1e5, 9) == "0.001 0.01 0.1 1 10 100 1000 10k 100k");
  CHECK(Axis(Scale::logarithmic, 0.5, 30).ticks(5)[0].value == 0.5);
  CHECK(Axis(Scale::logarithmic, 0.5, 30).ticks(5)[5].value == 1);
}

TEST_CASE("plot: a logarithmic axis without two powers of ten has other ticks") {
  CHECK(logarithmic(1.5, 50, 6) == "2 5 10 20 50");
  CHECK(logarithmic(2, 8, 7) == "2 3 4 5 6 7 8");
  CHECK(logarithmic(1.2, 1.3, 6) == "1.20 1.22 1.24 1.26 1.28 1.30");
}

TEST_CASE("plot: short numbers") {
  CHECK(short_number(0) == "0");
  CHECK(short_number(0.05) == "0.05");
  CHECK(short_number(-1.5) == "-1.5");
  CHECK(short_number(1234) == "1234");
  CHECK(short_number(9999) == "9999");
  CHECK(short_number(9999.7) == "10k");
  CHECK(short_number(12345) == "12.35k");
  CHECK(short_number(999999) == "1M");
  CHECK(short_number(2e12) == "2T");
  CHECK(short_number(1e-5) == "1e-5");
  CHECK(short_number(2.5e20) == "2.5e20");
  CHECK(short_number(0.001) == "0.001");
  CHECK(short_number(NAN) == "nan");
  CHECK(short_number(-kInfinity) == "-inf");
}

TEST_CASE("plot: positions on an axis") {
  const Axis line(Scale::linear, -2, 6);
  CHECK(line.position(-2) == 0);
  CHECK(line.position(0) == 0.25);
  CHECK(line.position(6) == 1);
  CHECK(line.position(14) == 2);
  CHECK(line.position(1e300) == 1e6);
  CHECK(std::isnan(line.position(NAN)));
  CHECK(std::isnan(line.position(kInfinity)));
  const Axis decades(Scale::logarithmic, 0.01, 100);
  CHECK(decades.position(0.01) == 0);
  CHECK(decades.position(1) == doctest::Approx(0.5));
  CHECK(decades.position(10) == doctest::Approx(0.75));
  CHECK(std::isnan(decades.position(0)));
  CHECK(std::isnan(decades.position(-1)));
}

TEST_CASE("plot: an axis around data leaves a little room, but none beyond zero") {
  const Axis above = Axis::around({0, 3, NAN, 10, kInfinity}, {});
  CHECK(above.low() == 0);
  CHECK(above.high() == doctest::Approx(10.3));
  const Axis below = Axis::around({-10, -1}, {});
  CHECK(below.low() == doctest::Approx(-10.27));
  CHECK(below.high() == doctest::Approx(-0.73));
  CHECK(Axis::around({-1, 0}, {}).high() == 0);
  const Axis decades = Axis::around({-5, 0, 1, 100}, {.scale = Scale::logarithmic});
  CHECK(decades.low() == doctest::Approx(std::pow(10, -0.06)));
  CHECK(decades.high() == doctest::Approx(std::pow(10, 2.06)));
}

TEST_CASE("plot: an axis around nothing, one value and extreme values") {
  CHECK(Axis::around({}, {}).low() == 0);
  CHECK(Axis::around({NAN}, {.scale = Scale::logarithmic}).low() > 0);
  for (const Scale scale : {Scale::linear, Scale::logarithmic}) {
    for (const std::vector<double>& values : std::vector<std::vector<double>>{{},
                                                                              {0},
                                                                              {7},
                                                                              {-7},
                                                                              {1e-320},
                                                                              {1e308},
                                                                              {-1.7e308, 1.7e308},
                                                                              {1e-300, 1e300},
                                                                              {1, 1 + 1e-15},
                                                                              {5e-324, 1}}) {
      const Axis axis = Axis::around(values, {.scale = scale});
      CHECK(axis.low() < axis.high());
      for (const int at_most : {1, 2, 5, 10}) {
        int n = 0;
        for (const Tick& tick : axis.ticks(at_most)) {
          CHECK(axis.position(tick.value) >= -1e-6);
          CHECK(axis.position(tick.value) <= 1 + 1e-6);
          n += !tick.label.empty();
          CHECK(tick.label.size() <= 14);
        }
        CHECK(n <= at_most);
      }
    }
  }
  const Axis constant = Axis::around({7, 7, 7}, {});
  CHECK(constant.position(7) == doctest::Approx(0.5));
}

TEST_CASE("plot: an axis begins and ends where one says") {
  const Axis both = Axis::around({1, 2, 3}, {.low = -1, .high = 20});
  CHECK(both.low() == -1);
  CHECK(both.high() == 20);
  const Axis one = Axis::around({1, 2, 3}, {.low = 0});
  CHECK(one.low() == 0);
  CHECK(one.high() == doctest::Approx(3.06));
  CHECK(Axis::around({1, 2, 3}, {.low = 50}).high() > 50);
  CHECK(Axis::around({10, 20}, {.high = 5}).low() < 5);
  CHECK_THROWS_AS(Axis::around({1}, {.low = 3, .high = 3}), Error);
  CHECK_THROWS_AS(Axis::around({1}, {.low = 3, .high = 2}), Error);
  CHECK_THROWS_AS(Axis::around({1}, {.low = NAN}), Error);
  CHECK_THROWS_AS(Axis::around({1}, {.scale = Scale::logarithmic, .low = 0}), Error);
  CHECK_THROWS_AS(Axis(Scale::linear, 0, kInfinity), Error);
}

TEST_CASE("plot: ticks that fit") {
  const Axis axis(Scale::linear, 0, 100);
  const auto characters = [](std::string_view label) { return static_cast<double>(label.size()); };
  CHECK(labels(axis.ticks_that_fit(1000, 2, characters)) == "0 20 40 60 80 100");  // 11 would be more than ten
  // At 0, 12.5 and 25: between 50 and 100 lie 12.5, labels and gap take (2 + 3) / 2 + 10.
  CHECK(labels(axis.ticks_that_fit(25, 10, characters)) == "0 50 100");
  CHECK(labels(axis.ticks_that_fit(25, 10.1, characters)) == "0 100");
}
