// Finds the choices behind a text: tries every alternative from left to right and goes back where the text differs.
#pragma once

#include <string_view>
#include <vector>

#include "learn/story.h"

namespace orrery {

struct ParsedText {
  int derivations = 0;         // counted up to 2
  std::vector<size_t> picked;  // the choices of the first derivation
  // The furthest place up to which some derivation agrees with the text, and what derivations that came so far expect
  // there. `probability` is that of the derivation so far with its next piece, not yet divided by their sum.
  size_t good_bytes = 0;
  std::vector<Continuation> expected;
  bool may_end = false;  // a whole story ends there, although the text goes on
};

ParsedText parse_text(const StoryGrammar& grammar, std::string_view text);

}  // namespace orrery
