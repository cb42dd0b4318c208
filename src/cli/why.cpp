#include "cli/why.h"

#include <algorithm>
#include <cstdio>

#include "base/format.h"
#include "cli/session.h"

namespace orrery::cli {
namespace {

constexpr size_t kPieceColumns = 14;
constexpr size_t kStageColumns = 18;  // "   12/3072   46.6%"

// "top-k 40"
std::string heading(std::string_view stage, const SamplerSettings& s) {
  char text[40];
  const std::string name(stage);
  const double value = stage == "repeat-penalty" ? s.repeat_penalty
                       : stage == "top-k"        ? s.top_k
                       : stage == "top-p"        ? s.top_p
                       : stage == "min-p"        ? s.min_p
                                                 : s.temperature;
  std::snprintf(text, sizeof text, "%s %.4g", stage == "repeat-penalty" ? "penalty" : name.c_str(), value);
  if (stage == "repeat-penalty" && value == 1) return "banned";
  return stage == "model" ? name : text;
}

// The stages of all steps: a token that nothing was banned for may have one less.
std::vector<std::string_view> stage_names(std::span<const Explanation> explanations) {
  std::vector<std::string_view> names;
  for (const Explanation& why : explanations) {
    if (why.stages.size() <= names.size()) continue;
    names.clear();
    for (const SamplerStage& stage : why.stages) names.push_back(stage.name);
  }
  return names;
}

std::string right(const std::string& text, size_t columns) {
  return text.size() < columns ? std::string(columns - text.size(), ' ') + text : text;
}

std::string line(const Explanation& why, std::span<const std::string_view> names, const Tokenizer* tokenizer) {
  std::string text = right(std::to_string(why.position), 8) + "  " + quoted_piece(tokenizer, why.drawn, kPieceColumns);
  const size_t drawn = why.index_of_drawn();
  for (const std::string_view name : names) {
    const auto is_it = [&](const SamplerStage& stage) { return name == stage.name; };
    const auto stage = std::ranges::find_if(why.stages, is_it);
    std::string cell;
    if (stage != why.stages.end()) {
      cell = std::to_string(stage->rank[drawn]) + "/" + std::to_string(stage->left) +
             right(fixed(100 * stage->probability[drawn], 1) + "%", 7);
    }
    text += right(cell, kStageColumns);
  }
  return text + (why.is_greedy ? "" : right(fixed(why.random, 4), 8)) + "\n";
}

}  // namespace

std::string why_text(std::span<const Explanation> explanations, const SamplerSettings& settings,
                     const Tokenizer* tokenizer) {
  if (explanations.empty()) return "no token was drawn\n";
  const bool is_greedy = settings.temperature == 0;
  const auto names = stage_names(explanations);
  std::string text = is_greedy ? "greedy (--temp 0): always the largest; no other step of the sampler is used\n" : "";
  text += "position  token         ";
  for (const std::string_view name : names) text += right(heading(name, settings), kStageColumns);
  text += is_greedy ? "\n" : "  random\n";
  for (const Explanation& why : explanations) text += line(why, names, tokenizer);
  return text;
}

}  // namespace orrery::cli
