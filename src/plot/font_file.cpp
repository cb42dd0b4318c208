#include "plot/font_file.h"

#include "base/error.h"
#include "base/mapped_file.h"

namespace orrery {
namespace {

constexpr size_t kLargestFile = size_t{64} << 20;

}  // namespace

uint32_t FontFile::u16(size_t at) const {
  return static_cast<uint32_t>(data()[at]) << 8 | static_cast<uint32_t>(data()[at + 1]);
}

void FontFile::reject(const char* reason) const {
  throw Error({.what = std::string("this font cannot be used: ") + reason,
               .where = path_,
               .hint = "figures need a TrueType font (.ttf or .ttc); without any they have built-in letters"});
}

FontFile::Table FontFile::table(std::string_view tag, size_t at_least) const {
  const size_t n_tables = u16(start_ + 4);
  for (size_t i = 0; i < n_tables; ++i) {
    const size_t record = start_ + 12 + 16 * i;
    if (record + 16 > size_) reject("its list of tables is cut off");
    if (std::string_view(bytes_).substr(record, 4) != tag) continue;
    const Table found = {u32(record + 8), u32(record + 12)};
    if (found.offset > size_ || found.length > size_ - found.offset) reject("a table lies outside the file");
    if (found.length < at_least) reject("a table is too short");
    return found;
  }
  reject("it lacks a table that outlines need");
}

FontFile::FontFile(const std::string& path) : path_(path), bytes_(read_file(path, kLargestFile)), size_(bytes_.size()) {
  bytes_.append(kPadding, '\0');
  if (std::string_view(bytes_).substr(0, 4) == "ttcf") start_ = u32(12);
  if (size_ < 12 || start_ > size_ - 12) reject("it is too short");
  const uint32_t kind = u32(start_);
  if (kind != 0x00010000 && kind != 0x74727565) reject("it has not the mark of a TrueType font");  // 1.0 or "true"
  head_ = table("head", 54);
  glyphs_ = table("glyf", 1);
  locations_ = table("loca", 2);
  const Table metrics_header = table("hhea", 36);
  const Table metrics = table("hmtx", 4);
  table("maxp", 6);
  const size_t n_metrics = u16(metrics_header.offset + 34);
  if (n_metrics == 0 || 4 * n_metrics > metrics.length) reject("it has no widths");
  if (units_per_em() < 16 || units_per_em() > 16384) reject("its size of an em is none");
  check_character_map();
}

void FontFile::check_character_map() const {
  const Table map = table("cmap", 4);
  const size_t n_maps = u16(map.offset + 2);
  if (4 + 8 * n_maps > map.length) reject("its character map is cut off");
  for (size_t i = 0; i < n_maps; ++i) {
    const size_t offset = u32(map.offset + 4 + 8 * i + 4);
    if (offset > map.length || map.length - offset < 4) reject("a character map lies outside its table");
    const size_t at = map.offset + offset;
    const uint32_t format = u16(at);
    const bool has_groups = format == 12 || format == 13;
    if (has_groups && u32(at + 12) > (map.length - offset) / 12) reject("a character map is cut off");
  }
}

bool FontFile::is_sound(int glyph) const {
  int n_parts = 0;
  return is_sound(glyph, n_parts);
}

bool FontFile::is_sound(int glyph, int& n_parts) const {
  if (glyph < 0 || glyph > 0xFFFF) return false;
  const bool is_long = u16(head_.offset + 50) != 0;
  const size_t entry = static_cast<size_t>(glyph) * (is_long ? 4 : 2);
  if (entry + (is_long ? 8 : 4) > locations_.length) return false;
  const size_t place = locations_.offset + entry;
  const size_t begin = is_long ? u32(place) : size_t{2} * u16(place);
  const size_t end = is_long ? u32(place + 4) : size_t{2} * u16(place + 2);
  if (begin == end) return true;  // nothing to draw, such as a blank
  if (begin > end || end > glyphs_.length || end - begin < 10) return false;
  const size_t at = glyphs_.offset + begin;
  const uint32_t n_contours = u16(at);
  if (n_contours >= 0x8000) return are_parts_sound(at + 10, glyphs_.offset + end, n_parts);
  if (10 + 2 * size_t{n_contours} > end - begin) return false;
  // Each contour ends at a later point than the one before it. stb takes as much memory as the last one says.
  for (uint32_t i = 1; i < n_contours; ++i) {
    if (u16(at + 10 + 2 * i) <= u16(at + 8 + 2 * i)) return false;
  }
  return true;
}

// A glyph of several others, which may be made of others again. One that contains itself has too many parts.
bool FontFile::are_parts_sound(size_t at, size_t end, int& n_parts) const {
  constexpr int kMostParts = 64;
  constexpr uint32_t kWordArguments = 0x01, kScale = 0x08, kMore = 0x20, kTwoScales = 0x40, kMatrix = 0x80;
  for (uint32_t flags = kMore; (flags & kMore) != 0;) {
    if (at + 4 > end || ++n_parts > kMostParts) return false;
    flags = u16(at);
    if (!is_sound(static_cast<int>(u16(at + 2)), n_parts)) return false;
    at += 4 + ((flags & kWordArguments) != 0 ? 4 : 2);
    at += (flags & kScale) != 0 ? 2 : (flags & kTwoScales) != 0 ? 4 : (flags & kMatrix) != 0 ? 8 : 0;
    if (at > end) return false;
  }
  return true;
}

}  // namespace orrery
