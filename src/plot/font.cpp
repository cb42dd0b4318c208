#include "plot/font.h"

// A broken font shall give broken letters, not an end of the program; FontFile has seen to it that no harm comes.
#define STBTT_assert(condition) ((void)(condition))
#define STBTT_STATIC
#define STB_TRUETYPE_IMPLEMENTATION
#include <cstddef>

#include <stb/stb_truetype.h>

#include "base/error.h"
#include "plot/font_file.h"

namespace orrery {

struct Font::Parts {
  explicit Parts(const std::string& path) : file(path) {}
  FontFile file;
  stbtt_fontinfo info = {};
  double capital = 0;  // height of an H, in the font's units
};

Font::Font(const std::string& path) : parts_(std::make_unique<Parts>(path)) {
  if (stbtt_InitFont(&parts_->info, parts_->file.data(), static_cast<int>(parts_->file.start())) == 0) {
    throw Error({.what = "this font cannot be used: it has no map of Unicode characters", .where = path});
  }
  int left = 0, bottom = 0, right = 0, top = 0;
  const int letter = glyph('H');
  const bool has_box = letter > 0 && stbtt_GetGlyphBox(&parts_->info, letter, &left, &bottom, &right, &top) != 0;
  const double em = parts_->file.units_per_em();
  parts_->capital = has_box && top > em / 4 ? top : em * 0.72;
}

Font::~Font() = default;

bool Font::is_bold() const { return parts_->file.is_bold(); }

float Font::scale(double size) const { return static_cast<float>(size / parts_->capital); }

int Font::glyph(char32_t character) const {
  const int glyph = stbtt_FindGlyphIndex(&parts_->info, static_cast<int>(character));
  return glyph > 0 && glyph < parts_->info.numGlyphs && parts_->file.is_sound(glyph) ? glyph : 0;
}

double Font::advance(int glyph, double size) const {
  int advance = 0, bearing = 0;
  stbtt_GetGlyphHMetrics(&parts_->info, glyph, &advance, &bearing);
  return advance * static_cast<double>(scale(size));
}

Font::Bitmap Font::bitmap(int glyph, double size, double shift) const {
  int left = 0, top = 0, right = 0, bottom = 0;
  const float unit = scale(size);
  const auto right_shift = static_cast<float>(shift);
  stbtt_GetGlyphBitmapBoxSubpixel(&parts_->info, glyph, unit, unit, right_shift, 0, &left, &top, &right, &bottom);
  // No letter is so much larger than a capital one.
  const double most = 16 * size + 16;
  if (left >= right || top >= bottom || right - left > most || bottom - top > most) return {};
  Bitmap bitmap = {left, top, right - left, bottom - top};
  bitmap.coverage.resize(static_cast<size_t>(bitmap.width) * static_cast<size_t>(bitmap.height));
  stbtt_MakeGlyphBitmapSubpixel(&parts_->info, bitmap.coverage.data(), bitmap.width, bitmap.height, bitmap.width, unit,
                                unit, right_shift, 0, glyph);
  return bitmap;
}

}  // namespace orrery
