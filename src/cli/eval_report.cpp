#include "cli/eval_report.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/format.h"
#include "base/utf8.h"

namespace orrery::cli {
namespace {

constexpr int kFarTokens = 100;  // recall over more tokens than this is counted by itself
constexpr size_t kShownMistakes = 5;

// What the rows of most tables are about: one language, or all of them.
struct Group {
  std::string name;
  std::optional<Language> language;
  bool holds(Language other) const { return !language || *language == other; }
};

std::vector<Group> groups() {
  std::vector<Group> result;
  for (const Language language : kLanguages) result.push_back({std::string(name_of(language)), language});
  result.push_back({"together", {}});
  return result;
}

std::string percent(double share) { return fixed(100 * share, 1) + "%"; }

std::string share_text(int64_t part, int64_t all) {
  if (all == 0) return "-";
  return with_separators(part) + "/" + with_separators(all) + " " +
         percent(static_cast<double>(part) / static_cast<double>(all));
}

std::string left_out(int count, const std::string& one, const std::string& many) {
  if (count == 0) return "";
  return count == 1 ? "1 " + one + " does not fit the context and is left out\n"
                    : with_separators(count) + " " + many + " do not fit the context and are left out\n";
}

int characters(const std::string& text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

using WhichAnswers = std::function<bool(const RecallAnswer&)>;

RecallTally tally_of(const RecallResult& result, const WhichAnswers& is_in) {
  RecallTally tally;
  for (const RecallAnswer& answer : result.answers) {
    if (is_in(answer)) tally.add(answer);
  }
  return tally;
}

struct AnswerGroup {
  std::string name;
  WhichAnswers is_in;
};

// Ranges of distance, all of them, and those that are far in tokens.
std::vector<AnswerGroup> distance_groups(const RecallPlan& plan) {
  std::vector<AnswerGroup> result;
  for (size_t i = 0; i < plan.ranges.size(); ++i) {
    const DistanceRange& range = plan.ranges[i];
    result.push_back({std::to_string(range.least) + "-" + std::to_string(range.most),
                      [i](const RecallAnswer& answer) { return answer.range == i; }});
  }
  result.push_back({"all", [](const RecallAnswer&) { return true; }});
  result.push_back({"over " + std::to_string(kFarTokens) + " tokens",
                    [](const RecallAnswer& answer) { return answer.token_distance > kFarTokens; }});
  return result;
}

std::vector<AnswerGroup> slot_groups(const RecallResult& result) {
  std::map<std::string, AnswerGroup> slots;
  for (const RecallAnswer& answer : result.answers) {
    const std::string slot = answer.slot;
    slots[slot] = {slot, [slot](const RecallAnswer& other) { return other.slot == slot; }};
  }
  std::vector<AnswerGroup> sorted;
  for (auto& [name, group] : slots) sorted.push_back(std::move(group));
  return sorted;
}

std::string recall_rows(const RecallResult& result, const std::string& head, const std::vector<AnswerGroup>& lines) {
  std::vector<std::vector<std::string>> rows = {{head}};
  for (const Group& group : groups()) rows[0].push_back(group.name);
  rows[0].push_back("by chance");
  for (const AnswerGroup& line : lines) {
    rows.push_back({line.name});
    for (const Group& group : groups()) {
      const RecallTally tally = tally_of(
          result, [&](const RecallAnswer& answer) { return group.holds(answer.language) && line.is_in(answer); });
      rows.back().push_back(share_text(tally.right, tally.asked));
    }
    const RecallTally all = tally_of(result, line.is_in);
    rows.back().push_back(all.asked == 0 ? "-" : percent(all.by_chance / all.asked));
  }
  return table_text(rows);
}

std::string tally_json(int right, int all, const char* all_name) {
  return json_object({{"right", std::to_string(right)}, {all_name, std::to_string(all)}});
}

std::string recall_group_json(const RecallResult& result, const std::vector<AnswerGroup>& lines) {
  JsonMembers members;
  for (const AnswerGroup& line : lines) {
    JsonMembers inner;
    for (const Group& group : groups()) {
      const RecallTally tally = tally_of(
          result, [&](const RecallAnswer& answer) { return group.holds(answer.language) && line.is_in(answer); });
      inner.emplace_back(group.name, json_object({{"right", std::to_string(tally.right)},
                                                  {"asked", std::to_string(tally.asked)},
                                                  {"by_chance", fixed(tally.by_chance, 3)}}));
    }
    members.emplace_back(line.name, json_object(inner));
  }
  return json_object(members);
}

// Of the stories of a group.
struct ToldTally {
  int told = 0, finished = 0, stories = 0, known = 0;
  int64_t tokens = 0, length = 0;
};

ToldTally tally_of(const std::vector<ToldStory>& told, const Group& group) {
  ToldTally tally;
  for (const ToldStory& story : told) {
    if (!group.holds(story.language)) continue;
    ++tally.told;
    tally.finished += story.is_finished;
    tally.stories += story.is_story;
    tally.known += story.is_known;
    tally.tokens += story.tokens;
    tally.length += story.length;
  }
  return tally;
}

std::string mean(int64_t sum, int count) { return count == 0 ? "-" : fixed(static_cast<double>(sum) / count, 1); }

std::string pair_rows_json(const std::vector<std::pair<std::string, PairTally>>& tallies) {
  JsonMembers members;
  for (const auto& [name, tally] : tallies) members.emplace_back(name, tally_json(tally.right, tally.pairs, "pairs"));
  return json_object(members);
}

}  // namespace

std::string table_text(const std::vector<std::vector<std::string>>& rows) {
  std::vector<int> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], characters(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(static_cast<size_t>(widths[i] - characters(row[i])), ' ');
      text += i == 0 ? row[i] + padding : "  " + padding + row[i];
    }
    text += "\n";
  }
  return text;
}

std::string json_string(const std::string& text) {
  std::string result = "\"";
  for (const char c : utf8_sanitized(text)) {
    if (c == '"' || c == '\\') {
      result += std::string("\\") + c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      result += escaped;
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string json_object(const JsonMembers& members) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : members) parts.push_back(json_string(name) + ": " + value);
  return "{" + join(parts, ", ") + "}";
}

std::string loss_table(const LossResult& result) {
  std::vector<std::vector<std::string>> rows = {
      {"nats per token", "stories", "tokens", "model", "floor", "excess", "excess per story"}};
  for (const Group& group : groups()) {
    const LossSummary all = summarize(result.stories, group.language);
    rows.push_back({group.name, with_separators(all.stories), with_separators(all.tokens)});
    if (all.stories == 0) continue;
    const std::string excess = fixed(all.excess, 4) + " ± " + fixed(all.excess_error, 4);
    rows.back().insert(rows.back().end(),
                       {fixed(all.model, 4), fixed(all.floor, 4), excess, fixed(all.excess_per_story, 2)});
  }
  return table_text(rows) + left_out(result.too_long, "story", "stories");
}

std::string loss_json(const LossResult& result) {
  JsonMembers members;
  for (const Group& group : groups()) {
    const LossSummary all = summarize(result.stories, group.language);
    members.emplace_back(group.name, json_object({{"stories", std::to_string(all.stories)},
                                                  {"tokens", std::to_string(all.tokens)},
                                                  {"model_nats_per_token", fixed(all.model, 6)},
                                                  {"floor_nats_per_token", fixed(all.floor, 6)},
                                                  {"excess", fixed(all.excess, 6)},
                                                  {"excess_error", fixed(all.excess_error, 6)},
                                                  {"excess_per_story", fixed(all.excess_per_story, 4)}}));
  }
  members.emplace_back("too_long", std::to_string(result.too_long));
  return json_object(members);
}

std::string recall_table(const RecallResult& result, const RecallPlan& plan) {
  return recall_rows(result, "words or characters", distance_groups(plan)) + "\n" +
         recall_rows(result, "kind of fact", slot_groups(result)) + left_out(result.too_long, "question", "questions");
}

std::string recall_json(const RecallResult& result, const RecallPlan& plan) {
  return json_object({{"by_distance", recall_group_json(result, distance_groups(plan))},
                      {"by_fact", recall_group_json(result, slot_groups(result))},
                      {"too_long", std::to_string(result.too_long)}});
}

std::string told_table(const std::vector<ToldStory>& told, bool knows_training) {
  std::vector<std::vector<std::string>> rows = {
      {"language", "told", "ended", "stories of the world", "mean tokens", "mean words or characters"}};
  if (knows_training) rows[0].push_back("lines of the training text");
  for (const Group& group : groups()) {
    const ToldTally tally = tally_of(told, group);
    rows.push_back({group.name, with_separators(tally.told), with_separators(tally.finished),
                    share_text(tally.stories, tally.told), mean(tally.tokens, tally.told),
                    group.language ? mean(tally.length, tally.told) : ""});
    if (knows_training) rows.back().push_back(share_text(tally.known, tally.told));
  }
  std::string text = table_text(rows);
  size_t shown = 0;
  for (size_t i = 0; i < told.size() && shown < kShownMistakes; ++i) {
    if (told[i].is_story) continue;
    if (shown++ == 0) text += "first mistakes:\n";
    text += "  " + std::to_string(i + 1) + ", " + std::string(name_of(told[i].language)) + " " +
            printable(told[i].mistake) + "\n";
  }
  return text;
}

std::string told_json(const std::vector<ToldStory>& told, bool knows_training) {
  JsonMembers members;
  for (const Group& group : groups()) {
    const ToldTally tally = tally_of(told, group);
    JsonMembers inner = {{"told", std::to_string(tally.told)},
                         {"ended", std::to_string(tally.finished)},
                         {"stories", std::to_string(tally.stories)},
                         {"tokens", std::to_string(tally.tokens)}};
    if (knows_training) inner.emplace_back("in_training", std::to_string(tally.known));
    members.emplace_back(group.name, json_object(inner));
  }
  std::vector<std::string> mistakes;
  for (const ToldStory& story : told) {
    if (!story.is_story) mistakes.push_back(json_string(story.mistake));
  }
  members.emplace_back("mistakes", "[" + join(mistakes, ", ") + "]");
  return json_object(members);
}

std::string pairs_table(const SentencePairResult& result) {
  std::string text;
  for (const auto& [head, tallies] : {std::pair("paradigm", result.paradigms), std::pair("field", result.fields)}) {
    std::vector<std::vector<std::string>> rows = {{head, "right"}};
    for (const auto& [name, tally] : tallies) rows.push_back({printable(name), share_text(tally.right, tally.pairs)});
    text += table_text(rows) + "\n";
  }
  return text + "all pairs: " + share_text(result.all.right, result.all.pairs) + "\n";
}

std::string pairs_json(const SentencePairResult& result) {
  return json_object({{"all", tally_json(result.all.right, result.all.pairs, "pairs")},
                      {"fields", pair_rows_json(result.fields)},
                      {"paradigms", pair_rows_json(result.paradigms)}});
}

}  // namespace orrery::cli
