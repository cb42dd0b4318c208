// The exam's questions about facts: which way on does the model find likeliest?
#include <algorithm>
#include <map>

#include "learn/story_exam.h"

namespace orrery {
namespace {

// Questions drawn for each that is asked: the choice to balance kinds of facts from.
constexpr int kDrawn = 4;

// Tokens that begin at or behind byte `from` of the text.
int tokens_from(const Tokenizer& tokenizer, const std::vector<TokenId>& tokens, size_t from) {
  Detokenizer detokenizer(tokenizer);
  size_t byte = 0;
  int count = 0;
  for (const TokenId token : tokens) {
    count += byte >= from;
    byte += detokenizer.next(token).size();
  }
  return count;
}

size_t common_size(const std::vector<TokenId>& a, const std::vector<TokenId>& b) {
  const size_t shorter = std::min(a.size(), b.size());
  return static_cast<size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(shorter), b.begin()).first - a.begin());
}

}  // namespace

void RecallTally::add(const RecallAnswer& answer) {
  ++asked;
  right += answer.is_right;
  by_chance += 1.0 / answer.choices;
}

std::vector<RecallQuestion> balanced_questions(const StoryWorld& world, Random& random, Language language,
                                               const DistanceRange& range, int count) {
  std::map<std::string, std::vector<RecallQuestion>> drawn;  // by slot
  for (int i = 0; i < kDrawn * count; ++i) {
    RecallQuestion question = world.question(random, language, range.least, range.most);
    drawn[question.slot].push_back(std::move(question));
  }
  std::vector<RecallQuestion> questions;
  while (static_cast<int>(questions.size()) < count) {
    for (auto& [slot, left] : drawn) {  // one of each, as long as there are any
      if (left.empty() || static_cast<int>(questions.size()) == count) continue;
      questions.push_back(std::move(left.back()));
      left.pop_back();
    }
  }
  return questions;
}

// The ids of all tokens whose bytes begin so.
std::vector<TokenId> StoryExam::tokens_beginning_with(std::string_view bytes) const {
  std::vector<TokenId> ids;
  const auto is_before = [](const auto& piece, std::string_view text) { return piece.first < text; };
  for (auto i = std::lower_bound(pieces_.begin(), pieces_.end(), bytes, is_before);
       i != pieces_.end() && i->first.starts_with(bytes); ++i) {
    ids.push_back(i->second);
  }
  return ids;
}

// Texts are cut as a whole: prefix and answer together, for the cut may move at the seam. What follows the answer is
// not known, and in a text without spaces its last token may be one that reaches beyond it ("grandmasaid"): the model
// has seen no other. So any token that begins with the bytes of the last one is right, and the sum of their
// probabilities is compared: that the text goes on with the answer, whatever comes then.
std::vector<double> StoryExam::score_answers(const std::string& prefix, const std::vector<std::string>& answers) {
  std::vector<std::vector<TokenId>> texts;
  for (const std::string& answer : answers) {
    texts.push_back(tokens_behind_beginning(tokenizer_, prefix + answer));
    if (!fits_context(model_, texts.back().size())) return {};
  }
  // At least the last token of each is scored.
  size_t common = texts[0].size() - 1;
  for (const auto& text : texts) common = std::min({common, text.size() - 1, common_size(texts[0], text)});
  std::vector<Branch> branches;
  for (const auto& text : texts) {
    Branch branch{.tokens = {text.begin() + static_cast<std::ptrdiff_t>(common), text.end() - 1}, .last = {}};
    branch.last = tokens_beginning_with(tokenizer_.piece_bytes(text.back()));
    if (branch.last.empty()) branch.last = {text.back()};
    branches.push_back(std::move(branch));
  }
  return branch_log_probabilities(model_, std::span(texts[0]).first(common), branches, kernels_, arena_);
}

RecallResult StoryExam::recall(const RecallPlan& plan, const OnProgress& on_progress) {
  Random random(plan.seed);
  RecallResult result;
  int64_t done = 0;
  const int64_t all = static_cast<int64_t>(plan.ranges.size()) * plan.questions;
  for (size_t range = 0; range < plan.ranges.size(); ++range) {
    for (const Language language : kLanguages) {
      const int count = language == kLanguages[0] ? (plan.questions + 1) / 2 : plan.questions / 2;
      for (const RecallQuestion& question : balanced_questions(world_, random, language, plan.ranges[range], count)) {
        std::vector<std::string> answers = question.wrong;
        answers.insert(answers.begin(), question.answer);
        const std::vector<double> scores = score_answers(question.prefix, answers);
        ++done;
        if (scores.empty()) {
          ++result.too_long;
        } else {
          const auto prefix = tokenizer_.encode(question.prefix, {.bos = false});
          result.answers.push_back({.language = language,
                                    .slot = question.slot,
                                    .range = range,
                                    .distance = question.distance,
                                    .token_distance = tokens_from(tokenizer_, prefix, question.fact_end),
                                    .choices = static_cast<int>(answers.size()),
                                    .is_right = scores[0] > *std::max_element(scores.begin() + 1, scores.end())});
        }
        if (on_progress && !on_progress(done, all)) return result;
      }
    }
  }
  return result;
}

}  // namespace orrery
