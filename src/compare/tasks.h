// Tasks for models that turn one sequence into another, made from random numbers: there is as much of them as one
// likes, and what is right is known. A token is a character.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "text/tokenizer.h"

namespace orrery {

// The characters of a task as token ids, after two that stand for the begin and the end of a sequence.
class Alphabet {
 public:
  static constexpr TokenId kBegin = 0, kEnd = 1;

  explicit Alphabet(std::string_view characters) : characters_(characters) {}

  int vocab_size() const { return static_cast<int>(characters_.size()) + 2; }
  std::vector<TokenId> encode(std::string_view text) const;  // throws Error for a character that is not among them
  std::string decode(std::span<const TokenId> ids) const;    // leaves out begin and end
  std::vector<std::string> letters(std::span<const TokenId> ids) const;  // one for each id, "$" for the end

 private:
  std::string characters_;
};

struct SequencePair {
  std::string source, target;
};

class SequenceTask {
 public:
  virtual ~SequenceTask() = default;
  virtual const char* name() const = 0;
  virtual const char* description() const = 0;  // what has to be done, in a few words
  virtual const char* length_name() const = 0;  // what `length` counts: "letters", "digits"
  virtual const Alphabet& alphabet() const = 0;
  virtual int shortest() const = 0;        // lengths that make sense
  virtual int longest() const = 0;         //
  virtual int longest_source() const = 0;  // characters, at that length
  virtual int longest_target() const = 0;
  virtual SequencePair pair(Random& random, int length) const = 0;
};

// "hcbad" -> "dabch": strings of `letters` letters, each as likely as any other.
std::unique_ptr<SequenceTask> reverse_task(int letters = 10, int longest = 40);
// "march 3, 2019", "3 mar 2019", "03/03/2019 (dmy)" ... -> "2019-03-03". The length is that of the year, 1 to 4 digits.
std::unique_ptr<SequenceTask> dates_task();
// "734+58" -> "792": the larger number has as many digits as the length says.
std::unique_ptr<SequenceTask> addition_task(int longest = 4);

// By its name: "reverse", "dates", "addition". Throws Error.
std::unique_ptr<SequenceTask> sequence_task(std::string_view name);
std::vector<std::string> sequence_task_names();

}  // namespace orrery
