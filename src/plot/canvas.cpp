#include "plot/canvas.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/utf8.h"
#include "plot/stroke_letters.h"

namespace orrery {
namespace {

constexpr int kLargestSide = 16384;

uint8_t mixed(uint8_t below, uint8_t above, double share) {
  return static_cast<uint8_t>(std::lround(below + (above - below) * share));
}

// How far a point is from a line from `from` to `to`, ends included.
double distance(Point point, Point from, Point to) {
  const double dx = to.x - from.x;
  const double dy = to.y - from.y;
  const double square = dx * dx + dy * dy;
  const double along = (point.x - from.x) * dx + (point.y - from.y) * dy;
  const Point nearest = between(from, to, square > 0 ? std::clamp(along / square, 0.0, 1.0) : 0);
  return std::hypot(point.x - nearest.x, point.y - nearest.y);
}

// How far a point lies outside a shape around the origin; negative inside. The shapes have about the same area.
double outside(Marker marker, Point point, double radius) {
  const double x = std::abs(point.x);
  const double y = point.y;
  switch (marker) {
    case Marker::square: return std::max(x, std::abs(y)) - 0.9 * radius;
    case Marker::diamond: return (x + std::abs(y)) / std::sqrt(2) - 0.9 * radius;
    // One edge below, two edges that meet above at an angle of 60 degrees.
    case Marker::triangle: return std::max(y, x * std::sqrt(0.75) - y * 0.5) - 0.72 * radius;
    case Marker::circle: break;
  }
  return std::hypot(x, y) - radius;
}

}  // namespace

Marker series_marker(size_t index) {
  constexpr Marker kMarkers[] = {Marker::circle, Marker::square, Marker::diamond, Marker::triangle};
  return kMarkers[index % std::size(kMarkers)];
}

Canvas::Canvas(int width, int height, const Lettering& lettering)
    : width_(width), height_(height), lettering_(lettering) {
  if (std::min(width, height) < 1 || std::max(width, height) > kLargestSide) {
    throw Error({.what = "a picture of this size cannot be drawn",
                 .expected = "1 to " + std::to_string(kLargestSide) + " pixels each way",
                 .found = std::to_string(width) + " x " + std::to_string(height)});
  }
  pixels_.assign(static_cast<size_t>(width) * height, kWhite);
  coverage_.assign(pixels_.size(), 0);
  clip_to_all();
  forget_coverage();
}

void Canvas::clip_to_all() { clip_ = {0, 0, static_cast<double>(width_), static_cast<double>(height_)}; }

void Canvas::clip_to(const Box& box) {
  clip_to_all();
  clip_ = {std::max(clip_.left, std::floor(box.left)), std::max(clip_.top, std::floor(box.top)),
           std::min(clip_.right, std::ceil(box.right)), std::min(clip_.bottom, std::ceil(box.bottom))};
}

void Canvas::forget_coverage() {
  first_column_ = width_;
  first_row_ = height_;
  last_column_ = last_row_ = -1;
}

void Canvas::cover(int column, int row, double share) {
  if (!(share > 0)) return;  // nor where it is NaN
  float& pixel = coverage_[static_cast<size_t>(row) * width_ + column];
  pixel = std::max(pixel, static_cast<float>(std::min(share, 1.0)));
  first_column_ = std::min(first_column_, column);
  last_column_ = std::max(last_column_, column);
  first_row_ = std::min(first_row_, row);
  last_row_ = std::max(last_row_, row);
}

void Canvas::blend(Colour colour, double opacity) {
  for (int row = first_row_; row <= last_row_; ++row) {
    for (int column = first_column_; column <= last_column_; ++column) {
      const size_t at = static_cast<size_t>(row) * width_ + column;
      const double share = coverage_[at] * std::clamp(opacity, 0.0, 1.0);
      coverage_[at] = 0;
      Colour& pixel = pixels_[at];
      pixel = {mixed(pixel.red, colour.red, share), mixed(pixel.green, colour.green, share),
               mixed(pixel.blue, colour.blue, share)};
    }
  }
  forget_coverage();
}

void Canvas::fill(const Box& box, Colour colour, double opacity) {
  const Box seen = {std::max(box.left, clip_.left), std::max(box.top, clip_.top), std::min(box.right, clip_.right),
                    std::min(box.bottom, clip_.bottom)};
  if (!(seen.left < seen.right && seen.top < seen.bottom)) return;
  for (int row = static_cast<int>(seen.top); row < seen.bottom; ++row) {
    const double tall = std::min(row + 1.0, seen.bottom) - std::max<double>(row, seen.top);
    for (int column = static_cast<int>(seen.left); column < seen.right; ++column) {
      cover(column, row, tall * (std::min(column + 1.0, seen.right) - std::max<double>(column, seen.left)));
    }
  }
  blend(colour, opacity);
}

// A line with round ends. In each row only the pixels that it may touch are looked at.
void Canvas::cover_line(Point from, Point to, double width) {
  const double reach = width / 2 + 0.5;
  const double strength = std::min(width, 1.0);
  const Visible part =
      visible_part(from, to, {clip_.left - reach, clip_.top - reach, clip_.right + reach, clip_.bottom + reach});
  if (part.is_empty()) return;
  const Point begin = between(from, to, part.begin);
  const Point end = between(from, to, part.end);
  const int first_row = static_cast<int>(std::max(clip_.top, std::floor(std::min(begin.y, end.y) - reach)));
  const double last_y = std::min(clip_.bottom, std::max(begin.y, end.y) + reach);
  for (int row = first_row; row < last_y; ++row) {
    const double y = row + 0.5;
    double one = 0;
    double other = 1;
    if (begin.y != end.y) {
      one = std::clamp((y - reach - begin.y) / (end.y - begin.y), 0.0, 1.0);
      other = std::clamp((y + reach - begin.y) / (end.y - begin.y), 0.0, 1.0);
    }
    const double x_one = between(begin, end, one).x;
    const double x_other = between(begin, end, other).x;
    const int first = static_cast<int>(std::max(clip_.left, std::floor(std::min(x_one, x_other) - reach)));
    const double last = std::min(clip_.right, std::max(x_one, x_other) + reach);
    for (int column = first; column < last; ++column) {
      cover(column, row, strength * (reach - distance({column + 0.5, y}, begin, end)));
    }
  }
}

// `at`: how many pixels of dashes and gaps came before `from`.
void Canvas::cover_dashes(Point from, Point to, const Pen& pen, double at) {
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  const Visible part = visible_part(from, to, clip_);
  if (part.is_empty() || length == 0) return;
  const double period = pen.dash + pen.gap;
  const double begin = part.begin * length;
  const double end = part.end * length;
  for (double dash = begin - std::fmod(at + begin, period); dash < end; dash += period) {
    const double dash_begin = std::max(begin, dash);
    const double dash_end = std::min(end, dash + pen.dash);
    if (dash_begin < dash_end) {
      cover_line(between(from, to, dash_begin / length), between(from, to, dash_end / length), pen.width);
    }
  }
}

void Canvas::stroke(std::span<const Point> points, const Pen& pen) {
  double at = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    const Point point = points[i];
    if (!is_finite(point)) continue;
    const bool is_joined = i > 0 && is_finite(points[i - 1]);
    if (!is_joined) {
      at = 0;
      if (i + 1 == points.size() || !is_finite(points[i + 1])) cover_line(point, point, pen.width);  // it stands alone
    } else if (pen.dash > 0 && pen.gap > 0) {
      cover_dashes(points[i - 1], point, pen, at);
      at += std::hypot(point.x - points[i - 1].x, point.y - points[i - 1].y);
    } else {
      cover_line(points[i - 1], point, pen.width);
    }
  }
  blend(pen.colour, pen.opacity);
}

void Canvas::mark(Point center, Marker marker, double size, Colour colour) {
  const double reach = size;  // no shape is wider
  const Box seen = {std::max(clip_.left, center.x - reach), std::max(clip_.top, center.y - reach),
                    std::min(clip_.right, center.x + reach), std::min(clip_.bottom, center.y + reach)};
  if (!(seen.left < seen.right && seen.top < seen.bottom)) return;
  for (int row = static_cast<int>(seen.top); row < seen.bottom; ++row) {
    for (int column = static_cast<int>(seen.left); column < seen.right; ++column) {
      const Point point = {column + 0.5 - center.x, row + 0.5 - center.y};
      cover(column, row, 0.5 - outside(marker, point, size / 2));
    }
  }
  blend(colour, 1);
}

// `baseline`: the left edge of the first letter.
void Canvas::cover_strokes(std::string_view letters, Point baseline, const Words& words) {
  const double unit = words.size / 6;
  const double width = pen_width(words.size, words.is_bold);
  // The pen's middle follows the strokes; on half pixels a line of one pixel's width is sharp.
  const double half = width / 2;
  const Point origin = words.is_upright ? Point{std::floor(baseline.x) - 0.5, std::round(baseline.y - half) + 0.5}
                                        : Point{std::round(baseline.x + half) + 0.5, std::floor(baseline.y) - 0.5};
  const auto placed = [&](Point point) {
    return words.is_upright ? Point{origin.x + point.y * unit, origin.y - point.x * unit}
                            : Point{origin.x + point.x * unit, origin.y + point.y * unit};
  };
  for (const Stroke& stroke : letter_strokes(letters)) cover_line(placed(stroke.from), placed(stroke.to), width);
}

void Canvas::cover_glyph(const Lettering::Piece& piece, Point baseline, const Words& words) {
  const double along = words.is_upright ? -baseline.y : baseline.x;
  const double pen = std::floor(along);
  const Font::Bitmap bitmap = piece.font->bitmap(piece.glyph, words.size, along - pen);
  // Where no bold font has the letter, it is drawn twice.
  const int n_times = words.is_bold && !piece.font->is_bold() ? 2 : 1;
  const double second = std::max(1.0, std::round(words.size / 14));
  for (int row = 0; row < bitmap.height; ++row) {
    for (int column = 0; column < bitmap.width; ++column) {
      const double share = bitmap.coverage[static_cast<size_t>(row) * bitmap.width + column] / 255.0;
      for (int time = 0; time < n_times; ++time) {
        const double right = pen + bitmap.left + column + time * second;
        const double below = bitmap.top + row;
        const double x = words.is_upright ? std::round(baseline.x) + below : right;
        const double y = words.is_upright ? -right - 1 : std::round(baseline.y) + below;
        if (x < clip_.left || x + 1 > clip_.right || y < clip_.top || y + 1 > clip_.bottom) continue;
        cover(static_cast<int>(x), static_cast<int>(y), share);
      }
    }
  }
}

void Canvas::write(std::string_view text, Point baseline, const Words& words) {
  if (!is_finite(baseline)) return;
  const double share = words.align == Align::left ? 0 : words.align == Align::center ? 0.5 : 1;
  const double shift = -share * width_of(text, words);
  for (const Lettering::Piece& piece : lettering_.pieces(text, words.size, words.is_bold)) {
    Point at = baseline;
    (words.is_upright ? at.y : at.x) += (words.is_upright ? -1 : 1) * (shift + piece.x);
    if (piece.font == nullptr) cover_strokes(piece.letters, at, words);
    if (piece.font != nullptr) cover_glyph(piece, at, words);
  }
  blend(words.colour, 1);
}

double Canvas::width_of(std::string_view text, const Words& words) const {
  return lettering_.width(text, words.size, words.is_bold);
}

std::string Canvas::shortened(std::string_view text, const Words& words, double width) const {
  if (width_of(text, words) <= width) return std::string(text);
  // The longest beginning is found by halving: texts may be very long.
  std::vector<size_t> ends = {0};
  while (ends.back() < text.size()) {
    ends.push_back(ends.back() + std::max<size_t>(1, utf8_length(text.substr(ends.back()))));
  }
  const auto with_dots = [&](size_t n) { return std::string(text.substr(0, ends[n])) + "..."; };
  size_t fits = 0;
  size_t too_many = ends.size();
  while (too_many - fits > 1) {
    const size_t middle = (fits + too_many) / 2;
    (width_of(with_dots(middle), words) <= width ? fits : too_many) = middle;
  }
  return with_dots(fits);
}

}  // namespace orrery
