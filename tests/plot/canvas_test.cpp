#include "plot/canvas.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>

#include <doctest/doctest.h>

#include "base/error.h"
#include "support/files.h"

using namespace orrery;
using orrery::test::TemporaryFolder;

namespace {

constexpr Colour kBlack = {0, 0, 0};
constexpr Colour kBlue = {0, 0, 255};

// The smallest box around all that is not white.
Box ink(const Canvas& canvas) {
  Box box = {1e9, 1e9, -1, -1};
  for (int row = 0; row < canvas.height(); ++row) {
    for (int column = 0; column < canvas.width(); ++column) {
      if (canvas.at(column, row) == kWhite) continue;
      box = {std::min<double>(box.left, column), std::min<double>(box.top, row),
             std::max<double>(box.right, column + 1), std::max<double>(box.bottom, row + 1)};
    }
  }
  return box;
}

bool is_blank(const Canvas& canvas) { return ink(canvas).right < 0; }

}  // namespace

TEST_CASE("plot: a canvas is white, and not of any size") {
  const Canvas canvas(3, 2);
  CHECK(canvas.pixels().size() == 6);
  CHECK(is_blank(canvas));
  CHECK_THROWS_AS(Canvas(0, 5), Error);
  CHECK_THROWS_AS(Canvas(5, -1), Error);
  CHECK_THROWS_AS(Canvas(20000, 5), Error);
}

TEST_CASE("plot: a filled box covers pixels by area") {
  Canvas canvas(4, 4);
  canvas.fill({1, 1, 2.5, 2}, kBlack);
  CHECK(canvas.at(1, 1) == kBlack);
  CHECK(canvas.at(2, 1) == Colour{128, 128, 128});
  CHECK(canvas.at(3, 1) == kWhite);
  CHECK(canvas.at(1, 2) == kWhite);
  CHECK(canvas.at(0, 1) == kWhite);
  canvas.fill({-9, 3, 99, 99}, kBlue, 0.2);
  CHECK(canvas.at(0, 3) == Colour{204, 204, 255});
  CHECK(canvas.at(3, 3) == Colour{204, 204, 255});
  canvas.fill({NAN, 0, 2, 2}, kBlack);
  CHECK(canvas.at(0, 0) == kWhite);
}

TEST_CASE("plot: a line of two pixels' width between pixels is sharp") {
  Canvas canvas(20, 9);
  const std::array<Point, 2> line = {{{4, 4}, {16, 4}}};
  canvas.stroke(line, {.colour = kBlack, .width = 2});
  for (int column = 4; column < 16; ++column) {
    CHECK(canvas.at(column, 2) == kWhite);
    CHECK(canvas.at(column, 3) == kBlack);
    CHECK(canvas.at(column, 4) == kBlack);
    CHECK(canvas.at(column, 5) == kWhite);
  }
  CHECK(canvas.at(1, 3) == kWhite);
  CHECK(canvas.at(18, 3) == kWhite);
}

TEST_CASE("plot: the ink of a slanted line is its length times its width") {
  Canvas canvas(200, 120);
  const std::array<Point, 2> line = {{{20.3, 15.1}, {180.2, 99.7}}};
  canvas.stroke(line, {.colour = kBlack, .width = 3});
  double area = 0;
  for (const Colour pixel : canvas.pixels()) area += (255 - pixel.red) / 255.0;
  const double length = std::hypot(180.2 - 20.3, 99.7 - 15.1);
  CHECK(area == doctest::Approx(3 * length + M_PI * 1.5 * 1.5).epsilon(0.01));  // with its round ends
}

TEST_CASE("plot: a see-through line gets no darker where it crosses itself") {
  Canvas canvas(20, 20);
  const std::array<Point, 4> cross = {{{10, 0}, {10, 20}, {0, 10}, {20, 10}}};
  canvas.stroke(cross, {.colour = kBlack, .width = 4, .opacity = 0.4});
  CHECK(canvas.at(10, 10) == Colour{153, 153, 153});
  CHECK(canvas.at(10, 2) == Colour{153, 153, 153});
  canvas.stroke(cross, {.colour = kBlack, .width = 4, .opacity = 0.4});
  CHECK(canvas.at(10, 10) == Colour{92, 92, 92});  // another stroke does
  // Half covered pixels stay half covered when the line comes back.
  const std::array<Point, 3> back = {{{2, 3}, {8, 3}, {2, 3}}};
  canvas.stroke(back, {.colour = kBlack});
  CHECK(canvas.at(5, 2) == Colour{128, 128, 128});
}

TEST_CASE("plot: gaps, lonely points and far points of a line") {
  Canvas canvas(30, 10);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double far = 1e300;
  const std::array<Point, 7> line = {{{2, 5}, {6, 5}, {8, nan}, {15, 5}, {nan, 5}, {20, 5}, {far, 5}}};
  canvas.stroke(line, {.colour = kBlack, .width = 2});
  CHECK(canvas.at(4, 5) == kBlack);
  CHECK(canvas.at(8, 5) == kWhite);
  CHECK(canvas.at(10, 5) == kWhite);
  CHECK(canvas.at(15, 5) != kWhite);
  CHECK(canvas.at(18, 5) == kWhite);
  CHECK(canvas.at(29, 5) == kBlack);
}

TEST_CASE("plot: dashes go on where the line bends") {
  Canvas canvas(60, 20);
  // 24 pixels to the right, then on in the same direction: dashes from 4, 16, 28, 40 on, each 8 long.
  const std::array<Point, 3> line = {{{4, 10}, {30, 10}, {56, 10}}};
  canvas.stroke(line, {.colour = kBlack, .width = 2, .dash = 8, .gap = 8});
  for (const int dash : {8, 24, 40}) CHECK(canvas.at(dash, 10) == kBlack);
  for (const int gap : {16, 32, 48}) CHECK(canvas.at(gap, 10) == kWhite);
}

TEST_CASE("plot: dashes of a very long line are cut, not counted") {
  Canvas canvas(60, 20);
  const std::array<Point, 2> line = {{{-1e12, 10}, {1e12, 10}}};
  canvas.stroke(line, {.colour = kBlack, .width = 2, .dash = 8, .gap = 8});
  CHECK_FALSE(is_blank(canvas));
}

TEST_CASE("plot: nothing is drawn outside the clip") {
  Canvas canvas(30, 30);
  canvas.clip_to({10, 12, 20, 18});
  const std::array<Point, 2> line = {{{0, 0}, {30, 30}}};
  canvas.stroke(line, {.width = 9});
  canvas.mark({10, 12}, Marker::circle, 12, kBlue);
  canvas.write("words", {0, 16}, {});
  canvas.fill({0, 0, 15, 15}, kBlack);
  const Box box = ink(canvas);
  CHECK(box.left == 10);
  CHECK(box.top == 12);
  CHECK(box.right == 20);
  CHECK(box.bottom == 18);
  canvas.clip_to_all();
  canvas.fill({0, 0, 1, 1}, kBlack);
  CHECK(canvas.at(0, 0) == kBlack);
}

TEST_CASE("plot: marks have their shapes") {
  for (size_t index = 0; index < 4; ++index) {
    Canvas canvas(40, 40);
    canvas.mark({20, 20}, series_marker(index), 20, kBlue);
    CHECK(canvas.at(20, 20) == kBlue);
    const Box box = ink(canvas);
    CHECK(std::abs(box.left + box.right - 40) <= 1);
    double area = 0;
    for (const Colour pixel : canvas.pixels()) area += (255 - pixel.red) / 255.0;
    CHECK(area > 200);
    CHECK(area < 340);
    // Near the corner of the surrounding square there is only the square, above the middle not the triangle's side.
    CHECK((canvas.at(27, 13) == kBlue) == (series_marker(index) == Marker::square));
    CHECK((canvas.at(28, 26) != kWhite) ==
          (series_marker(index) == Marker::square || series_marker(index) == Marker::triangle));
  }
  Canvas canvas(5, 5);
  canvas.mark({NAN, 2}, Marker::circle, 3, kBlue);
  CHECK(is_blank(canvas));
}

TEST_CASE("plot: words stand on their baseline, aligned as told") {
  const Words words = {.size = 12, .colour = kBlack};
  const double width = Canvas(1, 1).width_of("HELLO", words);
  CHECK(width > 50);
  CHECK(width < 60);
  for (const Align align : {Align::left, Align::center, Align::right}) {
    Canvas canvas(200, 60);
    Words aligned = words;
    aligned.align = align;
    canvas.write("HELLO", {100, 40}, aligned);
    const Box box = ink(canvas);
    const double left = align == Align::left ? 100 : align == Align::center ? 100 - width / 2 : 100 - width;
    CHECK(std::abs(box.left - left) <= 2);
    CHECK(std::abs(box.right - left - width) <= 2);
    CHECK(std::abs(box.top - (40 - 13)) <= 1);
    CHECK(std::abs(box.bottom - 40) <= 1);
  }
}

TEST_CASE("plot: upright words read from below") {
  Canvas canvas(60, 200);
  canvas.write("L", {40, 150}, {.size = 24, .is_upright = true});
  // The stem of the L lies on the bottom, its foot stands on the right.
  const Box box = ink(canvas);
  CHECK(std::abs(box.bottom - 150) <= 2);
  CHECK(std::abs(box.right - 40) <= 2);
  CHECK(box.width() > 1.5 * box.height());
  const auto is_ink = [&](double x, double y) { return canvas.at(static_cast<int>(x), static_cast<int>(y)) != kWhite; };
  CHECK(is_ink(box.left + 3, box.bottom - 3));
  CHECK(is_ink(box.right - 3, box.top + 3));
  CHECK_FALSE(is_ink(box.left + 3, box.top + 3));
}

TEST_CASE("plot: a PNG file appears whole or not at all") {
  const TemporaryFolder folder;
  const Canvas canvas(8, 8);
  CHECK_THROWS_AS(write_png(canvas, folder / "no/such/folder.png"), Error);
  CHECK(std::filesystem::is_empty(folder.path()));
  write_png(canvas, folder / "white.png");
  CHECK(orrery::test::file_bytes(folder / "white.png") == png_bytes(canvas));
}
