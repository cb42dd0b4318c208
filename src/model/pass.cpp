#include "model/pass.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <unordered_set>

#include "base/error.h"

namespace orrery {
namespace {

// "blk.3.attn.q", or the name itself outside the blocks. A pass names some hundred tensors: no allocation here.
struct FullName {
  char text[48];
  size_t length = 0;

  FullName(int layer, std::string_view name) {
    if (layer >= 0) {
      append("blk.");
      length = static_cast<size_t>(std::to_chars(text + length, text + 20, layer).ptr - text);
      append(".");
    }
    append(name);
  }
  void append(std::string_view part) {
    const size_t count = std::min(part.size(), sizeof text - length);
    std::memcpy(text + length, part.data(), count);
    length += count;
  }
  std::string_view view() const { return {text, length}; }
};

void check_row(const Row& row, size_t index, int vocab_size, int context_length) {
  const std::string where = "row " + std::to_string(index);
  if (row.token < 0 || row.token >= vocab_size) {
    throw Error({.what = "there is no such token",
                 .where = where,
                 .expected = "an id from 0 to " + std::to_string(vocab_size - 1),
                 .found = std::to_string(row.token)});
  }
  if (row.position < 0 || row.position >= context_length) {
    throw Error({.what = "the text is longer than the context",
                 .where = where,
                 .expected = "positions 0 to " + std::to_string(context_length - 1),
                 .found = "position " + std::to_string(row.position),
                 .hint = "use a shorter text, or a larger -c where the model allows it"});
  }
}

}  // namespace

std::vector<Sequence> find_sequences(std::span<const Row> rows, int vocab_size, int context_length) {
  if (rows.empty()) throw Error({.what = "there are no tokens to compute", .where = "forward"});
  std::vector<Sequence> sequences;
  std::unordered_set<const SequenceState*> seen;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    check_row(row, i, vocab_size, context_length);
    const bool continues = i > 0 && rows[i - 1].state == row.state && (row.state != nullptr || row.position != 0);
    int expected = continues ? rows[i - 1].position + 1 : 0;
    if (!continues) {
      if (row.state != nullptr && !seen.insert(row.state).second) {
        throw Error({.what = "the rows of a sequence do not stand together", .where = "row " + std::to_string(i)});
      }
      if (row.state != nullptr) expected = row.state->length();
      sequences.push_back({static_cast<int>(i), 0, expected, row.state});
    }
    if (row.position != expected) {
      throw Error({.what = "positions are out of order",
                   .where = "row " + std::to_string(i),
                   .expected = "position " + std::to_string(expected),
                   .found = std::to_string(row.position)});
    }
    ++sequences.back().n_rows;
  }
  return sequences;
}

Tensor Pass::make(std::string_view name, std::initializer_list<int64_t> shape) {
  return arena.make(FullName(layer, name).view(), kernels.activation_type(), shape);
}

void Pass::announce(Tensor& tensor, std::span<const Row> tensor_rows) {
  const Probe probe{tensor.name, layer, tensor_rows.empty() ? rows : tensor_rows};
  for (Observer* observer : observers) {
    if (observer->wants(probe)) observer->on_tensor(probe, tensor);
  }
}

std::vector<Row> Pass::wanting_rows() const {
  std::vector<Row> wanting;
  for (const int row : logit_rows) wanting.push_back(rows[static_cast<size_t>(row)]);
  return wanting;
}

bool Pass::is_wanted(std::string_view name) {
  if (observers.empty()) return false;
  const FullName full_name(layer, name);
  for (const Observer* observer : observers) {
    if (observer->wants({full_name.view(), layer, rows})) return true;
  }
  return false;
}

}  // namespace orrery
