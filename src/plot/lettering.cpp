#include "plot/lettering.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <utf8proc.h>

#include "base/error.h"
#include "base/utf8.h"
#include "plot/stroke_letters.h"

namespace orrery {
namespace {

char32_t first_character(std::string_view text, size_t length) {
  utf8proc_int32_t character = -1;
  utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(length),
                   &character);
  return character < 0 ? U'\uFFFD' : static_cast<char32_t>(character);
}

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const size_t end = std::min(list.find(':'), list.size());
    if (end > 0) parts.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

}  // namespace

// Debian and Ubuntu, Fedora, Arch, macOS.
std::vector<std::vector<std::string>> system_fonts() {
  return {
      {"/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
       "/usr/share/fonts/TTF/DejaVuSans.ttf", "/System/Library/Fonts/Supplemental/Arial.ttf"},
      {"/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf", "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans-Bold.ttf",
       "/usr/share/fonts/TTF/DejaVuSans-Bold.ttf", "/System/Library/Fonts/Supplemental/Arial Bold.ttf"},
      {"/usr/share/fonts/truetype/wqy/wqy-microhei.ttc", "/usr/share/fonts/wqy-microhei-fonts/wqy-microhei.ttc",
       "/usr/share/fonts/wqy-microhei/wqy-microhei.ttc", "/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
       "/System/Library/Fonts/Supplemental/Arial Unicode.ttf"}};
}

Lettering::Lettering(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) fonts_.push_back(std::make_shared<const Font>(path));
}

Lettering Lettering::of_system() {
  if (const char* chosen = std::getenv("ORRERY_FONTS")) return Lettering(split(chosen));
  Lettering lettering;
  for (const std::vector<std::string>& list : system_fonts()) {
    for (const std::string& path : list) {
      std::error_code ignored;
      if (!std::filesystem::is_regular_file(path, ignored)) continue;
      try {
        lettering.fonts_.push_back(std::make_shared<const Font>(path));
        break;
      } catch (const Error&) {
        // Nobody chose this font: the next one will do.
      }
    }
  }
  return lettering;
}

std::vector<Lettering::Piece> Lettering::pieces(std::string_view text, double size, bool is_bold) const {
  std::vector<Piece> pieces;
  size_t begin = 0;  // of letters that no font has
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_length(text.substr(at));
    const char32_t character = length > 0 ? first_character(text.substr(at), length) : U'\uFFFD';
    Piece piece;
    // Fonts of the wanted weight first.
    for (const bool weight : {is_bold, !is_bold}) {
      for (const auto& font : fonts_) {
        if (piece.font != nullptr || font->is_bold() != weight) continue;
        piece.glyph = font->glyph(character);
        if (piece.glyph > 0) piece.font = font.get();
      }
    }
    const size_t next = at + std::max<size_t>(1, length);
    if (piece.font != nullptr) {
      add_letters(text.substr(begin, at - begin), size, is_bold, pieces);
      piece.x = pieces.empty() ? 0 : pieces.back().x + pieces.back().width;
      piece.width = piece.font->advance(piece.glyph, size);
      pieces.push_back(piece);
      begin = next;
    }
    at = next;
  }
  add_letters(text.substr(begin), size, is_bold, pieces);
  return pieces;
}

void Lettering::add_letters(std::string_view letters, double size, bool is_bold, std::vector<Piece>& pieces) const {
  if (letters.empty()) return;
  const double x = pieces.empty() ? 0 : pieces.back().x + pieces.back().width;
  // Beside other letters they need a gap, which these strokes have not.
  const double gap = fonts_.empty() ? 0 : size / 6;
  const double width = letters_width(letters) * size / 6 + pen_width(size, is_bold);
  pieces.push_back({x + gap, width + gap, nullptr, 0, letters});
}

double Lettering::width(std::string_view text, double size, bool is_bold) const {
  const std::vector<Piece> all = pieces(text, size, is_bold);
  return all.empty() ? 0 : all.back().x + all.back().width;
}

double pen_width(double size, bool is_bold) { return size / 6 * (is_bold ? 1.35 : 0.95); }

}  // namespace orrery
