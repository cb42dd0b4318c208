#include "plot/sheet.h"

#include <algorithm>

namespace orrery {
namespace {

// Runs of one colour, so that a white margin is one box and not a thousand.
void copy_row(Canvas& sheet, const Canvas& figure, int row, int top) {
  for (int begin = 0, end = 0; begin < figure.width(); begin = end) {
    const Colour colour = figure.at(begin, row);
    while (end < figure.width() && figure.at(end, row) == colour) ++end;
    sheet.fill({.left = static_cast<double>(begin),
                .top = static_cast<double>(top + row),
                .right = static_cast<double>(end),
                .bottom = static_cast<double>(top + row + 1)},
               colour);
  }
}

}  // namespace

Canvas one_below_the_other(const std::vector<Canvas>& figures) {
  int width = 0, height = 0;
  for (const Canvas& figure : figures) {
    width = std::max(width, figure.width());
    height += figure.height();
  }
  Canvas sheet(width, height);
  int top = 0;
  for (const Canvas& figure : figures) {
    for (int row = 0; row < figure.height(); ++row) copy_row(sheet, figure, row, top);
    top += figure.height();
  }
  return sheet;
}

}  // namespace orrery
