#include "learn/word_rules.h"

#include <algorithm>
#include <regex>
#include <string_view>

#include "base/error.h"
#include "base/format.h"

namespace orrery {
namespace {

constexpr std::string_view kArrow = " -> ";

}  // namespace

std::vector<bool> fitting(const std::vector<std::string>& words, const std::string& pattern) {
  try {
    const std::regex regex(pattern);
    std::vector<bool> fits;
    for (const std::string& word : words) fits.push_back(std::regex_match(word, regex));
    return fits;
  } catch (const std::regex_error& error) {
    throw Error({.what = "this is no regular expression", .found = "'" + pattern + "' (" + error.what() + ")"});
  }
}

WordRules::WordRules(std::span<const char* const> rules, const std::vector<std::string>& vocabulary, double trust)
    : n_words_(static_cast<double>(vocabulary.size())), trust_(trust) {
  if (!(trust > 0 && trust < 1)) {
    throw Error({.what = "rules need a trust", .expected = "a number between 0 and 1", .found = fixed(trust, 3)});
  }
  for (const std::string rule : rules) {
    const size_t arrow = rule.find(kArrow);
    if (arrow == rule.npos) throw Error({.what = "this is no rule", .expected = "BEFORE -> NEXT", .found = rule});
    std::vector<bool> allows = fitting(vocabulary, rule.substr(arrow + kArrow.size()));
    const auto n = static_cast<double>(std::ranges::count(allows, true));
    if (n == 0 || n == n_words_) {
      throw Error({.what = "a rule must allow some words and forbid some",
                   .where = rule,
                   .expected = "1 to " + fixed(n_words_ - 1, 0) + " of the words",
                   .found = fixed(n, 0)});
    }
    rules_.push_back({fitting(vocabulary, rule.substr(0, arrow)), std::move(allows), n});
  }
}

const WordRules::Rule* WordRules::rule_for(const WordPair& pair) const {
  const auto word = static_cast<size_t>(pair.before.back());
  const auto found = std::ranges::find_if(rules_, [&](const Rule& rule) { return rule.applies[word]; });
  return found == rules_.end() ? nullptr : &*found;
}

double WordRules::p(const WordPair& pair) const {
  const Rule* rule = rule_for(pair);
  if (rule == nullptr) return 1 / n_words_;
  return rule->allows[static_cast<size_t>(pair.next)] ? trust_ / rule->n_allowed
                                                      : (1 - trust_) / (n_words_ - rule->n_allowed);
}

WordRules::Coverage WordRules::coverage(std::span<const WordPair> pairs) const {
  double applies = 0, right = 0;
  for (const WordPair& pair : pairs) {
    const Rule* rule = rule_for(pair);
    if (rule == nullptr) continue;
    ++applies;
    if (rule->allows[static_cast<size_t>(pair.next)]) ++right;
  }
  return {applies / static_cast<double>(pairs.size()), right / applies};
}

}  // namespace orrery
