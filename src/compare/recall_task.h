// Remembering: pairs of a key and a value, then noise of a wanted length, then one of the keys again; what comes next
// is its value. Nothing but the value is scored. Noise also has values in it, which have to be told from the right one.
#pragma once

#include <vector>

#include "base/random.h"
#include "learn/gradients.h"

namespace orrery {

struct RecallTask {
  int n_pairs = 1;
  int n_keys = 8, n_values = 8, n_noises = 8;

  // Keys, values, noises, and a question mark in front of the key that is asked for.
  int vocab_size() const { return n_keys + n_values + n_noises + 1; }
  TokenId question() const { return n_keys + n_values + n_noises; }
  // Rows that a sample with so much noise has: all tokens but the answer.
  int rows(int noise) const { return 2 * n_pairs + noise + 2; }
  double chance() const { return 1.0 / n_values; }  // of guessing right

  struct Question {
    std::vector<TokenId> tokens;  // the last is the answer
    std::vector<float> weights;   // of all guesses: 0, and 1 for the answer
    Sample sample() const { return {tokens, weights}; }
  };
  // Keys are different, values need not be. Throws Error where there are more pairs than keys.
  Question question(Random& random, int noise) const;

  // A length of noise to learn from, 0 to `longest`: as often 1 or 2 as 10 to 20 or 100 to 200.
  static int noise_up_to(int longest, Random& random);
};

}  // namespace orrery
