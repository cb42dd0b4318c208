// What an encoder-decoder is to those who train it and decode with it: a source goes in as a whole, the target comes
// out token by token, each row of it seeing the rows before and all of the source.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/additive_attention.h"
#include "kernels/kernels.h"
#include "learn/parameters.h"
#include "model/language_model.h"

namespace orrery {

// Encoded sources. The tensors lie in the arena that encode() was given.
struct Encoded {
  std::vector<RowRange> sources;     // rows of each source in the tensors
  std::vector<Tensor> keys, values;  // [all rows, width], one of each for every layer of the decoder that looks at them
  Tensor start;                      // [sources, width]: what a recurrent decoder begins with
};

class SequenceModel {
 public:
  virtual ~SequenceModel() = default;

  virtual const std::string& name() const = 0;
  virtual int vocab_size() const = 0;

  // Sources of one token at least. Throws Error for tokens that do not exist and sources past the context.
  virtual Encoded encode(std::span<const std::vector<TokenId>> sources, Kernels& kernels, Arena& arena,
                         std::span<Observer* const> observers = {}) = 0;

  // Logits [rows that want them, vocab]. `source_of[i]` is the source of the i-th sequence in rows; sequences are told
  // apart as LanguageModel::forward does it.
  virtual Tensor decode(const Encoded& encoded, std::span<const Row> rows, std::span<const int> source_of,
                        Kernels& kernels, Arena& arena, std::span<Observer* const> observers = {}) = 0;

  // For a target that is made token by token.
  virtual std::unique_ptr<SequenceState> new_target() = 0;

  // The name of the tensor that shows which source rows a target row looked at, [heads, rows, source rows], announced
  // once for every target; empty: the model does not look back at the source.
  virtual std::string alignment_name() const = 0;
};

}  // namespace orrery
