#include "measure/sentence_pairs.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/format.h"
#include "base/mapped_file.h"

namespace orrery {
namespace {

constexpr size_t kLargestFile = size_t{1} << 30;
constexpr std::array<const char*, 4> kColumns = {"paradigm", "field", "good", "bad"};

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Without the ends of lines; nothing stands behind the last of them.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines = split(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  for (std::string& line : lines) {
    if (line.ends_with('\r')) line.pop_back();
  }
  return lines;
}

// Where each of kColumns stands in the head.
std::array<size_t, kColumns.size()> find_columns(const std::vector<std::string>& head, const std::string& where) {
  std::array<size_t, kColumns.size()> places{};
  for (size_t i = 0; i < kColumns.size(); ++i) {
    const auto found = std::find(head.begin(), head.end(), kColumns[i]);
    if (found == head.end()) {
      throw Error({.what = "the first line does not name the column '" + std::string(kColumns[i]) + "'",
                   .where = where + ": line 1",
                   .expected = "paradigm, field, good and bad, between tabs",
                   .found = "'" + printable(join(head, ", ").substr(0, 80)) + "'"});
    }
    places[i] = static_cast<size_t>(found - head.begin());
  }
  return places;
}

void count(std::vector<std::pair<std::string, PairTally>>& tallies, const std::string& name, bool is_right) {
  auto found = std::find_if(tallies.begin(), tallies.end(), [&](const auto& tally) { return tally.first == name; });
  if (found == tallies.end()) found = tallies.insert(found, {name, {}});
  found->second.right += is_right;
  ++found->second.pairs;
}

}  // namespace

std::vector<SentencePair> parse_sentence_pairs(std::string_view text, const std::string& where) {
  const std::vector<std::string> lines = lines_of(text);
  const std::vector<std::string> head = split(lines.empty() ? "" : lines[0], '\t');
  const auto place = find_columns(head, where);
  std::vector<SentencePair> pairs;
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::string at = where + ": line " + std::to_string(i + 1);
    std::vector<std::string> cells = split(lines[i], '\t');
    if (cells.size() != head.size()) {
      throw Error({.what = "this line has another number of columns than the first",
                   .where = at,
                   .expected = std::to_string(head.size()),
                   .found = std::to_string(cells.size())});
    }
    if (cells[place[2]].empty() || cells[place[3]].empty()) {
      throw Error({.what = "a sentence of this pair is empty", .where = at});
    }
    pairs.push_back({cells[place[0]], cells[place[1]], cells[place[2]], cells[place[3]], at});
  }
  if (pairs.empty()) {
    throw Error({.what = "there are no pairs of sentences", .where = where, .expected = "one in each line"});
  }
  return pairs;
}

std::vector<SentencePair> read_sentence_pairs(const std::string& path) {
  return parse_sentence_pairs(read_file(path, kLargestFile), path == "-" ? "standard input" : path);
}

SentencePairResult judge_sentence_pairs(LanguageModel& model, const Tokenizer& tokenizer,
                                        std::span<const SentencePair> pairs, Kernels& kernels, Arena& arena,
                                        const OnProgress& on_progress) {
  std::vector<std::vector<TokenId>> texts;  // good, bad, good, bad, ...
  for (const SentencePair& pair : pairs) {
    for (const std::string& sentence : {pair.good, pair.bad}) {
      texts.push_back(tokens_behind_beginning(tokenizer, sentence));
      if (fits_context(model, texts.back().size())) continue;
      throw Error({.what = "a sentence is longer than the model's context",
                   .where = pair.where,
                   .expected = "at most " + std::to_string(model.context_length()) + " tokens",
                   .found = std::to_string(texts.back().size() - 1)});
    }
  }
  const std::vector<double> scores = log_probabilities(model, texts, kernels, arena, on_progress);
  SentencePairResult result;
  for (size_t i = 0; 2 * i + 1 < scores.size(); ++i) {
    const bool is_right = scores[2 * i] > scores[2 * i + 1];
    result.all.right += is_right;
    ++result.all.pairs;
    count(result.fields, pairs[i].field, is_right);
    count(result.paradigms, pairs[i].paradigm, is_right);
  }
  return result;
}

}  // namespace orrery
