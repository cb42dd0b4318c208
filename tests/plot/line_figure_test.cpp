#include "plot/line_figure.h"

#include <cmath>
#include <filesystem>
#include <memory>

#include <doctest/doctest.h>

#include "base/error.h"
#include "plot/field_finder.h"
#include "support/files.h"

// Decodes PNG with code that has nothing to do with the code that wrote it.
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#include <stb/stb_image.h>

using namespace orrery;
using orrery::test::TemporaryFolder;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A decoded picture and where its axes are.
class Picture {
 public:
  explicit Picture(const std::string& path) : pixels_(stbi_load(path.c_str(), &width, &height, &channels, 3), free) {
    REQUIRE(pixels_ != nullptr);
    const test::FoundField field =
        test::find_field(width, height, [&](int column, int row) { return at(column, row); });
    left = field.left;
    right = field.right;
    top = field.top;
    bottom = field.bottom;
  }

  Colour at(int column, int row) const {
    const unsigned char* pixel = pixels_.get() + 3 * (static_cast<ptrdiff_t>(row) * width + column);
    return {pixel[0], pixel[1], pixel[2]};
  }
  // At a share of the field's width from its left and of its height from its bottom.
  Colour in_field(double x, double y) const {
    return at(static_cast<int>(left + 1 + x * (right - left)), static_cast<int>(bottom - y * (bottom - top)));
  }
  int count(int first_row, int end_row, int first_column, int end_column, Colour colour) const {
    int n = 0;
    for (int row = first_row; row < end_row; ++row) {
      for (int column = first_column; column < end_column; ++column) n += at(column, row) == colour;
    }
    return n;
  }
  int n_in_field(Colour colour) const { return count(top, bottom, left + 1, right + 1, colour); }

  int width = 0, height = 0, channels = 0;
  int left = 0, right = 0, top = 0, bottom = 0;  // pixels of the axes

 private:
  std::unique_ptr<unsigned char, void (*)(void*)> pixels_;
};

Picture picture_of(const LineFigure& figure) {
  const TemporaryFolder folder;
  write_png(figure, folder / "figure.png", Lettering());
  return Picture(folder / "figure.png");
}

// Both axes from 0 to 10.
LineFigure ten_by_ten() {
  return {.title = "Title", .x = {"across", Scale::linear, 0, 10}, .y = {"up", Scale::linear, 0, 10}};
}

}  // namespace

TEST_CASE("plot: a line figure's PNG has the curve where the data is") {
  LineFigure figure = ten_by_ten();
  figure.series = {{.name = "curve", .x = {0, 5, 10}, .y = {2.5, 7.5, 7.5}},
                   {.name = "other", .x = {1, 9}, .y = {1, 1}}};
  const Picture picture = picture_of(figure);
  CHECK(picture.width == 960);
  CHECK(picture.height == 540);
  CHECK(picture.channels == 3);
  CHECK(picture.at(0, 0) == kWhite);
  CHECK(picture.at(959, 539) == kWhite);
  CHECK(picture.in_field(0.25, 0.5) == series_colour(0));
  CHECK(picture.in_field(0.5, 0.75) == series_colour(0));
  CHECK(picture.in_field(0.9, 0.75) == series_colour(0));
  CHECK(picture.in_field(0.31, 0.1) == series_colour(1));
  CHECK(picture.in_field(0.05, 0.1) != series_colour(1));
  CHECK(picture.in_field(0.95, 0.1) != series_colour(1));
  CHECK(picture.in_field(0.07, 0.93) == kWhite);
  // The grid: ticks are 0, 2, ... 10, or closer.
  CHECK(picture.in_field(0.4, 0.93) == kGrid);
  CHECK(picture.in_field(0.93, 0.4) == kGrid);
}

TEST_CASE("plot: title, labels, numbers and legend leave ink where they belong") {
  LineFigure figure = ten_by_ten();
  figure.series = {{.name = "curve", .x = {0, 10}, .y = {2, 7}}, {.name = "", .x = {0, 10}, .y = {3, 8}}};
  figure.levels = {{"level", 5}};
  const Picture all = picture_of(figure);
  const auto n_ink = [](const Picture& picture, int first_row, int end_row, int first_column, int end_column) {
    const int n = (end_row - first_row) * (end_column - first_column);
    return n - picture.count(first_row, end_row, first_column, end_column, kWhite);
  };
  const int below = all.bottom + 6;
  CHECK(n_ink(all, 15, 36, all.left, 200) > 100);            // title
  CHECK(n_ink(all, 40, all.top, all.left + 36, 200) > 100);  // a name in the legend
  CHECK(all.count(40, all.top, all.left, all.left + 36, series_colour(0)) > 30);
  CHECK(all.count(40, all.top, 0, all.width, series_colour(1)) == 0);       // no name, no entry
  CHECK(all.count(40, all.top, 0, all.width, kQuiet) > 10);                 // the level's dashes
  CHECK(n_ink(all, all.top, all.bottom, 18, 32) > 30);                      // name of the y axis
  CHECK(n_ink(all, below, below + 17, all.left - 10, all.left + 10) > 10);  // the number 0
  CHECK(n_ink(all, 505, 525, 400, 600) > 50);                               // name of the x axis
  figure.title = figure.x.label = figure.y.label = figure.series[0].name = figure.levels[0].name = "";
  const Picture bare = picture_of(figure);
  CHECK(bare.bottom - bare.top > all.bottom - all.top + 50);
  CHECK(bare.right - bare.left > all.right - all.left + 15);
}

TEST_CASE("plot: a level crosses the whole field, in dashes") {
  LineFigure figure = ten_by_ten();
  figure.levels = {{"half", 5}};
  const Picture picture = picture_of(figure);
  int n = 0;
  for (int column = picture.left; column < picture.right; ++column) {
    n += picture.at(column, (picture.top + picture.bottom) / 2).red < 180;
  }
  CHECK(n > 0.5 * (picture.right - picture.left));
  CHECK(n < 0.8 * (picture.right - picture.left));
}

TEST_CASE("plot: values outside the axes stay outside the field") {
  LineFigure figure = ten_by_ten();
  figure.series = {{.x = {-5, 15}, .y = {-5, 15}}, {.x = {-3, 5, 5}, .y = {5, 13, 1e308}, .style = Style::points}};
  const Picture picture = picture_of(figure);
  CHECK(picture.in_field(0.3, 0.3) == series_colour(0));
  CHECK(picture.n_in_field(series_colour(0)) == picture.count(0, 540, 0, 960, series_colour(0)));
  CHECK(picture.count(0, 540, 0, 960, series_colour(1)) == 0);
}

TEST_CASE("plot: a mark at the edge of the field is whole") {
  LineFigure figure = ten_by_ten();
  figure.series = {{.x = {0, 5}, .y = {5, 5}, .style = Style::points}};
  const Picture picture = picture_of(figure);
  const int middle = picture.left + (picture.right - picture.left) / 2;
  const int edge = picture.count(0, 540, picture.left - 20, picture.left + 20, series_colour(0));
  CHECK(edge > 20);
  CHECK(std::abs(edge - picture.count(0, 540, middle - 20, middle + 20, series_colour(0))) <= 8);
}

TEST_CASE("plot: NaN and infinite values are gaps") {
  LineFigure figure = ten_by_ten();
  figure.series = {{.x = {0, 3, 5, 7, 10}, .y = {5.3, 5.3, kNan, 5.3, 5.3}},
                   {.x = {1, 3, INFINITY, 7, 9}, .y = {2.3, 2.3, 2.3, 2.3, 2.3}, .style = Style::line_and_points}};
  const Picture picture = picture_of(figure);
  CHECK(picture.in_field(0.13, 0.53) == series_colour(0));
  CHECK(picture.in_field(0.87, 0.53) == series_colour(0));
  CHECK(picture.in_field(0.13, 0.23) == series_colour(1));
  for (const double x : {0.35, 0.45, 0.55, 0.65}) {
    CHECK(picture.in_field(x, 0.53) == kWhite);
    CHECK(picture.in_field(x, 0.23) == kWhite);
  }
}

TEST_CASE("plot: on a logarithmic axis powers of ten are equally far apart") {
  LineFigure figure = {.x = {"", Scale::logarithmic, 1, 10000}, .y = {"", Scale::logarithmic, 0.01, 100}};
  figure.series = {{.x = {1, 10, 100, 1000, 10000}, .y = {0.01, 1, 1, 0, 1}}};
  const Picture picture = picture_of(figure);
  CHECK(picture.in_field(0.25, 0.5) == series_colour(0));
  CHECK(picture.in_field(0.125, 0.25) == series_colour(0));
  CHECK(picture.in_field(0.4, 0.5) == series_colour(0));
  CHECK(picture.in_field(0.7, 0.5) != series_colour(0));  // zero cannot be shown
}

TEST_CASE("plot: a noisy series is pale, its mean is not") {
  LineFigure figure = ten_by_ten();
  Series noisy = {.name = "noisy", .style = Style::noisy};
  for (int i = 0; i <= 20000; ++i) {
    noisy.x.push_back(i / 2000.0);
    noisy.y.push_back(i % 2 == 0 ? 3 : 7);
  }
  figure.series = {noisy};
  const Picture picture = picture_of(figure);
  CHECK(picture.in_field(0.53, 0.5) == series_colour(0));
  const Colour pale = picture.in_field(0.53, 0.6);
  CHECK(pale.red > 140);
  CHECK(pale.red < 220);
  CHECK(pale.blue > pale.red);
  CHECK(picture.in_field(0.53, 0.75) == kWhite);
}

TEST_CASE("plot: the same figure gives the same bytes, another one others") {
  LineFigure figure = ten_by_ten();
  figure.series = {{.name = "a", .x = {1, 2, 3}, .y = {1, 8, 3}, .style = Style::dashed}};
  const std::string bytes = png_bytes(drawn(figure));
  CHECK(bytes == png_bytes(drawn(figure)));
  figure.series[0].y[1] = 8.1;
  CHECK(bytes != png_bytes(drawn(figure)));
}

TEST_CASE("plot: figures of little or extreme data are drawn") {
  const std::vector<Series> cases = {{},
                                     {.x = {3}, .y = {4}},
                                     {.x = {kNan}, .y = {4}},
                                     {.x = {1, 2, 3}, .y = {7, 7, 7}},
                                     {.x = {1, 1, 1}, .y = {0, 0, 0}},
                                     {.x = {-1, 2}, .y = {-5, -6}},
                                     {.x = {1, 2, 3, 4}, .y = {1e-300, 1e300, -1.7e308, 1.7e308}},
                                     {.x = {1e-320, 1e15}, .y = {5e-324, 1}},
                                     {.x = {1, 2}, .y = {INFINITY, -INFINITY}}};
  for (Series series : cases) {
    for (const Style style : {Style::line, Style::dashed, Style::points, Style::line_and_points, Style::noisy}) {
      for (const Scale scale : {Scale::linear, Scale::logarithmic}) {
        series.style = style;
        series.name = "s";
        const LineFigure figure = {
            .x = {"x", scale}, .y = {"y", scale}, .series = {series}, .width = 300, .height = 200};
        const Canvas canvas = drawn(figure);
        CHECK(canvas.at(0, 0) == kWhite);
        CHECK(terminal_text(figure, 30, 5).find("s\n") != std::string::npos);
      }
    }
  }
  // One point is seen, in the middle.
  CHECK(picture_of({.series = {{.x = {3}, .y = {4}}}}).in_field(0.5, 0.5) != kWhite);
  CHECK(picture_of({.series = {{.x = {1, 2}, .y = {7, 7}}}}).in_field(0.55, 0.5) == series_colour(0));
}

TEST_CASE("plot: what cannot be drawn is an Error") {
  const LineFigure uneven = {.series = {{.name = "uneven", .x = {1, 2}, .y = {1}}}};
  CHECK_THROWS_WITH_AS(drawn(uneven), doctest::Contains("uneven"), Error);
  CHECK_THROWS_AS(terminal_text(uneven), Error);
  CHECK_THROWS_AS(drawn({.width = 60, .height = 40}), Error);
  CHECK_THROWS_AS(drawn({.width = -1}), Error);
  CHECK_THROWS_AS(drawn({.x = {.low = 1, .high = 1}}), Error);
  const TemporaryFolder folder;
  CHECK_THROWS_AS(write_png(LineFigure{}, folder / "missing/figure.png"), Error);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("plot: moments cross the field, points are marked, and names stand beside them") {
  LineFigure figure = ten_by_ten();
  figure.moments = {{"here", 5}};
  figure.points = {{"there", 2, 8}, {"", 20, 20}, {"nowhere", kNan, 3}};
  const Picture picture = picture_of(figure);
  int n = 0;
  for (int row = picture.top; row < picture.bottom; ++row) {
    n += picture.at((picture.left + picture.right + 1) / 2, row).red < 180;
  }
  CHECK(n > 0.4 * (picture.bottom - picture.top));
  CHECK(n < 0.8 * (picture.bottom - picture.top));
  CHECK(picture.in_field(0.2, 0.8) == kInk);
  const int middle = picture.left + (picture.right - picture.left) / 2;
  CHECK(picture.count(picture.top, picture.top + 40, middle + 4, middle + 90, kInk) > 30);
  const int at = picture.left + (picture.right - picture.left) / 5;
  const int row = picture.bottom - (picture.bottom - picture.top) * 4 / 5;
  CHECK(picture.count(row - 12, row + 12, at + 12, at + 100, kInk) > 30);
  // Points that cannot be shown leave nothing.
  const std::string bytes = png_bytes(drawn(figure));
  figure.points.resize(1);
  CHECK(png_bytes(drawn(figure)) == bytes);
}

TEST_CASE("plot: an axis reaches as far as its moments and points") {
  LineFigure figure;
  figure.series = {{.x = {1, 2}, .y = {1, 2}}};
  figure.moments = {{"late", 50}};
  figure.points = {{"high", 3, 40}};
  const std::string text = terminal_text(figure, 40, 6);
  CHECK(text.find("late (50)") != std::string::npos);
  CHECK(text.find("high (3, 40)") != std::string::npos);
  CHECK(text.find("40 \u2524") != std::string::npos);
  CHECK(text.find(" 40 ") != std::string::npos);
}
