#include "learn/word_counts.h"

#include <doctest/doctest.h>

using namespace orrery;

namespace {

// Ids: (start) 0, (other) 1, a 2, b 3, c 4.
WordPairs letters() { return WordPairs({"a b a b a c"}, {"a b", "a a", "c a"}, 2); }

}  // namespace

TEST_CASE("learn: n-grams are counted, and p follows from the counts") {
  const WordPairs pairs = letters();
  const WordCounts counts(pairs.training, pairs.vocabulary.size());
  CHECK(counts.up_to(1) == 3);          // a b c
  CHECK(counts.up_to(2) == 3 + 4);      // (start)a ab ba ac
  CHECK(counts.up_to(3) == 3 + 4 + 5);  // (start)(start)a (start)ab aba bab bac
  const WordPair b_after_a = pairs.held_out[1];
  CHECK(counts.times(b_after_a, 1) == 2);
  CHECK(counts.times(b_after_a, 2) == 2);
  CHECK(counts.times(b_after_a, 3) == 1);
  // One of five words; then two of six; then, after a, two of three.
  const double alike = 1.0 / 5, one = (2 - 0.75 + 0.75 * 3 * alike) / 6, two = (2 - 0.75 + 0.75 * 2 * one) / 3;
  CHECK(counts.p(b_after_a, 0) == doctest::Approx(alike));
  CHECK(counts.p(b_after_a, 1) == doctest::Approx(one));
  CHECK(counts.p(b_after_a, 2) == doctest::Approx(two));
  CHECK(counts.p(b_after_a, 3) == doctest::Approx((1 - 0.75 + 0.75 * 1 * two) / 1));
  // a after a was never seen, a behind c neither; behind c nothing was.
  const WordPair a_after_a = pairs.held_out[3], a_after_c = pairs.held_out[5];
  CHECK(counts.times(a_after_a, 2) == 0);
  CHECK(counts.p(a_after_a, 2) == doctest::Approx(0.75 * 2 * counts.p(a_after_a, 1) / 3));
  CHECK(counts.times(a_after_c, 2) == 0);
  CHECK(counts.p(a_after_c, 2) == counts.p(a_after_c, 1));
  CHECK(counts.knows(a_after_a, 1));
  CHECK(counts.knows(a_after_a, 2));  // (start) a
  CHECK_FALSE(counts.knows(a_after_c, 1));
}

TEST_CASE("learn: p of n-grams sums to 1 for every n, behind words that were seen and others") {
  const WordPairs pairs = letters();
  const WordCounts counts(pairs.training, pairs.vocabulary.size());
  for (const WordPair& pair : pairs.held_out) {
    for (size_t n = 0; n <= 3; ++n) {
      double sum = 0;
      for (int next = 0; next < 5; ++next) sum += counts.p({pair.before, next}, n);
      CHECK(sum == doctest::Approx(1));
    }
  }
}
