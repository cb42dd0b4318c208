// Which tensors of a forward pass, and of which positions, as people write it: "blk.3.attn.scores@5".
#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/announced_tensors.h"
#include "model/language_model.h"

namespace orrery {

struct Selector {
  std::string name;                            // "blk.*.attn.q": * stands for any characters, also none
  int first = 0;                               // positions from this one
  int last = std::numeric_limits<int>::max();  // to this one
  bool only_last = false;                      // in their place: rows whose logits are wanted

  bool selects(std::string_view tensor_name) const;
  bool selects(const Row& row) const;
  bool has_positions() const { return only_last || first > 0 || last != std::numeric_limits<int>::max(); }
};

// NAME, NAME@5, NAME@3-7 or NAME@last. "last" is the last token of the prompt, then each new one. Throws Error (its
// `where` is `where`).
Selector parse_selector(const std::string& text, const std::string& where);

// Throws Error where the name is none of these, or the positions lie outside the context.
void check(const Selector& selector, const std::string& where, std::span<const AnnouncedTensor> tensors,
           int context_length);

// Indices of the rows that are selected.
std::vector<int64_t> selected_rows(const Selector& selector, std::span<const Row> rows);

}  // namespace orrery
