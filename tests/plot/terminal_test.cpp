// How line figures look in a terminal.
#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "base/error.h"
#include "plot/line_figure.h"
#include "plot/terminal_frame.h"

using namespace orrery;

namespace {

LineFigure ten_by_one() {
  return {.title = "diagonal", .x = {"x", Scale::linear, 0, 10}, .y = {"y", Scale::linear, 0, 1}};
}

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

// The dots were worked out by hand: the dot in column c of 34 is in row 15.5 - 15 c / 33 of 16, rounded down.
TEST_CASE("plot: a line figure in a terminal") {
  LineFigure figure = ten_by_one();
  figure.series = {{.name = "line", .x = {0, 10}, .y = {0, 1}}};
  CHECK(terminal_text(figure, 20, 4) ==
        "   diagonal\n"
        "y\n"
        "1 ┤             ⣀⠤⠒⠉\n"
        "  │        ⢀⡠⠔⠒⠉\n"
        "  │    ⣀⠤⠔⠊⠁\n"
        "0 ┤⣀⠤⠒⠉\n"
        "  └┬───────┬───────┬\n"
        "   0       5      10\n"
        "           x\n"
        "   ⠒⠒ line\n");
}

TEST_CASE("plot: several series and levels in a terminal") {
  LineFigure figure = {.x = {"", Scale::linear, 0, 10}, .y = {"", Scale::linear, 0, 1}};
  figure.series = {{.name = "a", .x = {0, 10}, .y = {1, 1}},
                   {.name = "b", .x = {0, 5, 10}, .y = {1, 0, 0}, .style = Style::points},
                   {.name = "c", .x = {8, 10}, .y = {0, 0}},
                   {.name = "d", .x = {5, 6}, .y = {1, 1}, .style = Style::line_and_points}};
  figure.levels = {{"level", 0}};
  CHECK(terminal_text(figure, 20, 4) ==
        "1 ┤o⠉⠉⠉⠉⠉⠉⠉+⠉+⠉⠉⠉⠉⠉⠉\n"
        "  │\n"
        "  │\n"
        "0 ┤┄┄┄┄┄┄┄┄o┄┄┄┄xxxx\n"
        "  └┬───────┬───────┬\n"
        "   0       5      10\n"
        "   ⠒⠒ a   o b   xx c\n"
        "   + d   ┄┄ level\n");
}

TEST_CASE("plot: colours only when asked for") {
  LineFigure figure = ten_by_one();
  figure.title = "";
  figure.series = {{.name = "a", .x = {0, 10}, .y = {1, 1}}, {.name = "b", .x = {0, 10}, .y = {0, 0}}};
  figure.levels = {{"level", 0.5}};
  CHECK(count(terminal_text(figure, 40, 6), "\033") == 0);
  const std::string text = terminal_text(figure, 40, 6, true);
  CHECK(count(text, "\033[38;5;32m") == 2);  // in the field and in the legend
  CHECK(count(text, "\033[38;5;166m") == 2);
  CHECK(count(text, "\033[38;5;244m") == 2);
  CHECK(count(text, "\033[0m") == 6);
  CHECK(text.find("\033[38;5;166m⣀") != std::string::npos);
  CHECK(text.find("o") == std::string::npos);
}

TEST_CASE("plot: gaps and noise in a terminal") {
  LineFigure figure = ten_by_one();
  figure.series = {{.x = {0, 2, 4, 6, 10}, .y = {1, 1, NAN, 1, 1}}};
  CHECK(terminal_text(figure, 20, 4).find("1 ┤⠉⠉⠉⠉      ⠉⠉⠉⠉⠉⠉⠉\n") != std::string::npos);
  Series noisy = {.name = "noisy", .style = Style::noisy, .window = 3};
  for (int i = 0; i <= 3000; ++i) {
    noisy.x.push_back(i / 300.0);
    noisy.y.push_back(i % 3 == 0 ? 1.0 : 0.2);  // any three: 1.4 / 3
  }
  noisy.y[0] = noisy.y[3000] = 1.4 / 3;
  figure.series = {noisy};
  const std::string text = terminal_text(figure, 20, 4);
  CHECK(count(text, "⠉") + count(text, "⠒") + count(text, "⠤") + count(text, "⣀") >= 15);
  CHECK(text.find("1 ┤\n") != std::string::npos);
  CHECK(text.find("noisy (mean of 3)\n") != std::string::npos);
}

TEST_CASE("plot: an empty figure in a terminal") {
  CHECK(terminal_text({}, 20, 2) ==
        "  │\n"
        "0 ┤\n"
        "  └┬───────┬───────┬\n"
        "  0.0     0.5    1.0\n");
}

TEST_CASE("plot: words in a terminal are clean, and size has limits") {
  LineFigure figure = ten_by_one();
  figure.title = "a\033[2Jb";
  figure.series = {{.name = "\xff\n", .x = {1}, .y = {1}}};
  const std::string text = terminal_text(figure);
  CHECK(text.find('\033') == std::string::npos);
  CHECK(text.find("\\x1B") != std::string::npos);
  CHECK(text.find('\xff') == std::string::npos);
  CHECK_THROWS_AS(terminal_text(figure, 19, 10), Error);
  CHECK_THROWS_AS(terminal_text(figure, 2000, 10), Error);
  CHECK_THROWS_AS(terminal_text(figure, 72, 1), Error);
}

TEST_CASE("plot: moments and points in a terminal") {
  LineFigure figure = {.x = {"", Scale::linear, 0, 10}, .y = {"", Scale::linear, 0, 1}};
  figure.moments = {{"middle", 5}};
  figure.points = {{"corner", 10, 1}};
  CHECK(
      terminal_text(figure, 20, 3) ==
      "1 \u2524        \u250a       \u25c6\n"
      "  \u2502        \u250a\n"
      "0 \u2524        \u250a\n"
      "  \u2514\u252c\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u252c\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u252c\n"
      "   0       5      10\n"
      "   \u250a middle (5)\n"
      "   \u25c6 corner (10, 1)\n");
}

TEST_CASE("plot: a terminal's columns of words") {
  CHECK(n_columns("a\u00e9") == 2);
  CHECK(n_columns("\u4e2d\u6587") == 4);
  CHECK(n_columns("e\u0301") == 1);  // an accent stands above the letter before it
  CHECK(n_columns("\xff") == 1);
  CHECK(words("abcdef", 6) == "abcdef");
  CHECK(words("abcdefg", 6) == "abcd..");
  CHECK(words("\u4e2d\u6587\u4e2d\u6587", 7) == "\u4e2d\u6587..");
  CHECK(words("\u4e2d\u6587\u4e2d\u6587", 5) == "\u4e2d..");
  CHECK(words("a\033b") == "a\\x1Bb");
}
