// Points and boxes of figures, in pixels (or in a terminal's dots): x to the right, y down. The pixel in column 3 of
// row 5 covers x from 3 to 4 and y from 5 to 6.
#pragma once

#include <vector>

namespace orrery {

struct Point {
  double x = 0;
  double y = 0;
};

struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
  double width() const { return right - left; }
  double height() const { return bottom - top; }
};

bool is_finite(Point point);

// The part of a line that lies in a box: from `begin` to `end`, both between 0 (the line's start) and 1 (its end).
struct Visible {
  double begin = 0;
  double end = 1;
  bool is_empty() const { return begin > end; }
};
// Liang and Barsky's way (ACM Transactions on Graphics 3, 1984). Empty where a coordinate is not finite.
Visible visible_part(Point from, Point to, const Box& box);
Point between(Point from, Point to, double share);

// Of points that follow each other in one column (x from 3 to 4, say) only the first, the lowest, the highest and the
// last: lines through them cover what lines through all would, in far less time. Points that are not finite stay.
std::vector<Point> thinned(const std::vector<Point>& points);

}  // namespace orrery
