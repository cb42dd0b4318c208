// Targets made token by token.
#pragma once

#include <span>
#include <vector>

#include "compare/sequence_model.h"
#include "compare/tasks.h"

namespace orrery {

struct DecodedTarget {
  std::vector<TokenId> ids;    // without begin and end
  double log_probability = 0;  // of all of them, and of the end if it is finished
  bool is_finished = false;    // false: `longest` tokens and no end
};

// Always the likeliest token; all sources at a time. At most `longest` tokens each.
std::vector<DecodedTarget> greedy(SequenceModel& model, std::span<const std::vector<TokenId>> sources, int longest,
                                  Kernels& kernels);

// The likeliest targets that a search finds which keeps the `width` likeliest beginnings at each length; the best comes
// first, and of equal ones that with the smaller ids. At most `width` of them, all finished: behind `longest` tokens
// nothing but the end is tried.
std::vector<DecodedTarget> beam_search(SequenceModel& model, const std::vector<TokenId>& source, int width, int longest,
                                       Kernels& kernels);

// Where the rows of a target look in its source: the mean over the heads, [target tokens and the end, source tokens].
struct AlignmentPicture {
  std::vector<TokenId> source, target;  // both with the end
  std::vector<double> weights;          // a line for each token of the target
};
// Of a target as the model makes it. Throws Error where the model does not look back.
AlignmentPicture alignment_of(SequenceModel& model, const std::vector<TokenId>& source, int longest, Kernels& kernels);

}  // namespace orrery
