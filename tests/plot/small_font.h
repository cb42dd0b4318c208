// A TrueType font of three glyphs, made here: none (0), the letter (1) and a part for it (2).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace orrery::test {

struct SmallFont {
  uint32_t character = 'H';  // of glyph 1
  bool is_bold = false;
  int advance = 800;  // of 1000 units an em
  bool is_collection = false;
  bool has_groups = false;  // character map of format 12 in place of 4
  uint32_t n_groups = 1;    // what that map says
  std::vector<int> contour_ends = {3};
  int glyph_end = 0;  // where glyph 1 ends as the font says, if not 0
  int part = 0;       // glyph 1 is made of this glyph, if not 0
};

class BigEndian {
 public:
  BigEndian& u16(uint32_t value) {
    bytes.push_back(static_cast<char>(value >> 8));
    bytes.push_back(static_cast<char>(value));
    return *this;
  }
  BigEndian& u32(uint32_t value) { return u16(value >> 16).u16(value & 0xFFFF); }
  std::string bytes;
};

// A square from (50, 0) to (750, 700), in four points.
inline std::string square_glyph(const std::vector<int>& contour_ends) {
  BigEndian glyph;
  glyph.u16(static_cast<uint32_t>(contour_ends.size())).u16(50).u16(0).u16(750).u16(700);
  for (const int end : contour_ends) glyph.u16(static_cast<uint32_t>(end));
  glyph.u16(0);                                                 // no instructions
  glyph.bytes += std::string(4, '\x01');                        // points on the curve, two bytes each way
  glyph.u16(50).u16(0).u16(700).u16(0).u16(0).u16(700).u16(0);  // x: 50, 50, 750, 750
  glyph.bytes.resize(glyph.bytes.size() - 6);
  glyph.u16(0).u16(700).u16(0).u16(0x10000 - 700);  // y: 0, 700, 700, 0
  if (glyph.bytes.size() % 2 != 0) glyph.bytes += '\0';
  return glyph.bytes;
}

inline std::string character_map(const SmallFont& options) {
  BigEndian map;
  map.u16(0).u16(1).u16(3).u16(options.has_groups ? 10 : 1).u32(12);
  if (options.has_groups) {
    map.u16(12).u16(0).u32(28).u32(0).u32(options.n_groups).u32(options.character).u32(options.character).u32(1);
    return map.bytes;
  }
  // Two segments: the character, and the last one, which every map has.
  map.u16(4).u16(32).u16(0).u16(4).u16(4).u16(1).u16(0);
  map.u16(options.character).u16(0xFFFF).u16(0).u16(options.character).u16(0xFFFF);
  map.u16((1 - options.character) & 0xFFFF).u16(1).u16(0).u16(0);
  return map.bytes;
}

inline std::string small_font(const SmallFont& options = {}) {
  const std::string square = square_glyph(options.contour_ends);
  BigEndian composite;
  composite.u16(0xFFFF).u16(50).u16(0).u16(750).u16(700).u16(0x02).u16(static_cast<uint32_t>(options.part)).u16(0);
  const std::string letter = options.part != 0 ? composite.bytes : square;
  const auto end_of_letter = static_cast<uint32_t>(letter.size());
  BigEndian head, metrics_header, metrics, locations, profile;
  head.u32(0x00010000).u32(0).u32(0).u32(0x5F0F3CF5).u16(0).u16(1000).u32(0).u32(0).u32(0).u32(0);
  head.u16(0).u16(0).u16(1000).u16(1000).u16(options.is_bold ? 1 : 0).u16(8).u16(2).u16(0).u16(0);
  metrics_header.u32(0x00010000).u16(800).u16(0).u16(0);
  for (int i = 0; i < 12; ++i) metrics_header.u16(0);
  metrics_header.u16(3);
  for (int i = 0; i < 3; ++i) metrics.u16(static_cast<uint32_t>(options.advance)).u16(50);
  const uint32_t said = options.glyph_end != 0 ? static_cast<uint32_t>(options.glyph_end) : end_of_letter;
  locations.u16(0).u16(0).u16(said / 2).u16((end_of_letter + static_cast<uint32_t>(square.size())) / 2);
  profile.u32(0x00010000).u16(3);
  const std::vector<std::pair<std::string, std::string>> tables = {
      {"cmap", character_map(options)}, {"glyf", letter + square}, {"head", head.bytes},
      {"hhea", metrics_header.bytes},   {"hmtx", metrics.bytes},   {"loca", locations.bytes},
      {"maxp", profile.bytes}};
  BigEndian font;
  if (options.is_collection) font.bytes = "ttcf";
  if (options.is_collection) font.u32(0x00010000).u32(1).u32(16);
  font.u32(0x00010000).u16(static_cast<uint32_t>(tables.size())).u16(0).u16(0).u16(0);
  auto offset = static_cast<uint32_t>(font.bytes.size() + 16 * tables.size());
  std::string data;
  for (const auto& [tag, bytes] : tables) {
    font.bytes += tag;
    font.u32(0).u32(offset + static_cast<uint32_t>(data.size())).u32(static_cast<uint32_t>(bytes.size()));
    data += bytes;
  }
  return font.bytes + data;
}

}  // namespace orrery::test
