// A tokenizer learned by hand: count pairs, merge the most frequent, start again. Then what a token is worth.
#include <algorithm>
#include <map>

#include "files/pre_tokenizations.h"
#include "learn/bpe_trainer.h"
#include "learn/story_world.h"
#include "lesson.h"
#include "plot/line_figure.h"
#include "text/pre_tokenizer.h"

using namespace orrery;

namespace {

constexpr int kMerges = 768;  // by hand: with the 256 bytes they are 1,024 pieces
constexpr const char* kSamples[] = {"The little hedgehog promised to water the garden.", "小刺猬最爱吃红豆包。",
                                    "A transformer sees numbers, never letters.", "模型看到的是数字，不是文字。"};
using Pieces = std::vector<std::string>;  // the bytes of each
using Pair = std::pair<int, int>;
struct Word {
  std::vector<int> ids;  // its pieces, from left to right
  int64_t count;         // how often the text has it
};

// Every different word once, cut into bytes: the id of a byte is its value, 104 for an h.
std::vector<Word> words_of(const std::string& text) {
  std::map<std::string, int64_t> counts;
  const PreTokenizer pre_tokenizer(pre_tokenization_named("gpt-2"), "GPT-2");
  pre_tokenizer.cut(text, [&](std::string_view word) { ++counts[std::string(word)]; });
  std::vector<Word> words;
  for (const auto& [word, times] : counts) {
    words.push_back({{}, times});
    for (const char byte : word) words.back().ids.push_back(static_cast<unsigned char>(byte));
  }
  return words;
}

// The pair of neighbours that the text has most often, and how often. Of equals the one with the greater bytes.
std::pair<Pair, int64_t> most_frequent(const std::vector<Word>& words, const Pieces& pieces) {
  std::map<Pair, int64_t> counts;
  for (const Word& word : words) {
    for (size_t i = 1; i < word.ids.size(); ++i) counts[{word.ids[i - 1], word.ids[i]}] += word.count;
  }
  return *std::ranges::max_element(counts, [&](const auto& a, const auto& b) {
    return std::tie(a.second, pieces[a.first.first], pieces[a.first.second]) <
           std::tie(b.second, pieces[b.first.first], pieces[b.first.second]);
  });
}

// Wherever the pair stands, the new piece takes its place.
void merge(std::vector<Word>& words, const Pair& pair, int piece) {
  for (Word& word : words) {
    size_t kept = 0;
    for (const int id : word.ids) {
      const bool completes = kept > 0 && word.ids[kept - 1] == pair.first && id == pair.second;
      completes ? word.ids[kept - 1] = piece : word.ids[kept++] = id;
    }
    word.ids.resize(kept);
  }
}

// The bytes of all pieces: the single bytes, then what each merge made.
Pieces learn(const std::string& text) {
  std::vector<Word> words = words_of(text);
  Pieces pieces;
  for (int byte = 0; byte < 256; ++byte) pieces.emplace_back(1, static_cast<char>(byte));
  for (int n = 1; n <= kMerges; ++n) {
    const auto [pair, times] = most_frequent(words, pieces);
    const std::string left = pieces[pair.first], right = pieces[pair.second];
    if (n <= 8 || n % 128 == 0) {
      std::printf("%5d %6s times  '%s' + '%s'\n", n, with_separators(times).c_str(), printable(left).c_str(),
                  printable(right).c_str());
    }
    merge(words, pair, static_cast<int>(pieces.size()));
    pieces.push_back(left + right);
  }
  return pieces;
}

std::string stories(Language language, int count, uint64_t seed) {  // the same ones on every machine
  Random random(seed);
  std::string text;
  while (count-- > 0)
    text += StoryWorld::built_in().tell(random, language).text + (language == Language::english ? " " : "");
  return text;
}

std::unique_ptr<Tokenizer> tokenizer_of(std::string_view text, size_t size) {
  return make_tokenizer(train_bpe({&text, 1}, {.vocabulary_size = size, .special_tokens = {}}), "the lesson");
}

// The tokens of a text, to be looked at. Throws Error where they do not give the text back.
std::vector<std::string> cut(const Tokenizer& tokenizer, std::string_view text) {
  const std::vector<TokenId> ids = tokenizer.encode(text);
  if (tokenizer.decode(ids) != text) throw Error({.what = "the text has changed on its way through the tokenizer"});
  std::vector<std::string> shown;
  for (const TokenId id : ids) shown.push_back(printable(tokenizer.piece_bytes(id)));
  return shown;
}

// What a token is worth in new stories and in other text, for vocabularies of many sizes.
void compare(const std::string& text, const std::string& file) {
  LineFigure figure = {.title = "What a token holds", .x = {.label = "merges"}, .y = {.label = "bytes per token"}};
  figure.series = {{"English stories"}, {"Chinese stories"}, {"other English text"}, {"other Chinese text"}};
  figure.levels = {{"a Chinese character", 3}};
  const std::string tests[] = {stories(kLanguages[0], 50, 3), stories(kLanguages[1], 50, 4), kSamples[2], kSamples[3]};
  std::printf("\n%32s%17s%22s\n", "new stories:    ", "other text:    ", "36T Chinese tokens");
  std::printf("pieces  merges  word  character  word  character  stories  other text\n");
  for (const size_t size : {256, 320, 384, 512, 768, 1024, 1536, 2048, 3072, 4096}) {
    const auto tokenizer = tokenizer_of(text, size);
    double rates[4];  // tokens an English word or a Chinese character
    for (size_t i = 0; i < 4; ++i) {
      const auto tokens = static_cast<double>(cut(*tokenizer, tests[i]).size());
      rates[i] = tokens / story_length(tests[i], kLanguages[i % 2]);
      figure.series[i].x.push_back(static_cast<double>(size - 256));
      figure.series[i].y.push_back(static_cast<double>(tests[i].size()) / tokens);
    }
    std::printf("%6zu %7zu %5.2f %10.2f %5.2f %10.2f %7.1fT %10.1fT\n", size, size - 256, rates[0], rates[1], rates[2],
                rates[3], 36 / rates[1], 36 / rates[3]);
  }
  if (!file.empty()) write_png(figure, file);
}

void teach(const std::string& figure) {
  const std::string text = stories(Language::english, 100, 1) + stories(Language::chinese, 100, 2);
  std::printf("%d merges, learned from 100 English and 100 Chinese stories:\n", kMerges);
  const Pieces pieces = learn(text);
  const auto library = tokenizer_of(text, pieces.size());
  bool is_same = true;
  for (int id = 256; id < 256 + kMerges; ++id) is_same = is_same && library->piece_bytes(id) == pieces[id];
  std::printf("train_bpe() makes %s\n", is_same ? "the same pieces in the same order." : "OTHER PIECES.");
  std::printf("\nHow the word \" garden\" is cut:\n");
  for (const MergeStep& step : library->explain(" garden")) std::printf("  %s\n", join(step.symbols, "|").c_str());
  for (const size_t size : {512, 4096}) {
    std::printf("\nWith %zu pieces:\n", size);
    for (const char* sample : kSamples) {
      const std::vector<std::string> tokens = cut(*tokenizer_of(text, size), sample);
      std::printf("  %2zu: %s\n", tokens.size(), join(tokens, "|").c_str());
    }
  }
  compare(text, figure);
  std::printf("Every text came back from its tokens, byte for byte.\n");
  lesson::check_source("03");
}

}  // namespace

int main(int argc, char** argv) { return lesson::run(argc, argv, teach); }
