// What the tests of the exam share: tokenizers for stories, and models that know the world.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "kernels/reference/reference_kernels.h"
#include "learn/bpe_trainer.h"
#include "learn/story_exam.h"
#include "support/fake_model.h"

namespace orrery::test {

inline std::string some_stories(int count, uint64_t seed) {
  StoryLines lines(StoryWorld::built_in(), {Language::english, Language::chinese}, seed);
  std::string text;
  for (int i = 0; i < count; ++i) text += lines.next().text + "\n";
  return text;
}

// Byte-level BPE as the program's own models have it: token 0 begins and ends texts.
struct Words {
  explicit Words(size_t vocabulary_size = 700) {
    const std::string text = some_stories(300, 1);
    const std::string_view view = text;
    tokenizer = make_tokenizer(train_bpe(std::span(&view, 1), {.vocabulary_size = vocabulary_size}), "test");
  }
  int vocab_size() const { return static_cast<int>(tokenizer->vocabulary().pieces.size()); }

  // As `orrery stories` tells them.
  std::vector<std::string> stories(int count, uint64_t seed) const {
    StoryLines lines(StoryWorld::built_in(), {Language::english, Language::chinese}, seed);
    std::vector<std::string> result;
    for (int i = 0; i < count; ++i) result.push_back(lines.next().text);
    return result;
  }
  // Tokens, the end among them.
  std::vector<std::vector<TokenId>> texts(const std::vector<std::string>& all) const {
    std::vector<std::vector<TokenId>> result;
    for (const std::string& text : all) {
      result.push_back(tokenizer->encode(text, {.bos = false}));
      result.back().push_back(0);
    }
    return result;
  }

  std::unique_ptr<Tokenizer> tokenizer;
};

// Each byte a token: one merge, which no story uses.
struct Bytes : Words {
  Bytes() : Words(257) {}
};

// The distribution of the world, byte by byte: half of the stories are English. Only for a tokenizer of bytes.
inline Guess world_guess(const Bytes& bytes) {
  return [&bytes](std::span<const TokenId> before) {
    const StoryWorld& world = StoryWorld::built_in();
    const std::string text = bytes.tokenizer->decode(before.subspan(1));
    // The grammar speaks of whole characters.
    std::string whole = text, half;
    while (!whole.empty() && utf8_incomplete_tail(whole) > 0) {
      half.insert(half.begin(), whole.back());
      whole.pop_back();
    }
    std::map<std::string, double> ways;  // and their probabilities
    bool is_over = false;
    for (const Language language : kLanguages) {
      is_over = is_over || world.parse(text, language).derivations > 0;
      for (const Continuation& way : world.continuations(whole, language)) ways[way.text] += way.probability;
    }
    std::vector<double> probability(static_cast<size_t>(bytes.vocab_size()));
    if (is_over) probability[0] = 1;
    double sum = is_over ? 1 : 0;
    for (const auto& [way, p] : ways) {
      if (is_over || !way.starts_with(half)) continue;
      const std::string next = way.substr(half.size(), 1);
      probability[static_cast<size_t>(bytes.tokenizer->encode(next, {.bos = false})[0])] += p;
      sum += p;
    }
    for (double& p : probability) p = p == 0 ? -80 : std::log(p / sum);
    return probability;
  };
}

// An exam and what it computes with, in double precision.
struct Exam {
  Exam(LanguageModel& model, const Tokenizer& tokenizer)
      : exam(StoryWorld::built_in(), model, tokenizer, kernels, arena) {}
  ReferenceKernels<double> kernels{Threads(1)};
  Arena arena;
  StoryExam exam;
};

}  // namespace orrery::test
