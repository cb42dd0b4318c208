#include "compare/tasks.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/error.h"
#include "base/format.h"

namespace orrery {
namespace {

int between(Random& random, int first, int last) {
  return first + static_cast<int>(random.below(static_cast<uint64_t>(last - first + 1)));
}

class ReverseTask : public SequenceTask {
 public:
  ReverseTask(int letters, int longest)
      : letters_(std::string_view("abcdefghijklmnopqrstuvwxyz").substr(0, static_cast<size_t>(letters))),
        alphabet_(letters_),
        longest_(longest) {}

  const char* name() const override { return "reverse"; }
  const char* description() const override { return "the letters from the last to the first"; }
  const char* length_name() const override { return "letters"; }
  const Alphabet& alphabet() const override { return alphabet_; }
  int shortest() const override { return 1; }
  int longest() const override { return longest_; }
  int longest_source() const override { return longest_; }
  int longest_target() const override { return longest_; }
  SequencePair pair(Random& random, int length) const override {
    SequencePair pair;
    for (int i = 0; i < length; ++i) pair.source += letters_[random.below(letters_.size())];
    pair.target.assign(pair.source.rbegin(), pair.source.rend());
    return pair;
  }

 private:
  std::string letters_;
  Alphabet alphabet_;
  int longest_;
};

constexpr std::array<const char*, 12> kMonths = {"january", "february", "march",     "april",   "may",      "june",
                                                 "july",    "august",   "september", "october", "november", "december"};

// Days of a month in the Gregorian calendar.
int days_of(int month, int year) {
  constexpr std::array kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && is_leap ? 29 : kDays[static_cast<size_t>(month - 1)];
}

std::string padded(int number, size_t digits) {
  const std::string text = std::to_string(number);
  return std::string(digits - std::min(digits, text.size()), '0') + text;
}

class DatesTask : public SequenceTask {
 public:
  const char* name() const override { return "dates"; }
  const char* description() const override { return "a date in one of six forms as year-month-day"; }
  const char* length_name() const override { return "digits of the year"; }
  const Alphabet& alphabet() const override { return alphabet_; }
  int shortest() const override { return 1; }
  int longest() const override { return 4; }
  int longest_source() const override { return 24; }
  int longest_target() const override { return 10; }
  SequencePair pair(Random& random, int length) const override {
    const int least = length == 1 ? 1 : std::array{1, 10, 100, 1000}[static_cast<size_t>(length - 1)];
    const int year = between(random, least, length == 1 ? 9 : least * 10 - 1);
    const int month = between(random, 1, 12), day = between(random, 1, days_of(month, year));
    const std::string y = std::to_string(year), d = std::to_string(day), m = std::to_string(month);
    const std::string word = kMonths[static_cast<size_t>(month - 1)];
    const std::string forms[] = {word + " " + d + ", " + y,
                                 d + " " + word + " " + y,
                                 d + " " + word.substr(0, 3) + " " + y,
                                 d + "." + m + "." + y,
                                 padded(month, 2) + "/" + padded(day, 2) + "/" + y,
                                 word.substr(0, 3) + " " + d + " " + y};
    return {forms[random.below(std::size(forms))], padded(year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2)};
  }

 private:
  Alphabet alphabet_{"abcdefghijklmnopqrstuvwxyz0123456789 ,./-"};
};

class AdditionTask : public SequenceTask {
 public:
  explicit AdditionTask(int longest) : longest_(longest) {}

  const char* name() const override { return "addition"; }
  const char* description() const override { return "the sum of two numbers"; }
  const char* length_name() const override { return "digits"; }
  const Alphabet& alphabet() const override { return alphabet_; }
  int shortest() const override { return 1; }
  int longest() const override { return longest_; }
  int longest_source() const override { return 2 * longest_ + 1; }
  int longest_target() const override { return longest_ + 1; }
  SequencePair pair(Random& random, int length) const override {
    uint64_t limit = 1;
    for (int i = 0; i < length; ++i) limit *= 10;
    const uint64_t least = length == 1 ? 0 : limit / 10;
    uint64_t a = least + random.below(limit - least), b = random.below(limit);
    const uint64_t sum = a + b;
    if (random.below(2) == 1) std::swap(a, b);
    return {std::to_string(a) + "+" + std::to_string(b), std::to_string(sum)};
  }

 private:
  Alphabet alphabet_{"0123456789+"};
  int longest_;
};

}  // namespace

std::vector<TokenId> Alphabet::encode(std::string_view text) const {
  std::vector<TokenId> ids;
  for (const char c : text) {
    const size_t place = characters_.find(c);
    if (place == std::string::npos) {
      throw Error({.what = "a character that the task does not have",
                   .where = "'" + printable(text) + "'",
                   .expected = "characters of '" + characters_ + "'",
                   .found = "'" + printable(std::string(1, c)) + "'"});
    }
    ids.push_back(static_cast<TokenId>(place) + 2);
  }
  return ids;
}

std::string Alphabet::decode(std::span<const TokenId> ids) const {
  std::string text;
  for (const TokenId id : ids) {
    if (id >= 2 && id < vocab_size()) text += characters_[static_cast<size_t>(id - 2)];
  }
  return text;
}

std::vector<std::string> Alphabet::letters(std::span<const TokenId> ids) const {
  std::vector<std::string> letters;
  for (const TokenId id : ids) letters.push_back(id == kEnd ? "$" : id == kBegin ? "^" : decode(std::span(&id, 1)));
  return letters;
}

std::unique_ptr<SequenceTask> reverse_task(int letters, int longest) {
  return std::make_unique<ReverseTask>(letters, longest);
}
std::unique_ptr<SequenceTask> dates_task() { return std::make_unique<DatesTask>(); }
std::unique_ptr<SequenceTask> addition_task(int longest) { return std::make_unique<AdditionTask>(longest); }

std::vector<std::string> sequence_task_names() { return {"reverse", "dates", "addition"}; }

std::unique_ptr<SequenceTask> sequence_task(std::string_view name) {
  if (name == "reverse") return reverse_task();
  if (name == "dates") return dates_task();
  if (name == "addition") return addition_task();
  throw Error({.what = "there is no such task",
               .where = "task",
               .expected = join(sequence_task_names(), ", "),
               .found = printable(name)});
}

}  // namespace orrery
