#include "text/pre_tokenizer.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/error.h"
#include "files/pre_tokenizations.h"
#include "support/expect_error.h"

using namespace orrery;
using namespace orrery::test;

namespace {

using Words = std::vector<std::string>;

Words cut(const PreTokenization& rules, const std::string& text) {
  Words words;
  PreTokenizer(rules, "test").cut(text, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}
Words cut(const std::string& name, const std::string& text) { return cut(pre_tokenization_named(name), text); }
Words cut_by(const Words& patterns, const std::string& text) {
  return cut(PreTokenization{.patterns = patterns}, text);
}
std::string composed(const std::string& text) {
  std::string whole;
  for (const std::string& word : cut(PreTokenization{.patterns = {"(?s).+"}, .nfc = true}, text)) whole += word;
  return whole;
}

}  // namespace

TEST_CASE("pre-tokens: what sets the known ways apart") {
  CHECK(cut("gpt-2", "I've  2 dogs,\n\n and 1234!") ==
        Words{"I", "'ve", " ", " 2", " dogs", ",", "\n\n", " and", " 1234", "!"});
  CHECK(cut("gpt-2", "I'VE") == Words{"I", "'", "VE"});
  CHECK(cut("llama-bpe", "I'VE 12345 (dogs)\n\n x") ==
        Words{"I", "'VE", " ", "123", "45", " (", "dogs", ")\n\n", " x"});
  CHECK(cut("qwen2", "a 123") == Words{"a", " ", "1", "2", "3"});
  CHECK(cut("smollm", "a 12 b") == Words{"a", " ", "1", "2", " b"});
  CHECK(cut("deepseek-llm", "Dog \u4E2D12\n  x  ") == Words{"Dog", " ", "\u4E2D", "12", "\n", " ", " x", "  "});
  CHECK(cut("deepseek-v3", "1234\u4E2D\u3042x ?") == Words{"123", "4", "\u4E2D\u3042", "x", " ?"});
  CHECK(cut("tekken", "HelloWorld 12") == Words{"Hello", "World", " ", "1", "2"});
  CHECK(cut("gpt-4o", "HelloWorld's 1234") == Words{"Hello", "World's", " ", "123", "4"});
  CHECK(cut("default", "a,b 1234") == Words{"a", ",", "b", " ", "123", "4"});
  CHECK(cut("gpt-2", "").empty());
}

TEST_CASE("pre-tokens: classes know all scripts") {
  CHECK(cut("gpt-2", " \u00C4rger \u4E2D\u6587 \u0E01 \u0663\u0664") ==
        Words{" \u00C4rger", " \u4E2D\u6587", " \u0E01", " \u0663\u0664"});
  CHECK(cut("gpt-2", "a\u3000\u3000b") == Words{"a", "\u3000", "\u3000", "b"});  // ideographic spaces
  CHECK(cut("gpt-2", "\u1820\u180E\u1820") == Words{"\u1820", "\u180E", "\u1820"});
  CHECK(cut_by({"\\s"}, "a\u180Eb") == Words{"a\u180Eb"});  // Mongolian, no space
  CHECK(cut_by({"\\S"}, "\u180E") == Words{"\u180E"});
  CHECK(cut_by({"\\\\s"}, "a\\sb") == Words{"a", "\\s", "b"});
  CHECK(cut_by({"[^\\s]+"}, "a b") == Words{"a", " ", "b"});
}

TEST_CASE("pre-tokens: patterns cut what the ones before them left, into matches and what is between") {
  CHECK(cut_by({"b"}, "abbc") == Words{"a", "b", "b", "c"});
  CHECK(cut_by({"b", "c"}, "abcabc") == Words{"a", "b", "c", "a", "b", "c"});
  CHECK(cut_by({"b", "ab"}, "ab") == Words{"a", "b"});
  CHECK(cut_by({"(?=b)"}, "abab") == Words{"a", "ba", "b"});  // an empty match only cuts
  CHECK(cut_by({"(?=\u4E2D)"}, "\u4E2D\u4E2D") == Words{"\u4E2D", "\u4E2D"});
  CHECK(cut_by({"x*"}, "\u4E2Dxx") == Words{"\u4E2D", "xx"});
  CHECK(cut_by({"a$"}, "a\na") == Words{"a", "\n", "a"});
}

TEST_CASE("pre-tokens: a byte that is not UTF-8 stands alone, and the text ends before it") {
  CHECK(cut("gpt-2", "ab\xFF\xFEzz") == Words{"ab", "\xFF", "\xFE", "zz"});
  CHECK(cut("gpt-2", "  \xFFx") == Words{"  ", "\xFF", "x"});
  CHECK(cut("gpt-2", "\xC3") == Words{"\xC3"});
}

TEST_CASE("pre-tokens: NFC") {
  CHECK(composed("e\u0301") == "\u00E9");
  CHECK(composed("\u1100\u1161\u11A8") == "\uAC01");                             // Hangul
  CHECK(composed("\u212B") == "\u00C5");                                         // the sign for Angstrom
  CHECK(composed("q\u0307\u0323") == "q\u0323\u0307");                           // dots: below comes first
  CHECK(composed("a\u0315\u0300\u05AE\u0300b") == "\u00E0\u05AE\u0300\u0315b");  // of Unicode's NormalizationTest.txt
  CHECK(composed("\u0958") == "\u0915\u093C");                                   // excluded from composition
  CHECK(composed("e\u0301\xFF"
                 "e\u0301") == "\u00E9\xFF\u00E9");
  CHECK(composed("\u0301") == "\u0301");
  CHECK(composed("plain") == "plain");
}

TEST_CASE("pre-tokens: patterns that cannot be used, and ones that never end") {
  CHECK_ERROR(cut_by({"[a"}, "a"), "test: the pattern", "cannot be used", "found [a");
  CHECK_ERROR(cut_by({"[a&&[b]]"}, "a"), "intersection");
  CHECK_ERROR(cut_by({"(a+)+$"}, std::string(50, 'a') + "!"), "cannot be cut into pre-tokens", "limit");
  const std::string many(3'000'000, 'a');
  CHECK(cut_by({"(?:a|b)+"}, many.substr(0, 200'000)) == Words{many.substr(0, 200'000)});
}
