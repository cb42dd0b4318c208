#include "plot/gantt_figure.h"

#include <cmath>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include "base/error.h"
#include "plot/field_finder.h"

using namespace orrery;
using orrery::test::Drawing;

namespace {

constexpr Colour kIdle = {226, 226, 226};

GanttFigure two_workers() {
  return {.time = {.low = 0, .high = 10},
          .workers = {"one", "two"},
          .kinds = {"read", "write"},
          .blocks = {{0, 0, 5, "a", 0}, {1, 2, 4, "", 1}, {1, 6, 8, "b", 0}}};
}

}  // namespace

TEST_CASE("plot: blocks of a Gantt chart lie where their times say, and idle time is seen") {
  const Drawing drawing(drawn(two_workers()));
  CHECK(drawing.in_field(0.02, 0.75) == series_colour(0));
  CHECK(drawing.in_field(0.48, 0.75) == series_colour(0));
  CHECK(drawing.in_field(0.53, 0.75) == kIdle);
  CHECK(drawing.in_field(0.78, 0.75) == kIdle);
  CHECK(drawing.in_field(0.83, 0.75) == kWhite);  // after the last end
  CHECK(drawing.in_field(0.1, 0.25) == kIdle);
  CHECK(drawing.in_field(0.3, 0.25) == series_colour(1));
  CHECK(drawing.in_field(0.5, 0.25) == kIdle);
  CHECK(drawing.in_field(0.63, 0.25) == series_colour(0));
}

TEST_CASE("plot: labels stand in blocks that have room for them") {
  GanttFigure figure = two_workers();
  const int with = Drawing(drawn(figure)).count(series_colour(0));
  figure.blocks[0].label = "";
  const int without = Drawing(drawn(figure)).count(series_colour(0));
  CHECK(without > with + 20);
  figure.blocks[0].label = std::string(200, 'x');
  CHECK(Drawing(drawn(figure)).count(series_colour(0)) == without);
}

TEST_CASE("plot: a Gantt chart in a terminal") {
  GanttFigure figure = two_workers();
  figure.title = "work";
  figure.time.label = "s";
  figure.time.high = 14;
  CHECK(terminal_text(figure, 20) ==
        "     work\n"
        "one ┤██a██····\n"
        "two ┤··▒▒··█b█\n"
        "    └┬────┬────┬────\n"
        "     0    5   10\n"
        "            s\n"
        "     ██ read\n"
        "     ▒▒ write\n"
        "     ·· idle\n");
  const std::string text = terminal_text(figure, 20, true);
  CHECK(text.find("\033[48;5;32;38;5;16m  a  \033[0m") != std::string::npos);
  CHECK(text.find("\033[38;5;244m··\033[0m") != std::string::npos);
}

TEST_CASE("plot: the share of the time that a worker is busy") {
  GanttFigure figure = two_workers();
  figure.has_shares = true;
  figure.blocks.push_back({0, 3, 6, "", 1});  // one unit more: blocks that overlap count once
  const std::string text = terminal_text(figure, 60);
  CHECK(text.find("one (75% busy)") != std::string::npos);
  CHECK(text.find("two (50% busy)") != std::string::npos);
}

TEST_CASE("plot: Gantt charts of little, extreme and much data are drawn") {
  CHECK(drawn(GanttFigure{}).at(0, 0) == kWhite);
  CHECK_FALSE(terminal_text(GanttFigure{}).empty());
  const std::string long_name(3000, 'x');
  for (const double end : {0.0, 1e-320, 1.0, 1e280, 1.7e308}) {
    GanttFigure figure = {.title = long_name, .workers = {long_name, "\u6a21\u578b"}, .kinds = {long_name}};
    figure.blocks = {{0, 0, end, long_name}, {1, -end, 0, "\xff\033\u6a21"}};
    figure.moments = {{long_name, 0}, {"", NAN}};
    figure.has_shares = true;
    CHECK(drawn(figure).at(0, 0) == kWhite);
    CHECK_FALSE(terminal_text(figure).empty());
  }
  GanttFigure many = {.workers = std::vector<std::string>(10000, "w")};
  for (size_t i = 0; i < 10000; ++i) many.blocks.push_back({i, static_cast<double>(i), static_cast<double>(i + 20)});
  CHECK(drawn(many).height() == 2400);
}

TEST_CASE("plot: Gantt charts that cannot be drawn are an Error") {
  const auto throws = [](const Block& block, const char* words) {
    GanttFigure figure = two_workers();
    figure.blocks.push_back(block);
    CHECK_THROWS_WITH_AS(drawn(figure), doctest::Contains(words), Error);
    CHECK_THROWS_AS(terminal_text(figure), Error);
  };
  throws({2, 0, 1, "x"}, "worker 2");
  throws({0, 0, 1, "x", 2}, "kind 2");
  throws({0, 2, 1, "backwards"}, "backwards");
  throws({0, NAN, 1, "x"}, "nan");
  throws({0, 0, INFINITY, "x"}, "inf");
  GanttFigure figure = two_workers();
  figure.time.scale = Scale::logarithmic;
  CHECK_THROWS_AS(drawn(figure), Error);
}
