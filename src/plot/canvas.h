// A picture of pixels, and a pen with soft edges. All that is drawn outside the picture or the clip is cut off.
//
// Its background is white, not transparent: ink and palette are chosen for white, and a page may be dark. There a
// figure is a white card, whose margin keeps words away from its edge.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plot/colour.h"
#include "plot/geometry.h"
#include "plot/lettering.h"

namespace orrery {

struct Pen {
  Colour colour = kInk;
  double width = 1;    // pixels
  double opacity = 1;  // 0 to 1; where a line crosses itself it gets no darker
  double dash = 0;     // pixels of line, then pixels of gap; 0: no gaps
  double gap = 0;
};

enum class Align { left, center, right };  // which part of the text is at the given point

struct Words {
  double size = 9;  // height of a capital letter, pixels
  Colour colour = kInk;
  Align align = Align::left;
  bool is_bold = false;
  bool is_upright = false;  // turned a quarter to the left: reads from below
};

enum class Marker { circle, square, diamond, triangle };
Marker series_marker(size_t index);  // after four they come again

class Canvas {
 public:
  // White; throws Error unless both are 1 to 16384.
  Canvas(int width, int height, const Lettering& lettering = {});
  int width() const { return width_; }
  int height() const { return height_; }
  Colour at(int column, int row) const { return pixels_[static_cast<size_t>(row) * width_ + column]; }
  std::span<const Colour> pixels() const { return pixels_; }  // [height, width]

  void clip_to(const Box& box);  // from now on nothing is drawn outside
  void clip_to_all();

  void fill(const Box& box, Colour colour, double opacity = 1);
  void stroke(std::span<const Point> points, const Pen& pen);  // a point that is not finite is a gap in the line
  void mark(Point center, Marker marker, double size, Colour colour);  // as wide as a circle of `size` pixels
  void write(std::string_view text, Point baseline, const Words& words);
  double width_of(std::string_view text, const Words& words) const;  // pixels
  // The text, or as many of its first characters as leave room for "..." in `width` pixels.
  std::string shortened(std::string_view text, const Words& words, double width) const;

 private:
  int width_;
  int height_;
  Lettering lettering_;
  Box clip_;
  std::vector<Colour> pixels_;
  // How much of each pixel the pen has covered, 0 to 1, and where it has been: blend() puts that into the picture.
  std::vector<float> coverage_;
  int first_column_, first_row_, last_column_, last_row_;

  void cover(int column, int row, double share);
  void cover_line(Point from, Point to, double width);
  void cover_strokes(std::string_view letters, Point baseline, const Words& words);
  void cover_glyph(const Lettering::Piece& piece, Point baseline, const Words& words);
  void cover_dashes(Point from, Point to, const Pen& pen, double at);
  void blend(Colour colour, double opacity);
  void forget_coverage();
};

std::string png_bytes(const Canvas& canvas);
void write_png(const Canvas& canvas, const std::string& path);  // appears whole or not at all; throws Error

}  // namespace orrery
