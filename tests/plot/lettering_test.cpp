#include "plot/lettering.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <string>

#include <doctest/doctest.h>

#include "base/error.h"
#include "plot/canvas.h"
#include "plot/small_font.h"
#include "support/files.h"

using namespace orrery;
using orrery::test::small_font;
using orrery::test::TemporaryFolder;
using orrery::test::write_file;

namespace {

int ink(const Canvas& canvas) {
  int n = 0;
  for (const Colour pixel : canvas.pixels()) n += pixel != kWhite;
  return n;
}

// An environment variable as it shall be for a while.
class Environment {
 public:
  explicit Environment(const std::string& value) {
    if (const char* before = std::getenv("ORRERY_FONTS")) before_ = before;
    setenv("ORRERY_FONTS", value.c_str(), 1);
  }
  ~Environment() {
    if (before_) setenv("ORRERY_FONTS", before_->c_str(), 1);
    if (!before_) unsetenv("ORRERY_FONTS");
  }

 private:
  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("plot: letters of a font lie where its outlines say") {
  const TemporaryFolder folder;
  const Lettering lettering({write_file(folder / "small.ttf", small_font())});
  // The only letter, H, is a square of 700 by 700 units, 50 from the pen; the next letter stands 800 further.
  CHECK(lettering.width("H", 14, false) == doctest::Approx(16));
  CHECK(lettering.width("HH", 14, false) == doctest::Approx(32));
  Canvas canvas(60, 40, lettering);
  canvas.write("HH", {10, 30}, {.size = 14, .colour = {0, 0, 0}});
  CHECK(canvas.at(12, 29) == Colour{0, 0, 0});
  CHECK(canvas.at(12, 17) == Colour{0, 0, 0});
  CHECK(canvas.at(24, 20) == Colour{0, 0, 0});
  CHECK(canvas.at(12, 15) == kWhite);
  CHECK(canvas.at(12, 30) == kWhite);
  CHECK(canvas.at(10, 20) == kWhite);
  CHECK(canvas.at(25, 20) == kWhite);
  CHECK(canvas.at(28, 20) == Colour{0, 0, 0});
}

TEST_CASE("plot: upright and bold letters of a font") {
  const TemporaryFolder folder;
  const Lettering lettering({write_file(folder / "small.ttf", small_font())});
  Canvas upright(60, 60, lettering);
  upright.write("HH", {30, 50}, {.size = 14, .colour = {0, 0, 0}, .is_upright = true});
  CHECK(upright.at(29, 48) == Colour{0, 0, 0});
  CHECK(upright.at(29, 49) == kWhite);
  CHECK(upright.at(15, 47) == kWhite);
  CHECK(upright.at(17, 36) == Colour{0, 0, 0});
  CHECK(upright.at(29, 34) == kWhite);
  CHECK(upright.at(29, 31) == Colour{0, 0, 0});
  CHECK(upright.at(31, 47) == kWhite);
  Canvas plain(60, 40, lettering);
  plain.write("H", {10, 30}, {.size = 14});
  Canvas bold(60, 40, lettering);
  bold.write("H", {10, 30}, {.size = 14, .is_bold = true});
  CHECK(ink(bold) == ink(plain) + 14);
  // A bold font comes first for bold words, though it stands last.
  const Lettering both(
      {folder / "small.ttf", write_file(folder / "bold.ttf", small_font({.is_bold = true, .advance = 900}))});
  CHECK(both.width("H", 14, false) == doctest::Approx(16));
  CHECK(both.width("H", 14, true) == doctest::Approx(18));
}

TEST_CASE("plot: what a font lacks comes from the next, and at last from built-in letters") {
  const TemporaryFolder folder;
  const std::string small = write_file(folder / "small.ttf", small_font());
  const std::string other = write_file(folder / "other.ttf", small_font({.character = 0x6A21, .advance = 1400}));
  const Lettering lettering({small, other});
  const auto pieces = lettering.pieces("Hab\u6a21H\xff", 14, false);
  REQUIRE(pieces.size() == 5);
  CHECK(pieces[0].font != nullptr);
  CHECK(pieces[1].letters == "ab");
  CHECK(pieces[2].font != nullptr);
  CHECK(pieces[2].font != pieces[0].font);
  CHECK(pieces[3].font == pieces[0].font);
  CHECK(pieces[4].letters == "\xff");
  for (size_t i = 1; i < pieces.size(); ++i) CHECK(pieces[i].x >= pieces[i - 1].x + pieces[i - 1].width);
  CHECK(Lettering().width("HELLO", 12, false) == Canvas(1, 1).width_of("HELLO", {.size = 12}));
  CHECK(Lettering().pieces("", 12, false).empty());
}

TEST_CASE("plot: the environment says which fonts") {
  const TemporaryFolder folder;
  const std::string small = write_file(folder / "small.ttf", small_font());
  {
    const Environment environment("");
    CHECK(Lettering::of_system().pieces("H", 14, false)[0].font == nullptr);
  }
  {
    const Environment environment(":" + small + ":");
    CHECK(Lettering::of_system().width("H", 14, false) == doctest::Approx(16));
  }
  const Environment environment(folder / "missing.ttf");
  CHECK_THROWS_WITH_AS(Lettering::of_system(), doctest::Contains("missing.ttf"), Error);
}

TEST_CASE("plot: a font in a collection, and one with a map of all Unicode") {
  const TemporaryFolder folder;
  const Lettering collection({write_file(folder / "small.ttc", small_font({.is_collection = true}))});
  CHECK(collection.width("H", 14, false) == doctest::Approx(16));
  const Lettering full({write_file(folder / "full.ttf", small_font({.character = 0x1F600, .has_groups = true}))});
  CHECK(full.pieces("\U0001F600", 14, false)[0].font != nullptr);
}

TEST_CASE("plot: files that are no fonts are an Error") {
  const TemporaryFolder folder;
  const auto rejects = [&](std::string bytes, const char* words) {
    CHECK_THROWS_WITH_AS(Lettering({write_file(folder / "broken.ttf", bytes)}), doctest::Contains(words), Error);
  };
  const std::string font = small_font();
  rejects("x", "too short");
  rejects(std::string(5000, 'x'), "mark of a TrueType font");
  rejects("OTTO" + font.substr(4), "mark of a TrueType font");
  rejects("ttcf" + std::string(8, '\0') + "\xff\xff\xff\xff", "too short");
  rejects(font.substr(0, 50), "cut off");
  rejects(font.substr(0, font.size() - 4), "outside the file");
  rejects(small_font({.character = 0x1F600, .has_groups = true, .n_groups = 0x7FFFFFFF}), "character map");
}

TEST_CASE("plot: broken outlines fall back to built-in letters") {
  const TemporaryFolder folder;
  const auto is_used = [&](const orrery::test::SmallFont& options) {
    return Lettering({write_file(folder / "broken.ttf", small_font(options))}).pieces("H", 14, false)[0].font !=
           nullptr;
  };
  CHECK(is_used({}));
  CHECK(is_used({.contour_ends = {1, 3}}));
  CHECK_FALSE(is_used({.contour_ends = {3, 1}}));
  CHECK_FALSE(is_used({.contour_ends = {3, 3}}));
  CHECK_FALSE(is_used({.glyph_end = 60000}));
  CHECK(is_used({.part = 2}));         // an H made of another glyph
  CHECK_FALSE(is_used({.part = 1}));   // of itself
  CHECK_FALSE(is_used({.part = 99}));  // of none
}

TEST_CASE("plot: fonts with wrong bytes anywhere do no harm") {
  const TemporaryFolder folder;
  std::mt19937 random(1);
  for (const orrery::test::SmallFont& options :
       {orrery::test::SmallFont{}, orrery::test::SmallFont{.character = 0x1F600, .has_groups = true},
        orrery::test::SmallFont{.part = 2}}) {
    const std::string font = small_font(options);
    for (int round = 0; round < 300; ++round) {
      std::string broken = font;
      for (int i = 0; i < 1 + round % 4; ++i) broken[random() % broken.size()] = static_cast<char>(random());
      try {
        const Lettering lettering({write_file(folder / "broken.ttf", broken)});
        Canvas canvas(80, 40, lettering);
        canvas.write("aHH\u6a21\U0001F600", {5, 30}, {.size = 14});
        CHECK(canvas.at(79, 0) == canvas.at(79, 0));
      } catch (const Error&) {
        // A font that is refused is fine, too.
      }
    }
  }
}
