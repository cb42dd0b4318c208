#include "plot/gantt_figure.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/format.h"
#include "plot/character_field.h"
#include "plot/frame.h"
#include "plot/terminal_frame.h"

namespace orrery {
namespace {

constexpr Colour kIdle = {226, 226, 226};
constexpr int kIdleColour = 244;
constexpr const char* kIdleMark = "\u00b7";

void check(const GanttFigure& figure) {
  if (figure.time.scale == Scale::logarithmic) {
    throw Error({.what = "the time of a Gantt chart must be linear", .where = figure.title});
  }
  for (size_t i = 0; i < figure.blocks.size(); ++i) {
    const Block& block = figure.blocks[i];
    const std::string where = "block number " + std::to_string(i) + (block.label.empty() ? "" : ", " + block.label);
    if (block.worker >= figure.workers.size() || (!figure.kinds.empty() && block.kind >= figure.kinds.size())) {
      throw Error({.what = "a block of a Gantt chart has no worker or no kind",
                   .where = where,
                   .expected = std::to_string(figure.workers.size()) + " workers and " +
                               std::to_string(figure.kinds.size()) + " kinds",
                   .found = "worker " + std::to_string(block.worker) + ", kind " + std::to_string(block.kind)});
    }
    if (!(std::isfinite(block.start) && std::isfinite(block.end) && block.start <= block.end)) {
      throw Error({.what = "a block of a Gantt chart must start before it ends",
                   .where = where,
                   .found = short_number(block.start) + " to " + short_number(block.end)});
    }
  }
}

struct Span {
  double start = 0;
  double end = 0;
};

Span whole_of(const GanttFigure& figure) {
  if (figure.blocks.empty()) return {};
  Span whole = {figure.blocks[0].start, figure.blocks[0].end};
  for (const Block& block : figure.blocks) {
    whole = {std::min(whole.start, block.start), std::max(whole.end, block.end)};
  }
  return whole;
}

Axis time_axis(const GanttFigure& figure) {
  const Span whole = whole_of(figure);
  std::vector<double> times;
  for (const Moment& moment : figure.moments) times.push_back(moment.x);
  AxisOptions options = figure.time;
  if (!figure.blocks.empty()) {
    times.push_back(whole.start);
    times.push_back(whole.end);
    const Axis around = Axis::around(times, {});
    // Blocks begin at the edge of the field.
    if (!options.low && whole.start < whole.end && figure.moments.empty()) options.low = whole.start;
    if (!options.high && options.low && !(around.high() > *options.low)) options.high = {};
  }
  return Axis::around(times, options);
}

// Overlapping blocks count once.
std::vector<double> busy_shares(const GanttFigure& figure) {
  const Span whole = whole_of(figure);
  std::vector<std::vector<Span>> spans(figure.workers.size());
  for (const Block& block : figure.blocks) spans[block.worker].push_back({block.start, block.end});
  std::vector<double> shares;
  for (std::vector<Span>& of_worker : spans) {
    std::sort(of_worker.begin(), of_worker.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
    double busy = 0;
    double end = whole.start;
    for (const Span& span : of_worker) {
      busy += std::max(0.0, span.end - std::max(end, span.start));
      end = std::max(end, span.end);
    }
    shares.push_back(whole.end > whole.start ? busy / (whole.end - whole.start) : 0);
  }
  return shares;
}

std::vector<std::string> names_of(const GanttFigure& figure) {
  std::vector<std::string> names = figure.workers;
  const std::vector<double> shares = busy_shares(figure);
  for (size_t i = 0; i < names.size() && figure.has_shares; ++i) {
    names[i] += " (" + fixed(100 * shares[i], 0) + "% busy)";
  }
  return names;
}

std::vector<LegendEntry> legend_of(const GanttFigure& figure) {
  std::vector<LegendEntry> legend;
  for (size_t i = 0; i < figure.kinds.size(); ++i) {
    if (!figure.kinds[i].empty()) legend.push_back(filled_entry(figure.kinds[i], series_colour(i)));
  }
  if (!legend.empty()) legend.push_back(filled_entry("idle", kIdle));
  return legend;
}

void draw_block(Canvas& canvas, const Field& field, const Block& block) {
  constexpr double kPadding = 4;
  constexpr Words kBlockWords = {.size = 13.5, .align = Align::center};
  Box box = field.row(block.worker, 0.78);
  box.left = field.at(block.start, 0).x;
  box.right = field.at(block.end, 0).x;
  // A gap between blocks that follow each other; one of no length is still seen.
  if (box.width() > 3) box.right -= 1;
  if (box.width() < 1) box.right = box.left + 1;
  canvas.fill(box, series_colour(block.kind));
  const double left = std::max(box.left, field.box.left);
  const double right = std::min(box.right, field.box.right);
  Words words = kBlockWords;
  words.size = std::min(words.size, box.height() * 0.6);
  while (words.size > 11 && canvas.width_of(block.label, words) + kPadding > right - left) words.size -= 0.5;
  if (block.label.empty() || words.size < 8 || canvas.width_of(block.label, words) + kPadding > right - left) return;
  words.colour = words_on(series_colour(block.kind));
  canvas.write(block.label, {(left + right) / 2, (box.top + box.bottom) / 2 + words.size / 2}, words);
}

// One worker's characters in a terminal.
class TerminalRow {
 public:
  TerminalRow(const GanttFigure& figure, const Axis& time, size_t worker, int columns)
      : figure_(figure), cells_(static_cast<size_t>(columns)) {
    const Span whole = whole_of(figure);
    const auto column_of = [&](double when) { return time.position(when) * columns; };
    for (int column = 0; column < columns && !figure.blocks.empty(); ++column) {
      const double middle = column + 0.5;
      if (middle >= column_of(whole.start) && middle < column_of(whole.end))
        cells_[static_cast<size_t>(column)].is_idle = true;
    }
    for (size_t i = 0; i < figure.blocks.size(); ++i) {
      const Block& block = figure.blocks[i];
      if (block.worker != worker) continue;
      const double begin = std::clamp(std::ceil(column_of(block.start) - 0.5), 0.0, static_cast<double>(columns));
      const double end = std::clamp(std::ceil(column_of(block.end) - 0.5), 0.0, static_cast<double>(columns));
      for (size_t column = static_cast<size_t>(begin); column < static_cast<size_t>(end); ++column) {
        cells_[column] = {false, static_cast<int>(i)};
      }
    }
  }

  std::string text(bool colours) const {
    std::string text;
    for (size_t begin = 0; begin < cells_.size();) {
      size_t end = begin;
      while (end < cells_.size() && cells_[end] == cells_[begin]) ++end;
      text += run(cells_[begin], static_cast<int>(end - begin), colours);
      begin = end;
    }
    return text.substr(0, text.find_last_not_of(' ') + 1);
  }

 private:
  struct Cell {
    bool is_idle = false;
    int block = -1;
    bool operator==(const Cell&) const = default;
  };
  const GanttFigure& figure_;
  std::vector<Cell> cells_;

  std::string run(const Cell& cell, int length, bool colours) const {
    if (cell.block < 0)
      return cell.is_idle ? coloured(repeated(kIdleMark, length), kIdleColour, colours) : blanks(length);
    const Block& block = figure_.blocks[static_cast<size_t>(cell.block)];
    const Filling fill = filling(block.kind, colours);
    const std::string mark = colours ? " " : fill.mark;
    std::string label = words(block.label);
    if (n_columns(label) > length) label.clear();
    const int before = (length - n_columns(label)) / 2;
    const std::string inside = repeated(mark, before) + label + repeated(mark, length - before - n_columns(label));
    return colours ? background_begin(fill.colour) + inside + kColourEnd : inside;
  }
};

}  // namespace

Canvas drawn(const GanttFigure& figure, const Lettering& lettering) {
  check(figure);
  const int automatic =
      static_cast<int>(std::clamp(170 + 50 * static_cast<double>(figure.workers.size()), 240.0, 2400.0));
  Canvas canvas(figure.width, figure.height != 0 ? figure.height : automatic, lettering);
  const Axis time = time_axis(figure);
  const Field field = draw_frame(
      canvas, {figure.title, {figure.time.label, time}, axis_of_names("", names_of(figure)), legend_of(figure)});
  canvas.clip_to(field.box);
  const Span whole = whole_of(figure);
  for (size_t i = 0; i < figure.workers.size() && !figure.blocks.empty(); ++i) {
    Box idle = field.row(i, 0.78);
    idle.left = field.at(whole.start, 0).x;
    idle.right = field.at(whole.end, 0).x;
    canvas.fill(idle, kIdle);
  }
  for (const Block& block : figure.blocks) draw_block(canvas, field, block);
  for (const Moment& moment : figure.moments) draw_moment(canvas, field, moment.x);
  canvas.clip_to_all();
  draw_names(canvas, field, figure.moments, {});
  return canvas;
}

void write_png(const GanttFigure& figure, const std::string& path, const Lettering& lettering) {
  write_png(drawn(figure, lettering), path);
}

std::string terminal_text(const GanttFigure& figure, int width, bool colours) {
  check(figure);
  const Axis time = time_axis(figure);
  const TerminalFrame frame({figure.title, {figure.time.label, time}, axis_of_names("", names_of(figure))}, width, 2,
                            colours);
  std::vector<TerminalEntry> legend;
  for (size_t i = 0; i < figure.kinds.size(); ++i) {
    const Filling fill = filling(i, colours);
    if (!figure.kinds[i].empty()) legend.push_back({repeated(fill.mark, 2), figure.kinds[i], fill.colour});
  }
  if (!legend.empty()) legend.push_back({repeated(kIdleMark, 2), "idle", kIdleColour});
  const auto row_text = [&](int row) {
    if (static_cast<size_t>(row) >= figure.workers.size()) return std::string();
    return TerminalRow(figure, time, static_cast<size_t>(row), frame.columns()).text(colours);
  };
  return frame.text(row_text, legend);
}

}  // namespace orrery
