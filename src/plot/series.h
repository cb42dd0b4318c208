// What a line figure is made of.
#pragma once

#include <string>
#include <vector>

namespace orrery {

enum class Style {
  line,
  dashed,
  points,
  line_and_points,  // few values: the line and a mark at each
  noisy,            // many values that jump: all of them pale, and their running mean as a line
};

struct Series {
  std::string name = {};
  std::vector<double> x = {};  // as many as y; they may go back and forth
  std::vector<double> y = {};  // NaN and infinite values are gaps
  Style style = Style::line;
  int window = 0;  // noisy: how many values the mean is over; 0: a fiftieth of them
};

// Each y becomes the mean of the finite values around it: `window` of them (one more if that is even), fewer near the
// ends, where as many are taken before as behind, so that a slope stays where it is. Gaps stay.
Series smoothed(const Series& series, int window);
// The window of a noisy series: odd, 1 to 1001.
int window_of(const Series& series);

}  // namespace orrery
