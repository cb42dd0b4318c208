#include "learn/story_exam.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/error.h"

namespace orrery {

StoryExam::StoryExam(const StoryWorld& world, LanguageModel& model, const Tokenizer& tokenizer, Kernels& kernels,
                     Arena& arena)
    : world_(world),
      model_(model),
      tokenizer_(tokenizer),
      kernels_(kernels),
      arena_(arena),
      begin_(beginning_token(tokenizer.vocabulary())),
      end_(ending_token(tokenizer.vocabulary())) {
  const size_t n_tokens = std::min(tokenizer.vocabulary().pieces.size(), size_t(model.config().vocab_size));
  for (size_t i = 0; i < n_tokens; ++i) {
    const auto id = static_cast<TokenId>(i);
    if (std::string bytes = tokenizer.piece_bytes(id); !bytes.empty()) pieces_.emplace_back(std::move(bytes), id);
  }
  std::sort(pieces_.begin(), pieces_.end());
}

LossResult StoryExam::loss(int stories, uint64_t seed, const OnProgress& on_progress) {
  StoryLines lines(world_, {std::begin(kLanguages), std::end(kLanguages)}, seed);
  LossResult result;
  for (int told = 0; told < stories;) {
    std::vector<std::vector<TokenId>> texts;  // of about one forward pass
    for (size_t rows = 0; told < stories && rows < kScoreRows; ++told) {
      const Story story = lines.next();
      std::vector<TokenId> tokens = tokens_behind_beginning(tokenizer_, story.text);
      tokens.push_back(end_);
      rows += tokens.size();
      if (!fits_context(model_, tokens.size())) {
        ++result.too_long;
        continue;
      }
      result.stories.push_back({.language = story.language,
                                .tokens = static_cast<int>(tokens.size()) - 1,
                                .floor_nats = std::numbers::ln2 - story.log_probability});
      texts.push_back(std::move(tokens));
    }
    const std::vector<double> scores = log_probabilities(model_, texts, kernels_, arena_);
    for (size_t i = 0; i < scores.size(); ++i) {
      result.stories[result.stories.size() - scores.size() + i].model_nats = -scores[i];
    }
    if (on_progress && !on_progress(told, stories)) break;
  }
  return result;
}

LossSummary summarize(const std::vector<ScoredStory>& stories, std::optional<Language> language) {
  LossSummary result;
  for (const ScoredStory& story : stories) {
    if (language && story.language != *language) continue;
    ++result.stories;
    result.tokens += story.tokens;
    result.model += story.model_nats;
    result.floor += story.floor_nats;
  }
  if (result.stories == 0) return result;
  const auto n = static_cast<double>(result.stories);
  const auto tokens = static_cast<double>(result.tokens);
  result.excess_per_story = (result.model - result.floor) / n;
  result.model /= tokens;
  result.floor /= tokens;
  result.excess = result.model - result.floor;
  if (result.stories < 2) return result;
  double squares = 0;  // of what a story has more than its tokens explain
  for (const ScoredStory& story : stories) {
    if (language && story.language != *language) continue;
    const double rest = story.model_nats - story.floor_nats - result.excess * story.tokens;
    squares += rest * rest;
  }
  result.excess_error = std::sqrt(squares * n / (n - 1)) / tokens;
  return result;
}

struct StoryExam::Telling {
  size_t index = 0;
  std::unique_ptr<SequenceState> state;
  Sampler sampler;
  std::vector<TokenId> tokens;  // the beginning token first
  bool is_finished = false;     // by an end token
  bool is_over = false;         // also by the limit
};

// One token more of each story.
void StoryExam::step(std::vector<Telling>& tellings, const TellPlan& plan) {
  std::vector<Row> rows;
  for (const Telling& telling : tellings) {
    rows.push_back({telling.tokens.back(), telling.state->length(), telling.state.get(), true});
  }
  arena_.reset();
  const Tensor logits = model_.forward(rows, kernels_, arena_);  // [stories, vocab]
  for (size_t i = 0; i < tellings.size(); ++i) {
    Telling& telling = tellings[i];
    Tensor row = reshape(slice_rows(logits, static_cast<int64_t>(i), 1), {logits.shape[1]});  // [vocab]
    const int position = telling.state->length();
    const TokenId next = telling.sampler.sample(row, telling.tokens, position, kernels_);
    telling.is_finished = next == end_ || tokenizer_.is_end(next);
    if (!telling.is_finished) telling.tokens.push_back(next);
    const bool is_full = position >= model_.context_length() || std::ssize(telling.tokens) > plan.max_tokens;
    telling.is_over = telling.is_finished || is_full;
  }
}

ToldStory StoryExam::judged(const Telling& telling, const TellPlan& plan) const {
  ToldStory story;
  story.tokens = static_cast<int>(telling.tokens.size()) - 1;
  story.text = tokenizer_.decode(std::span(telling.tokens).subspan(1));
  Judgement judgement = judge_story(world_, story.text);
  story.language = judgement.language;
  story.length = story_length(story.text, story.language);
  story.is_finished = telling.is_finished;
  story.is_story = telling.is_finished && judgement.is_story;
  story.is_known = plan.training != nullptr && plan.training->contains(story.text);
  story.mistake = std::move(judgement.reading.mistake);
  if (!story.is_finished) {
    const bool is_right_so_far = judgement.reading.good_bytes == story.text.size();
    story.mistake = "no end token within " + std::to_string(story.tokens) + " tokens" +
                    (is_right_so_far ? ", though no mistake up to there" : "; " + story.mistake);
  }
  return story;
}

std::vector<ToldStory> StoryExam::tell(const TellPlan& plan, const OnProgress& on_progress) {
  const auto n_stories = static_cast<size_t>(std::max(plan.stories, 0));
  std::vector<ToldStory> told(n_stories);
  std::vector<bool> is_told(n_stories);
  std::vector<Telling> tellings;
  Random seeds(plan.seed);
  size_t begun = 0;
  int64_t done = 0;
  while (done < plan.stories) {
    while (begun < n_stories && std::ssize(tellings) < std::max(plan.together, 1)) {
      tellings.push_back({begun++, model_.new_sequence(), Sampler(plan.sampler, seeds.next()), {begin_}});
    }
    step(tellings, plan);
    for (const Telling& telling : tellings) {
      if (!telling.is_over) continue;
      told[telling.index] = judged(telling, plan);
      is_told[telling.index] = true;
      ++done;
    }
    std::erase_if(tellings, [](const Telling& telling) { return telling.is_over; });
    if (on_progress && !on_progress(done, plan.stories)) break;
  }
  std::vector<ToldStory> result;
  for (size_t i = 0; i < n_stories; ++i) {
    if (is_told[i]) result.push_back(std::move(told[i]));
  }
  return result;
}

}  // namespace orrery
