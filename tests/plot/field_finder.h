// Where the axes of a drawn figure are: the longest lines in the colour of the axes.
#pragma once

#include <algorithm>

#include <doctest/doctest.h>

#include "plot/canvas.h"

namespace orrery::test {

struct FoundField {
  int left = 0, right = 0, top = 0, bottom = 0;  // pixels of the axes
};

// `at(column, row)` is the colour of a pixel.
template <class At>
FoundField find_field(int width, int height, At at) {
  FoundField field;
  int longest = 0;
  for (int row = 0; row < height; ++row) {
    int length = 0;
    for (int column = 0; column < width; ++column) length += at(column, row) == kInk;
    if (length >= longest) field.bottom = row;  // a line at zero lies higher
    longest = std::max(longest, length);
  }
  longest = 0;
  for (int column = 0; column < width; ++column) {
    int length = 0;
    for (int row = 0; row < height; ++row) length += at(column, row) == kInk;
    if (length > longest) field.left = column;
    longest = std::max(longest, length);
  }
  field.right = field.left;
  while (field.right + 1 < width && at(field.right + 1, field.bottom) == kInk) ++field.right;
  field.top = field.bottom;
  while (field.top > 0 && at(field.left, field.top - 1) == kInk) --field.top;
  return field;
}

// A figure on its canvas.
class Drawing {
 public:
  explicit Drawing(const Canvas& picture)
      : canvas(picture), field(find_field(picture.width(), picture.height(), [&](int column, int row) {
          return picture.at(column, row);
        })) {}

  // At a share of the field's width from its left and of its height from its bottom.
  Colour in_field(double x, double y) const {
    return canvas.at(static_cast<int>(field.left + 1 + x * (field.right - field.left)),
                     static_cast<int>(field.bottom - y * (field.bottom - field.top)));
  }
  int count(Colour colour) const {
    return static_cast<int>(std::count(canvas.pixels().begin(), canvas.pixels().end(), colour));
  }

  Canvas canvas;
  FoundField field;
};

}  // namespace orrery::test
