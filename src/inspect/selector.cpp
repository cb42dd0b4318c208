#include "inspect/selector.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace orrery {
namespace {

// A * takes as little as it can; where the rest then does not fit, the last * takes one more.
bool matches(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = pattern.npos, taken = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p, ++t;
    } else if (star != pattern.npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

[[noreturn]] void fail_positions(const std::string& positions, const std::string& where) {
  throw Error({.what = "these are no positions",
               .where = where,
               .expected = "NAME@5, NAME@3-7 or NAME@last",
               .found = "'@" + printable(positions.substr(0, 40)) + "'"});
}

int parse_position(std::string_view digits, const std::string& positions, const std::string& where) {
  int value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value < 0) fail_positions(positions, where);
  return value;
}

}  // namespace

bool Selector::selects(std::string_view tensor_name) const { return matches(name, tensor_name); }

bool Selector::selects(const Row& row) const {
  return only_last ? row.wants_logits : row.position >= first && row.position <= last;
}

Selector parse_selector(const std::string& text, const std::string& where) {
  Selector selector;
  const size_t at = text.find('@');
  selector.name = text.substr(0, at);
  if (selector.name.empty()) {
    throw Error({.what = "this names no tensor",
                 .where = where,
                 .expected = "a name such as blk.0.attn.q or blk.*.resid",
                 .found = "'" + printable(text.substr(0, 40)) + "'"});
  }
  if (at == text.npos) return selector;
  const std::string positions = text.substr(at + 1);
  if (positions == "last") {
    selector.only_last = true;
    return selector;
  }
  const size_t dash = positions.find('-');
  selector.first = parse_position(std::string_view(positions).substr(0, dash), positions, where);
  selector.last =
      dash == positions.npos ? selector.first : parse_position(positions.substr(dash + 1), positions, where);
  if (selector.last < selector.first) fail_positions(positions, where);
  return selector;
}

void check(const Selector& selector, const std::string& where, std::span<const AnnouncedTensor> tensors,
           int context_length) {
  if (std::ranges::none_of(tensors, [&](const AnnouncedTensor& tensor) { return selector.selects(tensor.name); })) {
    fail_unknown_name(selector.name, where, tensors);
  }
  if (selector.first >= context_length) {
    throw Error({.what = "there is no such position",
                 .where = where,
                 .expected = "0 to " + std::to_string(context_length - 1),
                 .found = std::to_string(selector.first)});
  }
}

std::vector<int64_t> selected_rows(const Selector& selector, std::span<const Row> rows) {
  std::vector<int64_t> selected;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (selector.selects(rows[i])) selected.push_back(static_cast<int64_t>(i));
  }
  return selected;
}

}  // namespace orrery
