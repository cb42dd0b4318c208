// A story with the choices that made it, and what a parser makes of a text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "learn/story_grammar.h"

namespace orrery {

// One choice of a derivation. Its probability is weight / total.
struct Choice {
  std::string name;  // of the rule or the slot: "<opening>", "hero"
  int picked = 0;    // which alternative or entry, from 0
  int weight = 1, total = 1;
};

// A place where a story says something that was chosen.
struct Mention {
  std::string slot, field, list;
  int entry = 0;               // of the list
  bool capital = false;        // said with a capital first letter
  size_t begin = 0, size = 0;  // bytes of the story's text
};

struct Story {
  Language language = Language::english;
  std::string text;               // one line of UTF-8; the last sentence is the same for all stories of a language
  std::vector<Choice> choices;    // in the order in which the text tells them
  std::vector<Mention> mentions;  // from left to right
  double log_probability = 0;     // of all choices: natural logarithm, given the language
};

// What a story can go on with: the rest of a piece (a word, or the words up to the next choice).
struct Continuation {
  std::string text;
  double probability = 0;  // given the text so far
};

// What the parser makes of a text.
struct Reading {
  int derivations = 0;  // 0: not a story of this world. 1. 2: two or more, so the grammar is ambiguous
  Story story;          // the first derivation, where there is one
  // Where there is none: the byte up to which the text could be the beginning of a story, what could come there, and
  // one line that says both.
  size_t good_bytes = 0;
  std::vector<Continuation> expected;
  std::string mistake;
};

}  // namespace orrery
