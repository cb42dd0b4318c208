#include "measure/score.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "base/error.h"
#include "generate/generate.h"

namespace orrery {
namespace {

constexpr int64_t kLogitBytes = int64_t{64} << 20;  // that one forward pass may fill

// Rows of logits that one forward pass may make.
int64_t rows_per_call(const LanguageModel& model, int64_t max_rows) {
  const int64_t by_memory = kLogitBytes / (int64_t{4} * model.config().vocab_size);
  return std::max<int64_t>(1, std::min(max_rows, by_memory));
}

void require_context(const LanguageModel& model, size_t n_rows, const std::string& where) {
  if (n_rows <= static_cast<size_t>(model.context_length())) return;
  throw Error({.what = "a text is longer than the model's context",
               .where = where,
               .expected = "at most " + std::to_string(model.context_length() + 1) + " tokens, the first among them",
               .found = std::to_string(n_rows + 1)});
}

// -log p of the targets; finite.
std::vector<double> losses_of(const Tensor& logits, std::span<const TokenId> targets, Kernels& kernels) {
  std::vector<double> losses(targets.size());
  kernels.cross_entropy(logits, targets, losses);
  for (size_t i = 0; i < losses.size(); ++i) {
    if (std::isfinite(losses[i])) continue;
    throw Error({.what = "the loss is not finite: the model or its file is broken",
                 .where = "row " + std::to_string(i) + " of a forward pass"});
  }
  return losses;
}

double logit(const Tensor& logits, int64_t row, TokenId id) {  // logits [n, vocab]
  return element(logits, row * logits.stride[0] + id);
}

// log(p(any of ids) / p(ids[0])), where p(b) / p(a) = exp(logit of b - logit of a).
double gain_of_others(const Tensor& logits, int64_t row, std::span<const TokenId> ids) {
  const double first = logit(logits, row, ids[0]);
  double largest = first;
  for (const TokenId id : ids) largest = std::max(largest, logit(logits, row, id));
  double sum = 0;
  for (const TokenId id : ids) sum += std::exp(logit(logits, row, id) - largest);
  return largest - first + std::log(sum);
}

// The rows of some texts, and what each is to guess.
struct Batch {
  std::vector<Row> rows;
  std::vector<TokenId> targets;

  void add(TokenId token, int position, SequenceState* state, TokenId target) {
    rows.push_back({token, position, state, true});
    targets.push_back(target);
  }
};

TokenId marker(const Vocabulary& vocabulary, bool prefers_bos) {
  const TokenId end = vocabulary.end_tokens.empty() ? kNoToken : vocabulary.end_tokens[0];
  const TokenId first = prefers_bos ? vocabulary.bos : end;
  const TokenId id = first != kNoToken ? first : prefers_bos ? end : vocabulary.bos;
  if (id != kNoToken) return id;
  throw Error({.what = "the model has no token that begins or ends a text",
               .where = "vocabulary",
               .hint = "a text is scored from its beginning on: name a model with BOS or EOS"});
}

}  // namespace

TokenId beginning_token(const Vocabulary& vocabulary) { return marker(vocabulary, true); }
TokenId ending_token(const Vocabulary& vocabulary) { return marker(vocabulary, false); }

std::vector<TokenId> tokens_behind_beginning(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<TokenId> tokens = tokenizer.encode(text, {.bos = false});
  tokens.insert(tokens.begin(), beginning_token(tokenizer.vocabulary()));
  return tokens;
}

bool fits_context(const LanguageModel& model, size_t n_tokens) {
  return n_tokens <= static_cast<size_t>(model.context_length()) + 1;
}

std::vector<double> log_probabilities(LanguageModel& model, std::span<const std::vector<TokenId>> texts,
                                      Kernels& kernels, Arena& arena, const OnProgress& on_progress, int64_t max_rows) {
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string where = "text " + std::to_string(i + 1);
    if (texts[i].empty()) throw Error({.what = "a text without tokens cannot be scored", .where = where});
    require_context(model, texts[i].size() - 1, where);
  }
  const auto most = static_cast<size_t>(rows_per_call(model, max_rows));
  std::vector<double> result;
  while (result.size() < texts.size()) {
    const size_t first = result.size();
    size_t end = first;
    Batch batch;
    do {
      const std::vector<TokenId>& text = texts[end++];
      for (size_t i = 0; i + 1 < text.size(); ++i) batch.add(text[i], static_cast<int>(i), nullptr, text[i + 1]);
    } while (end < texts.size() && batch.rows.size() + texts[end].size() - 1 <= most);

    std::vector<double> losses;
    if (!batch.rows.empty()) {
      arena.reset();
      losses = losses_of(model.forward(batch.rows, kernels, arena), batch.targets, kernels);  // [rows, vocab]
    }
    size_t row = 0;
    for (size_t i = first; i < end; ++i) {
      double sum = 0;
      for (size_t left = texts[i].size() - 1; left > 0; --left) sum -= losses[row++];
      result.push_back(sum);
    }
    if (on_progress && !on_progress(static_cast<int64_t>(end), static_cast<int64_t>(texts.size()))) break;
  }
  return result;
}

std::vector<double> branch_log_probabilities(LanguageModel& model, std::span<const TokenId> start,
                                             std::span<const Branch> branches, Kernels& kernels, Arena& arena,
                                             int64_t max_rows) {
  if (start.empty()) throw Error({.what = "a text without tokens cannot be scored", .where = "start"});
  for (const Branch& branch : branches) {
    if (branch.last.empty()) throw Error({.what = "a branch without a last token cannot be scored"});
    require_context(model, start.size() + branch.tokens.size(), "branch");
  }
  const auto trunk = model.new_sequence();  // all of the start but its last token, which belongs to each branch
  if (start.size() > 1) prefill(model, *trunk, start.first(start.size() - 1), kernels, arena);
  const auto most = static_cast<size_t>(rows_per_call(model, max_rows));
  std::vector<double> result;
  while (result.size() < branches.size()) {
    const size_t first = result.size();
    size_t end = first;
    Batch batch;
    std::vector<std::unique_ptr<SequenceState>> states;
    do {
      const Branch& branch = branches[end++];
      states.push_back(trunk->fork());
      TokenId token = start.back();
      int position = trunk->length();
      for (const TokenId target : branch.tokens) {
        batch.add(token, position++, states.back().get(), target);
        token = target;
      }
      batch.add(token, position, states.back().get(), branch.last[0]);
    } while (end < branches.size() && batch.rows.size() + branches[end].tokens.size() + 1 <= most);

    arena.reset();
    const Tensor logits = model.forward(batch.rows, kernels, arena);  // [rows, vocab]
    const std::vector<double> losses = losses_of(logits, batch.targets, kernels);
    size_t row = 0;
    for (size_t i = first; i < end; ++i) {
      double sum = 0;
      for (size_t left = branches[i].tokens.size() + 1; left > 0; --left) sum -= losses[row++];
      result.push_back(sum + gain_of_others(logits, static_cast<int64_t>(row) - 1, branches[i].last));
    }
  }
  return result;
}

}  // namespace orrery
