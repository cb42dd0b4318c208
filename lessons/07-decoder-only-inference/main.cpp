// The loop that makes text, one function for each step: tokens in, a distribution out, one token drawn, and again.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "cli/session.h"
#include "generate/generate.h"
#include "lesson.h"
#include "plot/heat_map.h"

using namespace orrery;

namespace {

constexpr const char* kPrompt = "Once upon a time";

// Step 1: text becomes token ids.
std::vector<TokenId> tokenise(const cli::Session& session, const std::string& text) {
  return session.tokenizer->encode(text);
}

// Step 2: the model reads all tokens and gives one score (logit) to every token that may come next; softmax makes
// probabilities of them.
std::vector<double> distribution(cli::Session& session, const std::vector<TokenId>& ids, size_t after) {
  std::vector<Row> rows;
  for (size_t i = 0; i < ids.size(); ++i) rows.push_back({ids[i], static_cast<int>(i), nullptr, i == after});
  session.arena.reset();
  const Tensor logits = session.model->forward(rows, *session.kernels, session.arena);  // [1, vocab]
  std::vector<double> shares(values<float>(logits), values<float>(logits) + logits.shape[1]);
  const double largest = *std::ranges::max_element(shares);
  double sum = 0;
  for (double& share : shares) sum += share = std::exp(share - largest);
  for (double& share : shares) share /= sum;
  return shares;
}

// Step 3, the plainest way: the likeliest token.
TokenId likeliest(const std::vector<double>& shares) {
  return static_cast<TokenId>(std::ranges::max_element(shares) - shares.begin());
}

// How undecided the model is, in bits: 0 where one token has everything, 1 where two have half each.
double entropy(const std::vector<double>& shares) {
  double bits = 0;
  for (const double share : shares) bits -= share > 0 ? share * std::log2(share) : 0;
  return bits;
}

std::string text_of(const cli::Session& session, TokenId id) { return "'" + session.tokenizer->piece_bytes(id) + "'"; }

std::vector<TokenId> by_share(const std::vector<double>& shares) {
  std::vector<TokenId> order(shares.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](TokenId a, TokenId b) { return shares[a] > shares[b]; });
  return order;
}

// The three steps in a loop; what comes out is appended to what goes in.
std::vector<TokenId> write(cli::Session& session, int steps) {
  std::vector<TokenId> ids = tokenise(session, kPrompt);
  std::printf("\"%s\" is", kPrompt);
  for (const TokenId id : ids) std::printf(" %d", id);
  std::printf(
      " (the first marks the start of a text).\n\nThe likeliest tokens of each step, the share of each in %%:\n");
  for (int step = 0; step < steps; ++step) {
    const std::vector<double> shares = distribution(session, ids, ids.size() - 1);
    const std::vector<TokenId> order = by_share(shares);
    std::printf("  %d", step + 1);
    for (int i = 0; i < 4; ++i) {
      std::printf("  %-10s %5.1f", text_of(session, order[i]).c_str(), 100 * shares[order[i]]);
    }
    std::printf("  entropy %.2f bits\n", entropy(shares));
    ids.push_back(likeliest(shares));
  }
  std::printf("So far: %s\n", session.tokenizer->decode(ids).c_str());
  return ids;
}

// The same prompt under other ways to draw, which the library has (generate/sampler.h).
void draw(cli::Session& session, const char* name, const SamplerSettings& settings) {
  Sampler sampler(settings, 1);
  session.arena.reset();
  const GenerateOptions options{.max_tokens = 20, .end_tokens = session.tokenizer->vocabulary().end_tokens};
  const Generation made = generate(*session.model, tokenise(session, kPrompt), sampler, *session.kernels, session.arena,
                                   options, [](TokenId) { return true; });
  std::printf("  %-28s%s\n", name, printable(session.tokenizer->decode(made.ids)).c_str());
}

// Decoder-only: what comes later changes nothing before it.
void look_back(cli::Session& session, const std::vector<TokenId>& ids) {
  const size_t place = 4;
  std::vector<TokenId> other = ids;
  std::rotate(other.begin() + place + 1, other.begin() + place + 2, other.end());
  const std::vector<double> alone = distribution(session, {ids.begin(), ids.begin() + place + 1}, place);
  double largest = 0;
  for (const auto& longer : {ids, other}) {
    const std::vector<double> shares = distribution(session, longer, place);
    largest = std::max(largest, lesson::difference(shares, alone));
  }
  std::printf("\nShares after token %zu, with two other continuations behind it: %s\n", place + 1,
              largest < 1e-5 ? "the same" : "CHANGED");
}

// What each kind of model may look at: the first half of the tokens is read, the second half is written.
void draw_masks(const std::string& path) {
  constexpr size_t kTokens = 8, kRead = 4;
  HeatMap map{.title = "Who sees whom",
              .n_rows = kTokens,
              .n_columns = kTokens,
              .rows_label = "position",
              .columns_label = "sees position",
              .values = {.low = 0, .high = 1.5},
              .has_colour_bar = false,
              .n_across = 3,
              .height = 420};
  map.panels = {{.title = "encoder-only"}, {.title = "encoder-decoder"}, {.title = "decoder-only"}};
  for (size_t i = 0; i < kTokens; ++i) {
    for (size_t j = 0; j < kTokens; ++j) {
      const bool sees[] = {true, j < kRead || (i >= kRead && j <= i), j <= i};
      for (int kind = 0; kind < 3; ++kind) {
        map.panels[kind].values.push_back(1);
        map.panels[kind].is_missing.push_back(!sees[kind]);
      }
    }
  }
  write_png(map, path);
}

void teach(const std::string& figure) {
  if (!figure.empty()) draw_masks(figure);
  const auto session = cli::open_session({.threads = 1}, true);
  const std::vector<TokenId> ids = write(*session, 8);
  std::printf("\nTwenty tokens, drawn in other ways:\n");
  draw(*session, "temperature 0", {.temperature = 0});
  draw(*session, "temperature 0.8", {.temperature = 0.8, .top_k = 0, .top_p = 1, .min_p = 0});
  draw(*session, "temperature 2", {.temperature = 2, .top_k = 0, .top_p = 1, .min_p = 0});
  draw(*session, "temperature 2, top-k 3", {.temperature = 2, .top_k = 3, .top_p = 1, .min_p = 0});
  draw(*session, "temperature 2, top-p 0.9", {.temperature = 2, .top_k = 0, .top_p = 0.9, .min_p = 0});
  look_back(*session, ids);
  lesson::check_source("07");
}

}  // namespace

int main(int argc, char** argv) { return lesson::run(argc, argv, teach); }
