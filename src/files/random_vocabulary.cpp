#include <cstdio>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "files/random_checkpoint.h"

namespace orrery {
namespace {

constexpr int kSpecials = 3;
constexpr int kBytes = 256;
constexpr size_t kLongestWord = 16;
constexpr std::string_view kSpace = "\xE2\x96\x81";  // U+2581, SentencePiece's space

std::vector<std::string> first_pieces() {
  std::vector<std::string> pieces = {"<unk>", "<s>", "</s>"};
  for (unsigned byte = 0; byte < kBytes; ++byte) {
    char text[8];
    std::snprintf(text, sizeof text, "<0x%02X>", byte);
    pieces.emplace_back(text);
  }
  return pieces;
}

// Characters first, then words: each a piece that is there with another one behind it, so that merging can build it.
void add_words(size_t size, Random& random, std::vector<std::string>& pieces) {
  pieces.emplace_back(kSpace);
  for (char letter = 'a'; letter <= 'z'; ++letter) pieces.emplace_back(1, letter);
  for (char letter = 'A'; letter <= 'Z'; ++letter) pieces.emplace_back(1, letter);
  for (const char mark : std::string_view("0123456789.,!?'\"-")) pieces.emplace_back(1, mark);
  const std::vector<std::string>::difference_type first = kSpecials + kBytes;
  std::unordered_set<std::string> known(pieces.begin() + first, pieces.end());
  while (pieces.size() < size) {
    const auto any = [&]() -> const std::string& {
      return pieces[static_cast<size_t>(first) + random.below(pieces.size() - static_cast<size_t>(first))];
    };
    const std::string& front = any();
    const std::string& back = any();
    std::string word = front + back;
    if (word.size() > kLongestWord || back.starts_with(kSpace) || !known.insert(word).second) continue;
    pieces.push_back(std::move(word));
  }
}

}  // namespace

Vocabulary random_vocabulary(int size, uint64_t seed) {
  if (size < kSpecials + kBytes) {
    throw Error({.what = "a vocabulary of that size has no room for its byte pieces",
                 .where = "random vocabulary",
                 .expected = "at least " + std::to_string(kSpecials + kBytes),
                 .found = std::to_string(size)});
  }
  Random random(seed);
  std::vector<std::string> pieces = first_pieces();
  if (pieces.size() < static_cast<size_t>(size)) add_words(static_cast<size_t>(size), random, pieces);
  pieces.resize(static_cast<size_t>(size));

  Vocabulary vocabulary;
  vocabulary.model = "llama";
  vocabulary.unknown = 0;
  vocabulary.bos = 1;
  vocabulary.end_tokens = {2};
  std::string storage;
  for (const std::string& piece : pieces) storage += piece;
  vocabulary.storage = std::make_shared<const std::string>(std::move(storage));
  size_t begin = 0;
  for (int id = 0; id < size; ++id) {
    const size_t length = pieces[static_cast<size_t>(id)].size();
    vocabulary.pieces.push_back(std::string_view(*vocabulary.storage).substr(begin, length));
    begin += length;
    const int word = id - kSpecials - kBytes;
    vocabulary.scores.push_back(word < 0 ? 0 : -static_cast<float>(word));
    vocabulary.kinds.push_back(id == 0          ? PieceKind::unknown
                               : id < kSpecials ? PieceKind::control
                               : word < 0       ? PieceKind::byte
                                                : PieceKind::normal);
  }
  return vocabulary;
}

}  // namespace orrery
