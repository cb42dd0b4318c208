#include "learn/corpus.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <doctest/doctest.h>

#include "support/expect_error.h"
#include "support/files.h"

using namespace orrery;
using namespace orrery::test;

namespace {

using Documents = std::vector<std::string_view>;

Documents documents(const std::string& text, Boundary boundary) {
  static std::vector<Corpus> kept;  // whose texts the views look at
  kept.push_back(make_corpus({text}, {.boundary = boundary, .held_out = 0}));
  return kept.back().training;
}

}  // namespace

TEST_CASE("corpus: what a document is") {
  CHECK(documents(" one\n two \n", Boundary::file) == Documents{" one\n two \n"});
  CHECK(documents("one\n\n  \ntwo \r\nthree", Boundary::line) == Documents{"one", "two", "three"});
  CHECK(documents("\n\na\nb\n \n\nc\r\n\r\nd\n", Boundary::empty_line) == Documents{"a\nb", "c", "d"});
  CHECK(documents("a\n<|endoftext|>\nb\n\nc<|endoftext|>\n", Boundary::file) == Documents{"a", "b\n\nc"});
  CHECK(documents("a\n<|endoftext|>b\nc", Boundary::line) == Documents{"a", "b", "c"});
  CHECK(documents("a<|endoftext|>b\n\nc", Boundary::empty_line) == Documents{"a", "b", "c"});
}

TEST_CASE("corpus: held-out documents are chosen by the seed, and none is lost") {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "document " + std::to_string(i) + "\n";
  const auto cut = [&](double share, uint64_t seed) {
    return make_corpus({text}, {.boundary = Boundary::line, .held_out = share, .seed = seed});
  };
  const Corpus corpus = cut(0.1, 3), same = cut(0.1, 3), other = cut(0.1, 4);
  CHECK(corpus.validation.size() == 20);
  std::set<std::string_view> all(corpus.training.begin(), corpus.training.end());
  all.insert(corpus.validation.begin(), corpus.validation.end());
  CHECK(all.size() == 200);
  CHECK(corpus.bytes() == text.size() - 200);
  CHECK(corpus.validation == same.validation);
  CHECK(corpus.validation != other.validation);
  CHECK(corpus.training.front() == "document 0");  // the order stays
  CHECK(cut(0, 1).validation.empty());
}

TEST_CASE("corpus: of few documents the last part of each is held out, never in the middle of a character") {
  const Corpus corpus = make_corpus({"0123456789", "abcdefgh\xE4\xB8\x80"}, {.held_out = 0.1});
  CHECK(corpus.training == Documents{"012345678", "abcdefgh"});  // byte 9 of 11 lies within the character
  CHECK(corpus.validation == Documents{"9", "\xE4\xB8\x80"});
}

TEST_CASE("corpus: files of a folder in the order of their paths, but for hidden ones") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "b");
  std::filesystem::create_directories(folder.path() / ".hidden");
  write_file(folder / "c.txt", "third");
  write_file(folder / "b/two.txt", "second");
  write_file(folder / "a.txt", "first");
  write_file(folder / ".hidden/x.txt", "no");
  write_file(folder / ".y.txt", "no");
  const Corpus corpus = read_corpus({folder.path().string(), folder / "c.txt"}, {.held_out = 0});
  CHECK(corpus.training == Documents{"first", "second", "third", "third"});
}

TEST_CASE("corpus: bad input is named") {
  const TemporaryFolder folder;
  const std::string nul = write_file(folder / "nul", std::string_view("ab\0c", 4));
  const std::string empty = write_file(folder / "empty", " \n\n");
  CHECK_ERROR(read_corpus({nul}), "nul at byte 2", "not a text file");
  CHECK_ERROR(read_corpus({empty}), "empty", "no text to learn from");
  CHECK_ERROR(read_corpus({folder / "missing"}), "missing");
  CHECK_ERROR(make_corpus({"text"}, {.held_out = 1}), "held out");
  std::filesystem::remove(nul);
  CHECK_ERROR(read_corpus({folder.path().string()}), "no text to learn from");
}
