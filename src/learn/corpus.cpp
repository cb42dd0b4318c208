#include "learn/corpus.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/random.h"

namespace orrery {
namespace {

constexpr std::string_view kMark = "<|endoftext|>";
constexpr size_t kLongestFile = size_t{4} << 30;

bool is_hidden(const std::filesystem::path& path) { return path.filename().string().starts_with("."); }

// Regular files below a folder, sorted; a file is its own list.
std::vector<std::string> files_of(const std::string& path) {
  std::error_code code;
  if (!std::filesystem::is_directory(path, code)) return {path};
  std::vector<std::string> files;
  std::filesystem::recursive_directory_iterator entry(path, code), end;
  for (; !code && entry != end; entry.increment(code)) {
    if (entry->is_directory() && is_hidden(entry->path())) {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file() && !is_hidden(entry->path())) {
      files.push_back(entry->path().string());
    }
  }
  if (code) throw Error({.what = "the folder cannot be read: " + code.message(), .where = path});
  std::ranges::sort(files);
  return files;
}

void check_text(const std::string& text, const std::string& path) {
  const size_t nul = text.find('\0');
  if (nul == std::string::npos) return;
  throw Error({.what = "this is not a text file",
               .where = path + " at byte " + std::to_string(nul),
               .expected = "text in UTF-8",
               .found = "a NUL byte"});
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kWhite = " \t\r\n";
  const size_t begin = text.find_first_not_of(kWhite);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kWhite) + 1 - begin);
}

// Calls with each stretch between two separators.
template <class Use>
void cut(std::string_view text, std::string_view separator, const Use& use) {
  while (true) {
    const size_t end = std::min(text.find(separator), text.size());
    use(text.substr(0, end));
    if (end == text.size()) return;
    text.remove_prefix(end + separator.size());
  }
}

void cut_at_empty_lines(std::string_view text, std::vector<std::string_view>& documents) {
  size_t begin = 0, line = 0;
  const auto add = [&](size_t end) {
    const std::string_view document = trimmed(text.substr(begin, end - begin));
    if (!document.empty()) documents.push_back(document);
  };
  while (line < text.size()) {
    const size_t end = std::min(text.find('\n', line), text.size());
    if (trimmed(text.substr(line, end - line)).empty()) {
      add(line);
      begin = end;
    }
    line = end + 1;
  }
  if (begin < text.size()) add(text.size());
}

std::vector<std::string_view> documents_of(std::string_view text, Boundary boundary) {
  std::vector<std::string_view> documents;
  const auto add = [&](std::string_view document) {
    if (!document.empty()) documents.push_back(document);
  };
  const bool is_whole = text.find(kMark) == std::string_view::npos;
  cut(text, kMark, [&](std::string_view part) {
    if (boundary == Boundary::empty_line) return cut_at_empty_lines(part, documents);
    if (boundary == Boundary::line) return cut(part, "\n", [&](std::string_view line) { add(trimmed(line)); });
    if (!trimmed(part).empty()) add(is_whole ? part : trimmed(part));
  });
  return documents;
}

// Near this byte, but not within a character.
size_t character_start(std::string_view text, size_t place) {
  while (place > 0 && place < text.size() && (static_cast<unsigned char>(text[place]) & 0xC0) == 0x80) --place;
  return place;
}

void hold_out(std::vector<std::string_view> documents, const CorpusOptions& options, Corpus& corpus) {
  const auto n = documents.size();
  const auto n_held_out = static_cast<size_t>(std::floor(static_cast<double>(n) * options.held_out));
  if (options.held_out > 0 && n_held_out == 0) {
    for (const std::string_view document : documents) {
      const double share = static_cast<double>(document.size()) * (1 - options.held_out);
      const size_t place = character_start(document, static_cast<size_t>(share));
      if (place > 0) corpus.training.push_back(document.substr(0, place));
      if (place < document.size()) corpus.validation.push_back(document.substr(place));
    }
    return;
  }
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  Random random(options.seed);
  for (size_t i = 0; i < n_held_out; ++i) std::swap(order[i], order[i + random.below(n - i)]);
  std::vector<bool> is_held_out(n);
  for (size_t i = 0; i < n_held_out; ++i) is_held_out[order[i]] = true;
  for (size_t i = 0; i < n; ++i) (is_held_out[i] ? corpus.validation : corpus.training).push_back(documents[i]);
}

Corpus corpus_of(std::vector<std::shared_ptr<const std::string>> texts, const CorpusOptions& options,
                 const std::string& where) {
  if (!(options.held_out >= 0 && options.held_out < 1)) {
    throw Error({.what = "this share of the text cannot be held out",
                 .where = where,
                 .expected = "0 up to, but not, 1",
                 .found = std::to_string(options.held_out)});
  }
  Corpus corpus;
  std::vector<std::string_view> documents;
  for (const auto& text : texts) {
    const auto some = documents_of(*text, options.boundary);
    documents.insert(documents.end(), some.begin(), some.end());
  }
  if (documents.empty()) {
    throw Error({.what = "there is no text to learn from", .where = where, .expected = "files with text in UTF-8"});
  }
  hold_out(std::move(documents), options, corpus);
  corpus.owners = std::move(texts);
  return corpus;
}

}  // namespace

uint64_t Corpus::bytes() const {
  uint64_t total = 0;
  for (const auto* documents : {&training, &validation}) {
    for (const std::string_view document : *documents) total += document.size();
  }
  return total;
}

Corpus read_corpus(const std::vector<std::string>& paths, const CorpusOptions& options) {
  std::vector<std::shared_ptr<const std::string>> texts;
  std::string where;
  for (const std::string& path : paths) {
    where += (where.empty() ? "" : ", ") + path;
    for (const std::string& file : files_of(path)) {
      texts.push_back(std::make_shared<const std::string>(read_file(file, kLongestFile)));
      check_text(*texts.back(), file);
    }
  }
  return corpus_of(std::move(texts), options, where);
}

Corpus make_corpus(std::vector<std::string> texts, const CorpusOptions& options) {
  std::vector<std::shared_ptr<const std::string>> owned;
  for (std::string& text : texts) owned.push_back(std::make_shared<const std::string>(std::move(text)));
  return corpus_of(std::move(owned), options, "text");
}

}  // namespace orrery
