#include "plot/heat_map.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/format.h"
#include "plot/frame_layout.h"
#include "plot/heat_map_parts.h"

namespace orrery {
namespace {

constexpr Words kPanelWords = {.size = 15, .is_bold = true};
constexpr double kBetween = 26;  // panels
constexpr double kBarWidth = 20;
constexpr double kHighest = 64;  // of a cell, where the height is not given
constexpr double kWidest = 2.2;  // of a cell, as a part of its height

struct Plan {
  size_t across = 1;
  size_t down = 1;
  double left = 0, right = 0, top = 0, bottom = 0;  // where the panels with their titles lie
  double title = 0;                                 // height above each panel
  double cell_width = 0, cell_height = 0;
  double below = 0;  // height of the names below the lowest panels
  int height = 0;    // of the picture

  Box panel(const HeatMap& figure, size_t index) const {
    const double width = cell_width * static_cast<double>(figure.n_columns);
    const double height_of_cells = cell_height * static_cast<double>(figure.n_rows);
    const double x = std::round(left + static_cast<double>(index % across) * (width + kBetween));
    const double y =
        std::round(top + static_cast<double>(index / across) * (height_of_cells + kBetween + title) + title);
    return {x, y, std::round(x + width), std::round(y + height_of_cells)};
  }
};

size_t n_across(const HeatMap& figure) {
  const size_t n = std::max<size_t>(1, figure.panels.size());
  if (figure.n_across > 0) return std::min(n, static_cast<size_t>(figure.n_across));
  const bool is_wide = figure.n_columns > 2 * figure.n_rows;
  const double best = std::ceil(std::sqrt(static_cast<double>(n) * (is_wide ? 0.5 : 1.5)));
  return std::min(n, std::clamp<size_t>(static_cast<size_t>(best), 1, is_wide ? 2 : 4));
}

double label_size(const std::string& label) { return label.empty() ? 0 : kLabelWords.size + kGap; }

// What the names take does not depend on the cells, except whether names below the panels stand upright.
Plan planned(const Canvas& measure, const HeatMap& figure, double numbers_width) {
  Plan plan;
  plan.across = n_across(figure);
  plan.down = (std::max<size_t>(1, figure.panels.size()) + plan.across - 1) / plan.across;
  const double names = figure.row_names.empty()
                           ? 0
                           : side_of_names(measure, figure.row_names, 1e9, figure.width * 0.25, true).depth + kGap;
  plan.left = kMargin + label_size(figure.rows_label) + names;
  plan.right =
      figure.width - kMargin -
      (figure.has_colour_bar ? kBetween + kBarWidth + kTickLength + 5 + numbers_width + label_size(figure.values.label)
                             : 0);
  plan.top = kMargin + (figure.title.empty() ? 0 : kTitleWords.size + 16);
  const bool has_titles = std::any_of(figure.panels.begin(), figure.panels.end(),
                                      [](const HeatMapPanel& panel) { return !panel.title.empty(); });
  plan.title = has_titles ? kPanelWords.size + 11 : 0;
  const double across = static_cast<double>(plan.across);
  const double down = static_cast<double>(plan.down);
  const double columns = std::max<double>(1, static_cast<double>(figure.n_columns));
  const double rows = std::max<double>(1, static_cast<double>(figure.n_rows));
  const double room = (plan.right - plan.left - (across - 1) * kBetween) / across;
  plan.cell_width = room / columns;
  if (!figure.column_names.empty()) {
    plan.below =
        side_of_names(measure, figure.column_names, std::max(1.0, room), 150, false).depth + kTickLength + kGap;
  }
  const double rest =
      plan.top + down * plan.title + (down - 1) * kBetween + plan.below + label_size(figure.columns_label) + kMargin;
  plan.cell_height = figure.height != 0 ? (figure.height - rest) / (down * rows)
                                        : std::min({plan.cell_width, kHighest, 1800 / (down * rows)});
  plan.cell_width = std::min(plan.cell_width, std::max(kWidest * plan.cell_height, 140 / columns));
  plan.right = plan.left + across * columns * plan.cell_width + (across - 1) * kBetween;
  plan.bottom = plan.top + down * (rows * plan.cell_height + plan.title) + (down - 1) * kBetween;
  plan.height = figure.height != 0
                    ? figure.height
                    : static_cast<int>(
                          std::max(plan.bottom + rest - plan.top - down * plan.title - (down - 1) * kBetween, 160.0));
  return plan;
}

void draw_cross(Canvas& canvas, const Box& box) {
  const double size = std::min({box.width(), box.height(), 24.0}) * 0.35;
  const Point at = {(box.left + box.right) / 2, (box.top + box.bottom) / 2};
  const Point lines[] = {{at.x - size, at.y - size},
                         {at.x + size, at.y + size},
                         {at.x, NAN},
                         {at.x - size, at.y + size},
                         {at.x + size, at.y - size}};
  canvas.stroke(lines, {.colour = series_colour(1), .width = 2});
}

// Numbers must find room in each cell, else there are none.
double number_size(const Canvas& canvas, const HeatMap& figure, const HeatMapPanel& panel, const Plan& plan) {
  constexpr double kSmallest = 11;
  for (double size = kNumberWords.size; size >= kSmallest; size -= 0.5) {
    double widest = 0;
    for (const double value : panel.values) {
      if (std::isfinite(value))
        widest = std::max(widest, canvas.width_of(fixed(value, figure.decimals), {.size = size}));
    }
    if (widest + 8 <= plan.cell_width && size * 1.4 <= plan.cell_height) return size;
  }
  return 0;
}

void draw_panel(Canvas& canvas, const HeatMap& figure, const HeatMapPanel& panel, const Plan& plan, const Box& box,
                const Axis& axis) {
  if (!panel.title.empty()) {
    canvas.write(canvas.shortened(panel.title, kPanelWords, std::max(box.width(), 60.0)), {box.left, box.top - 9},
                 kPanelWords);
  }
  const Blocks blocks(figure, panel, axis, static_cast<size_t>(box.height()), static_cast<size_t>(box.width()));
  const bool is_apart = std::min(plan.cell_width, plan.cell_height) >= 12;  // a white line between cells
  const bool may_have_numbers = figure.has_numbers && blocks.columns() == figure.n_columns && plan.cell_width > 20;
  const double size = may_have_numbers ? number_size(canvas, figure, panel, plan) : 0;
  for (size_t row = 0; row < blocks.rows(); ++row) {
    for (size_t column = 0; column < blocks.columns(); ++column) {
      const std::optional<double> value = blocks.at(row, column);
      if (!value) continue;
      const auto x = [&](size_t c) {
        return std::round(box.left + box.width() * static_cast<double>(c) / static_cast<double>(blocks.columns()));
      };
      const auto y = [&](size_t r) {
        return std::round(box.top + box.height() * static_cast<double>(r) / static_cast<double>(blocks.rows()));
      };
      const double gap = is_apart ? 1 : 0;
      const Box cell = {x(column), y(row), x(column + 1) - gap, y(row + 1) - gap};
      if (!can_show(axis.scale(), *value)) {
        draw_cross(canvas, cell);
        continue;
      }
      const Colour colour = mapped(figure.colours, share_of(axis, *value));
      canvas.fill(cell, colour);
      if (size == 0) continue;
      canvas.write(fixed(*value, figure.decimals),
                   {(cell.left + cell.right) / 2, (cell.top + cell.bottom) / 2 + size / 2},
                   {.size = size, .colour = words_on(colour), .align = Align::center});
    }
  }
  const Point outline[] = {{box.left - 0.5, box.top - 0.5},
                           {box.right + 0.5, box.top - 0.5},
                           {box.right + 0.5, box.bottom + 0.5},
                           {box.left - 0.5, box.bottom + 0.5},
                           {box.left - 0.5, box.top - 0.5}};
  canvas.stroke(outline, {.colour = kGrid});
}

void draw_colour_bar(Canvas& canvas, const HeatMap& figure, const Plan& plan, const Axis& axis) {
  const double left = std::round(plan.right + kBetween);
  const double top = std::round(plan.top + plan.title);
  const double bottom = std::round(std::max(plan.bottom, top + 60));
  for (double y = top; y < bottom; ++y) {
    canvas.fill({left, y, left + kBarWidth, y + 1}, mapped(figure.colours, (bottom - y - 0.5) / (bottom - top)));
  }
  const auto size_of = [](std::string_view) { return kNumberWords.size; };
  double widest = 0;
  for (const Tick& tick : axis.ticks_that_fit(bottom - top, 24, size_of)) {
    if (tick.label.empty()) continue;
    const double y = sharp(bottom - axis.position(tick.value) * (bottom - top));
    const Point line[] = {{left + kBarWidth, y}, {left + kBarWidth + kTickLength, y}};
    canvas.stroke(line, {.colour = kQuiet});
    canvas.write(tick.label, {left + kBarWidth + kTickLength + 5, y + kNumberWords.size / 2}, kNumberWords);
    widest = std::max(widest, canvas.width_of(tick.label, kNumberWords));
  }
  Words label = kLabelWords;
  label.align = Align::center;
  label.is_upright = true;
  canvas.write(canvas.shortened(figure.values.label, label, canvas.height() - 2 * kMargin),
               {left + kBarWidth + kTickLength + 5 + widest + kGap + label.size, (top + bottom) / 2}, label);
}

void draw_words(Canvas& canvas, const HeatMap& figure, const Plan& plan) {
  canvas.write(canvas.shortened(figure.title, kTitleWords, canvas.width() - 2 * kMargin),
               {kMargin, kMargin + kTitleWords.size}, kTitleWords);
  Words label = kLabelWords;
  label.align = Align::center;
  canvas.write(canvas.shortened(figure.columns_label, label, plan.right - kMargin),
               {(plan.left + plan.right) / 2, plan.bottom + plan.below + kGap + label.size}, label);
  label.is_upright = true;
  canvas.write(canvas.shortened(figure.rows_label, label, plan.bottom - plan.top),
               {kMargin + label.size, (plan.top + plan.bottom) / 2}, label);
}

}  // namespace

Canvas drawn(const HeatMap& figure, const Lettering& lettering) {
  check(figure);
  const Axis axis = values_axis(figure);
  const Canvas measure(1, 1, lettering);
  double numbers_width = 0;
  for (const Tick& tick : axis.ticks(8)) {
    numbers_width = std::max(numbers_width, measure.width_of(tick.label, kNumberWords));
  }
  const Plan plan = planned(measure, figure, numbers_width);
  const Box first = plan.panel(figure, 0);
  if (figure.n_rows > 0 && figure.n_columns > 0 && !(std::min(first.width(), first.height()) >= 16)) {
    throw Error({.what = "the picture is too small for the heat map",
                 .found = std::to_string(figure.width) + " x " + std::to_string(plan.height) + " pixels",
                 .hint = "make it larger, or the names shorter"});
  }
  Canvas canvas(figure.width, plan.height, lettering);
  for (size_t i = 0; i < figure.panels.size() && figure.n_rows > 0 && figure.n_columns > 0; ++i) {
    const Box box = plan.panel(figure, i);
    draw_panel(canvas, figure, figure.panels[i], plan, box, axis);
    if (i % plan.across == 0 && !figure.row_names.empty()) {
      const FrameAxis names = axis_of_names("", figure.row_names);
      write_beside(canvas, box, names.axis,
                   side_of_names(canvas, names.names, box.height(), figure.width * 0.25, true));
    }
    if (i + plan.across >= figure.panels.size() && !figure.column_names.empty()) {
      const FrameAxis names = axis_of_names("", figure.column_names);
      write_below(canvas, box, names.axis, side_of_names(canvas, names.names, box.width(), 150, false));
    }
  }
  if (figure.has_colour_bar) draw_colour_bar(canvas, figure, plan, axis);
  draw_words(canvas, figure, plan);
  return canvas;
}

void write_png(const HeatMap& figure, const std::string& path, const Lettering& lettering) {
  write_png(drawn(figure, lettering), path);
}

}  // namespace orrery
