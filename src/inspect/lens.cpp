#include "inspect/lens.h"

#include <algorithm>

#include "base/error.h"

namespace orrery {
namespace {

// Logits of so many rows at a time: a vocabulary may have 150,000 tokens.
constexpr size_t kRowsAtOnce = 16;

}  // namespace

Lens::Lens(const Transformer& model, Kernels& kernels, int top, Choice choice)
    : model_(model),
      kernels_(kernels),
      top_(top),
      choice_(std::move(choice)),
      guesses_(static_cast<size_t>(model.config().n_layers) + 1) {}

bool Lens::wants(const Probe& probe) const {
  return probe.layer < 0 ? probe.name == "embed" : probe.name.ends_with(".resid");
}

void Lens::on_tensor(const Probe& probe, Tensor& tensor) {
  if (!wants(probe)) return;
  auto& guesses = guesses_[static_cast<size_t>(probe.layer + 1)];
  for (size_t first = 0; first < probe.rows.size(); first += kRowsAtOnce) {
    const size_t count = std::min(kRowsAtOnce, probe.rows.size() - first);
    read(guesses, probe.rows.subspan(first, count),
         slice_rows(tensor, static_cast<int64_t>(first), static_cast<int64_t>(count)));
  }
}

void Lens::read(std::map<int, std::vector<Guess>>& guesses, std::span<const Row> rows, const Tensor& resid) {
  arena_.reset();
  Pass pass{.rows = rows, .kernels = kernels_, .arena = arena_, .observers = {}};
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!choice_ || choice_(rows[i].position)) pass.logit_rows.push_back(static_cast<int>(i));
  }
  if (pass.logit_rows.empty()) return;
  const Tensor logits = model_.head(pass, resid);  // [rows chosen, vocab]
  Tensor probability = arena_.make("probability", logits.dtype, {logits.shape[0], logits.shape[1]});
  kernels_.softmax(logits, probability);  // [rows chosen, vocab]
  for (size_t i = 0; i < pass.logit_rows.size(); ++i) {
    const Tensor row = reshape(slice_rows(probability, static_cast<int64_t>(i), 1), {logits.shape[1]});
    std::vector<Guess>& likeliest = guesses[rows[static_cast<size_t>(pass.logit_rows[i])].position];
    likeliest.clear();
    for (const Candidate& candidate : kernels_.largest(row, top_)) likeliest.push_back({candidate.id, candidate.value});
  }
}

std::vector<int> Lens::positions() const {
  std::vector<int> result;
  for (const auto& [position, guesses] : guesses_.front()) result.push_back(position);
  return result;
}

std::span<const Guess> Lens::at(int depth, int position) const {
  if (depth >= 0 && depth < n_depths()) {
    const auto& guesses = guesses_[static_cast<size_t>(depth)];
    const auto found = guesses.find(position);
    if (found != guesses.end()) return found->second;
  }
  throw Error({.what = "the lens has not looked there",
               .where = "position " + std::to_string(position) + ", depth " + std::to_string(depth)});
}

}  // namespace orrery
