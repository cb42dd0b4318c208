#include "learn/token_data.h"

#include <algorithm>
#include <map>
#include <string>

#include <doctest/doctest.h>

#include "learn/vocabularies.h"
#include "support/expect_error.h"

using namespace orrery;

namespace {

// Texts in which every character is unique, so that a token tells its place.
struct Data {
  explicit Data(std::vector<std::string> texts) : owned(std::move(texts)) {
    for (const std::string& text : owned) views.push_back(text);
    tokenizer = make_tokenizer(character_vocabulary(views), "test");
    data = std::make_unique<TokenData>(views, *tokenizer);
  }
  std::vector<std::string> owned;
  std::vector<std::string_view> views;
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<TokenData> data;
};

std::string letters(int count, char first = 'A') {
  std::string text;
  for (int i = 0; i < count; ++i) text += static_cast<char>(first + i);
  return text;
}

// How often each token was to be guessed, and how many guesses each piece had.
struct Seen {
  std::map<TokenId, int> guesses;
  std::vector<size_t> sizes;
  void add(const std::vector<Sample>& batch) {
    for (const Sample& sample : batch) {
      sizes.push_back(sample.tokens.size() - 1);
      for (const TokenId id : sample.tokens.subspan(1)) ++guesses[id];
    }
  }
};

std::vector<std::vector<TokenId>> copies(const std::vector<Sample>& batch) {
  std::vector<std::vector<TokenId>> all;
  for (const Sample& sample : batch) all.emplace_back(sample.tokens.begin(), sample.tokens.end());
  return all;
}

}  // namespace

TEST_CASE("token data: a document is BOS, its tokens, and the end") {
  const Data data({"ba", "c"});
  // <unk> <s> </s> a b c
  const auto first = data.data->document(0), second = data.data->document(1);
  CHECK(std::vector<TokenId>(first.begin(), first.end()) == std::vector<TokenId>{1, 4, 3, 2});
  CHECK(std::vector<TokenId>(second.begin(), second.end()) == std::vector<TokenId>{1, 5, 2});
  CHECK(data.data->tokens() == 7);
  CHECK(data.data->guesses() == 5);
  CHECK(data.data->fingerprint() == Data({"ba", "c"}).data->fingerprint());
  CHECK(data.data->fingerprint() != Data({"b", "ac"}).data->fingerprint());  // the same tokens but for the borders
}

TEST_CASE("token data: pieces guess every token once, the first of a document excepted") {
  const Data data({letters(20), letters(3, 'a')});
  const auto pieces = data.data->pieces(8);
  Seen seen;
  seen.add(pieces);
  CHECK(seen.sizes == std::vector<size_t>{8, 8, 5, 4});
  CHECK(seen.guesses.size() == 24);  // 23 letters and the end
  CHECK(seen.guesses[2] == 2);
  CHECK(pieces[1].tokens.front() == pieces[0].tokens.back());
  CHECK(data.data->pieces(8, 9).size() == 2);
}

TEST_CASE("packer: an epoch meets every token once, in batches that are as full as pieces allow") {
  const Data data({letters(26), letters(20, 'a'), letters(3, '0'), letters(4, '5'), "!", "#", "$", "%"});
  Packer packer(*data.data, 8, 16, 7);
  Seen seen;
  while (packer.place().epoch == 0) {
    const auto batch = packer.next();
    if (packer.place().epoch > 0) break;  // this batch reached over
    size_t guesses = 0;
    for (const Sample& sample : batch) guesses += sample.tokens.size() - 1;
    CHECK(guesses <= 16);
    seen.add(batch);
  }
  for (const auto& [id, count] : seen.guesses) CHECK(count <= (id == 2 ? 8 : 1));
  CHECK(std::ranges::all_of(seen.sizes, [](size_t size) { return size <= 8; }));
  // One document in batches that end where it ends: nothing is left out.
  const Data one({letters(25)});  // 26 guesses
  for (const uint64_t seed : {1, 2, 3, 4, 5}) {
    Packer single(*one.data, 100, 26, seed);
    CHECK(single.next().front().tokens.size() == 27);
    Packer cut(*one.data, 5, 1, seed);
    Seen all;
    while (cut.epochs() < 1) all.add(cut.next());
    CHECK(all.guesses.size() == 26);
    for (const auto& [id, count] : all.guesses) CHECK(count == 1);
  }
}

TEST_CASE("packer: the same seed gives the same batches; epochs differ in order and in cuts") {
  const Data data({letters(26), letters(26, 'a')});
  Packer packer(*data.data, 6, 12, 1), same(*data.data, 6, 12, 1), other(*data.data, 6, 12, 2);
  bool differs = false;
  for (int i = 0; i < 30; ++i) {
    const auto batch = copies(packer.next());
    CHECK(batch == copies(same.next()));
    differs = differs || batch != copies(other.next());
  }
  CHECK(differs);

  std::vector<std::vector<std::vector<TokenId>>> epochs(3);
  Packer long_run(*data.data, 6, 1, 1);
  for (size_t epoch = 0; epoch < 3; ++epoch) {
    while (long_run.epochs() < static_cast<double>(epoch + 1)) {
      for (auto& piece : copies(long_run.next())) epochs[epoch].push_back(piece);
    }
    std::ranges::sort(epochs[epoch]);
  }
  CHECK(epochs[0] != epochs[1]);  // sorted, so it is the cuts that differ
  CHECK(epochs[1] != epochs[2]);
}

TEST_CASE("packer: goes on from a place as if there had been no break") {
  const Data data({letters(26), letters(26, 'a'), "xyz"});
  Packer packer(*data.data, 6, 12, 1);
  for (int i = 0; i < 11; ++i) packer.next();
  Packer resumed(*data.data, 6, 12, 1);
  resumed.go_to(packer.place());
  for (int i = 0; i < 20; ++i) CHECK(copies(packer.next()) == copies(resumed.next()));
  CHECK_ERROR(resumed.go_to({.epoch = 0, .piece = 1000}), "no such place", "piece 1000");
  CHECK_ERROR(resumed.go_to({.epoch = -1, .piece = 0}), "no such place");
}

TEST_CASE("packer: nothing to guess is an error") {
  const TokenData empty({}, *make_tokenizer(character_vocabulary(std::vector<std::string_view>{"a"}), "test"));
  CHECK_ERROR(Packer(empty, 8, 8, 1), "nothing to pack", "0 tokens");
}
