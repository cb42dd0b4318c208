// Letters of a TrueType font as pixels.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace orrery {

class Font {
 public:
  // Throws Error where the file cannot be read or is not fit for use.
  explicit Font(const std::string& path);
  ~Font();
  Font(const Font&) = delete;
  Font& operator=(const Font&) = delete;

  bool is_bold() const;
  int glyph(char32_t character) const;  // 0: the font lacks it, or its outline is broken
  // `size`: the height of a capital letter in pixels.
  double advance(int glyph, double size) const;  // pixels to the next letter

  struct Bitmap {
    int left = 0;  // of the pixels, from the pen's place on the baseline
    int top = 0;
    int width = 0;
    int height = 0;
    std::vector<uint8_t> coverage = {};  // [height, width]: 255 where a pixel is all covered
  };
  Bitmap bitmap(int glyph, double size, double shift) const;  // `shift`: to the right, 0 to 1 pixels

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;

  float scale(double size) const;
};

}  // namespace orrery
