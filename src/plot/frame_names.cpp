// Where the names of moments and of marked points stand in a field.
#include <algorithm>
#include <cmath>

#include "plot/frame.h"

namespace orrery {
namespace {

bool overlaps(const Box& one, const Box& other) {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}

// The first of the boxes that lies in the field and hides no other one; else the first.
Box free_one(const std::vector<Box>& boxes, const Box& field, const std::vector<Box>& taken) {
  for (const Box& box : boxes) {
    const bool is_inside =
        box.left >= field.left && box.right <= field.right && box.top >= field.top && box.bottom <= field.bottom;
    const bool is_free =
        std::none_of(taken.begin(), taken.end(), [&](const Box& other) { return overlaps(box, other); });
    if (is_inside && is_free) return box;
  }
  return boxes.front();
}

// Where the name of a point may stand: to the right of it, to the left, above, below.
std::vector<Box> around(Point point, double width, double height) {
  constexpr double kAway = 10;
  const double top = point.y - height / 2;
  const double left = point.x - width / 2;
  return {{point.x + kAway, top, point.x + kAway + width, top + height},
          {point.x - kAway - width, top, point.x - kAway, top + height},
          {left, point.y - kAway - height, left + width, point.y - kAway},
          {left, point.y + kAway, left + width, point.y + kAway + height},
          {point.x + kAway, point.y + 4, point.x + kAway + width, point.y + 4 + height},
          {point.x + kAway, point.y - 4 - height, point.x + kAway + width, point.y - 4}};
}

// Beside a vertical line, at the top, or as far below as other names make it go.
std::vector<Box> beside(double x, const Box& field, double width, double height) {
  std::vector<Box> boxes;
  for (double top = field.top + 4; top + height < field.bottom; top += height + 4) {
    boxes.push_back({x + 7, top, x + 7 + width, top + height});
    boxes.push_back({x - 7 - width, top, x - 7, top + height});
  }
  return boxes;
}

}  // namespace

void draw_names(Canvas& canvas, const Field& field, const std::vector<Moment>& moments,
                const std::vector<MarkedPoint>& points) {
  constexpr double kPadding = 3;
  constexpr double kPointSize = 12;
  std::vector<Box> taken;
  const auto write = [&](const std::string& name, const std::vector<Box>& boxes) {
    const Box box = free_one(boxes, field.box, taken);
    taken.push_back(box);
    canvas.fill(box, kWhite, 0.8);
    canvas.write(name, {box.left + kPadding, box.bottom - kPadding - 1}, kNameWords);
  };
  const auto width_of = [&](const std::string& name) { return canvas.width_of(name, kNameWords) + 2 * kPadding; };
  const double height = kNameWords.size + 2 * kPadding + 2;
  std::vector<Point> marks;
  for (const MarkedPoint& point : points) {
    const Point at = field.at(point.x, point.y);
    marks.push_back(visible_part(at, at, field.box).is_empty() ? Point{NAN, NAN} : at);
    if (is_finite(marks.back())) taken.push_back({at.x - 7, at.y - 7, at.x + 7, at.y + 7});
  }
  for (const Moment& moment : moments) {
    const double x = field.at(moment.x, field.y.low()).x;
    taken.push_back({x - 1, field.box.top, x + 1, field.box.bottom});
  }
  for (const Moment& moment : moments) {
    const Point at = field.at(moment.x, field.y.low());
    const bool is_seen = is_finite(at) && at.x >= field.box.left && at.x <= field.box.right;
    const std::string name = canvas.shortened(moment.name, kNameWords, field.box.width() * 0.45);
    if (is_seen && !name.empty()) write(name, beside(at.x, field.box, width_of(name), height));
  }
  for (size_t i = 0; i < marks.size(); ++i) {
    if (!is_finite(marks[i])) continue;
    const std::string name = canvas.shortened(points[i].name, kNameWords, field.box.width() * 0.45);
    if (!name.empty()) write(name, around(marks[i], width_of(name), height));
    canvas.mark(marks[i], Marker::circle, kPointSize + 3, kWhite);
    canvas.mark(marks[i], Marker::circle, kPointSize, kInk);
  }
}

}  // namespace orrery
