// Claims for a console.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/utf8.h"
#include "claims/claims.h"
#include "units/unit.h"

namespace orrery {
namespace {

constexpr size_t kColumns = 100;
constexpr size_t kIndent = 2, kLabel = 9;

bool may_not_begin_a_line(std::string_view character) {
  for (const std::string_view mark : {"，", "。", "；", "：", "、", "）", "”", "》", "！", "？"}) {
    if (character == mark) return true;
  }
  return false;
}

// Cuts a text where a line may end: at spaces, and beside Chinese characters. A piece keeps the space behind it.
std::vector<std::string> pieces(std::string_view text) {
  std::vector<std::string> result;
  bool ended = true;
  while (!text.empty()) {
    const size_t length = std::max<size_t>(1, utf8_length(text));
    const std::string_view character = text.substr(0, length);
    const bool is_wide = terminal_columns(character) == 2;
    if (!result.empty() && (may_not_begin_a_line(character) || (!ended && !is_wide))) {
      result.back() += character;
    } else {
      result.emplace_back(character);
    }
    ended = is_wide || character == " ";
    text.remove_prefix(length);
  }
  return result;
}

std::string padded(const std::string& text, size_t width) {
  return text + std::string(width - std::min(width, terminal_columns(text)), ' ');
}

std::string without_last_space(std::string line) {
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

// "  label    text that goes on below itself\n"
std::string labelled(const std::string& label, std::string_view text) {
  std::string line = std::string(kIndent, ' ') + padded(label, kLabel), result;
  size_t used = kIndent + kLabel;
  bool is_first = true;
  for (const std::string& piece : pieces(text)) {
    const size_t width = terminal_columns(without_last_space(piece));
    if (used + width > kColumns && !is_first) {
      result += without_last_space(line) + "\n";
      line = std::string(kIndent + kLabel, ' ');
      used = kIndent + kLabel;
    }
    line += piece;
    used += terminal_columns(piece);
    is_first = false;
  }
  return result + without_last_space(line) + "\n";
}

// "; stated 3.7e23 FLOP, 1.06e12 times that"
std::string comparison(const Claim& claim, const Evaluation& ours, bool is_english) {
  const Quantity stated = parse_quantity(claim.stated);
  std::string text = (is_english ? "; stated " : "；原文 ") + claim.stated;
  if (ours.value.value == 0 || stated.value == 0) return text;
  const double ratio = stated.value / ours.value.value;
  if (std::abs(ratio - 1) <= claim.tolerance) return text;
  std::string factor;
  if (ratio >= 1) {
    factor = ratio < 1e5 ? significant(ratio, 3) : scientific(ratio, 3);
    return text + (is_english ? ", " + factor + " times that" : "，是它的 " + factor + " 倍");
  }
  const double size = 1 / ratio;
  factor =
      size < 10 ? significant(100 * ratio, 3) + "%" : "1/" + (size < 1e5 ? significant(size, 3) : scientific(size, 3));
  return text + (is_english ? ", " + factor + " of that" : "，是它的 " + factor);
}

}  // namespace

std::string checked_text(const Claim& claim, ClaimLanguage language) {
  const bool is_english = language == ClaimLanguage::english;
  const std::string verdict = verdict_name(claim.verdict, language);
  std::string text = claim.id + "  " + claim.section + "  " + verdict + "\n";
  text += labelled(is_english ? "says" : "原文", claim.says.in(language));
  if (const auto ours = computed(claim)) {
    text += labelled(is_english ? "formula" : "公式", claim.formula);
    text += labelled(is_english ? "ours" : "计算",
                     evaluation_text(*ours) + (claim.stated.empty() ? "" : comparison(claim, *ours, is_english)));
  }
  text += labelled(is_english ? "verdict" : "判定", verdict + (is_english ? ": " : "：") + claim.why.in(language));
  const std::string evidence = evidence_name(claim.evidence, language);
  if (claim.evidence != Evidence::none) {
    text += labelled(is_english ? "source" : "依据",
                     claim.reference + (is_english ? " (" + evidence + ")" : "（" + evidence + "）"));
  }
  return text;
}

std::string checked_text(std::string_view id, ClaimLanguage language) {
  const Claim* claim = find_claim(id);
  if (claim != nullptr) return checked_text(*claim, language);
  throw Error({.what = "there is no such claim",
               .where = std::string(id),
               .expected = "CL-A01 to CL-A66, CL-B01 to CL-B44, CL-C01 to CL-C54"});
}

std::string claim_line(const Claim& claim, ClaimLanguage language) {
  std::string numbers;
  if (const auto ours = computed(claim)) {
    numbers = (claim.stated.empty() ? "-" : claim.stated) + " | " + evaluation_text(*ours);
  }
  return claim.id + "  " + padded(verdict_name(claim.verdict, language), 13) + padded(numbers, 34) + "  " +
         claim.says.in(language);
}

std::string totals_text(const std::vector<const Claim*>& all, ClaimLanguage language) {
  std::array<size_t, 4> count{};
  for (const Claim* claim : all) ++count[static_cast<size_t>(claim->verdict)];
  const bool is_english = language == ClaimLanguage::english;
  std::string text =
      std::to_string(all.size()) + (is_english ? all.size() == 1 ? " claim: " : " claims: " : " 条说法：");
  for (size_t i = 0; i < count.size(); ++i) {
    const std::string name = verdict_name(static_cast<Verdict>(i), language);
    if (i > 0) text += is_english ? ", " : "，";
    text += is_english ? std::to_string(count[i]) + " " + name : name + " " + std::to_string(count[i]);
  }
  return text;
}

}  // namespace orrery
