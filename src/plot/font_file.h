// What keeps a broken font file from doing harm: stb_truetype, which reads fonts, believes all that they say.
// The format: https://learn.microsoft.com/typography/opentype/spec/otff
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

class FontFile {
 public:
  // Zeros behind the file's bytes. Numbers of 16 bits cannot lead out of them from a place inside the file; what
  // numbers of 32 bits say is compared with the file's size.
  static constexpr size_t kPadding = size_t{1} << 20;

  // Throws Error where the file is no TrueType font (or collection, of which this is the first font), is larger than 64
  // MB, or where a table lies outside it.
  explicit FontFile(const std::string& path);

  const std::string& path() const { return path_; }
  const unsigned char* data() const { return reinterpret_cast<const unsigned char*>(bytes_.data()); }
  size_t start() const { return start_; }  // of the font in a collection
  bool is_bold() const { return (u16(head_.offset + 44) & 1) != 0; }
  int units_per_em() const { return u16(head_.offset + 18); }
  // Can the glyph's outline be drawn without reading or writing astray?
  bool is_sound(int glyph) const;

 private:
  struct Table {
    size_t offset = 0;
    size_t length = 0;
  };
  std::string path_;
  std::string bytes_;  // with padding
  size_t size_;        // of the file
  size_t start_ = 0;
  Table head_, glyphs_, locations_;

  uint32_t u16(size_t at) const;  // big-endian, as all in the file
  uint32_t u32(size_t at) const { return u16(at) << 16 | u16(at + 2); }
  [[noreturn]] void reject(const char* reason) const;
  Table table(std::string_view tag, size_t at_least) const;
  void check_character_map() const;
  bool is_sound(int glyph, int& n_parts) const;  // `n_parts`: those seen so far
  bool are_parts_sound(size_t at, size_t end, int& n_parts) const;
};

}  // namespace orrery
