// The letters of a figure: those of fonts, and where these lack one, built-in strokes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plot/font.h"

namespace orrery {

class Lettering {
 public:
  Lettering() = default;  // built-in letters only: the same pixels on every machine
  // Each letter is taken from the first font that has it. Bold words look in bold fonts first, others in others. Throws
  // Error where a file cannot be used.
  explicit Lettering(const std::vector<std::string>& paths);
  // The files in the environment variable ORRERY_FONTS, separated by colons; none if it is empty. Throws Error where
  // one cannot be used. If there is no such variable, what is found of system_fonts().
  static Lettering of_system();

  // A part of a text: one letter of a font, or letters that no font has.
  struct Piece {
    double x = 0;  // pixels from where the text begins
    double width = 0;
    const Font* font = nullptr;  // nullptr: built-in letters
    int glyph = 0;
    std::string_view letters = {};
  };
  // `size`: the height of a capital letter in pixels.
  std::vector<Piece> pieces(std::string_view text, double size, bool is_bold) const;
  double width(std::string_view text, double size, bool is_bold) const;

 private:
  std::vector<std::shared_ptr<const Font>> fonts_;

  void add_letters(std::string_view letters, double size, bool is_bold, std::vector<Piece>& pieces) const;
};

// Where fonts are known to lie. Of each list the first that can be used is taken: letters, bold ones, Chinese ones.
std::vector<std::vector<std::string>> system_fonts();
// Of built-in letters, in pixels.
double pen_width(double size, bool is_bold);

}  // namespace orrery
