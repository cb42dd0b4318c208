// Before any merge, byte-level BPE cuts a text into pre-tokens: words with the space in front of them, numbers, runs of
// signs. Merges never cross from one into the next. Where to cut is said by patterns (PCRE2's syntax, which is close to
// that of tokenizer.json), and a model is lost with any others than those it was trained with.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

struct pcre2_real_code_8;  // PCRE2's name for a compiled pattern

namespace orrery {

class PreTokenizer {
 public:
  // Throws Error where there are no patterns (the name is not known, or there is none), and for one that PCRE2 cannot
  // compile.
  PreTokenizer(const PreTokenization& rules, const std::string& where);

  // Calls `found` with each pre-token, from left to right; the view is good during the call. Together they are the
  // text, in NFC if the rules say so. Each pattern cuts the text, or what the pattern before it has left, into its
  // matches and what is between them. A byte that is not UTF-8 is a pre-token of its own, and for the patterns the text
  // ends before it. Throws Error where a match takes more steps or memory than PCRE2 is allowed.
  void cut(std::string_view text, const std::function<void(std::string_view)>& found) const;

 private:
  struct Scratch;
  void cut_with(size_t pattern, std::string_view text, Scratch& scratch,
                const std::function<void(std::string_view)>& found) const;

  std::vector<std::unique_ptr<pcre2_real_code_8, void (*)(pcre2_real_code_8*)>> patterns_;
  bool nfc_;
};

}  // namespace orrery
