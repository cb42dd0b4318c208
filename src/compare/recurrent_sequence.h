// Encoder-decoders of GRUs. The encoder reads the source in both directions (Schuster and Paliwal, 1997), the decoder
// begins with a state made of the two last ones. Without alignment that is all it knows of the source (Sutskever et
// al., 2014; Cho et al., 2014). With it, each row of the decoder also looks at all rows of the encoder, either by the
// small network of Bahdanau et al. (2015) or by scaled products, and what it sees goes into its logits. It does not go
// into the next state (Luong et al., 2015, without input feeding): so a whole target is one call of the recurrent
// layer.
#pragma once

#include <string>
#include <vector>

#include "compare/sequence_model.h"
#include "files/weight_list.h"
#include "model/pass.h"

namespace orrery {

enum class Alignment { none, additive, dot };
const char* name_of(Alignment alignment);

struct RecurrentSequenceShape {
  Alignment alignment = Alignment::none;
  int d_embedding = 32;
  int d_hidden = 64;  // of the decoder and of each direction of the encoder
  int vocab_size = 0;
};

// "encoder.forward.weight_ih", "decoder.weight_hh", "attention.query.weight", ...
std::vector<NamedShape> recurrent_sequence_weights(const RecurrentSequenceShape& shape);

class RecurrentSequenceModel : public SequenceModel {
 public:
  // Runs on weights of these names and shapes, which must outlive it.
  RecurrentSequenceModel(const RecurrentSequenceShape& shape, const Parameters& parameters);

  const std::string& name() const override { return name_; }
  int vocab_size() const override { return shape_.vocab_size; }
  Encoded encode(std::span<const std::vector<TokenId>> sources, Kernels& kernels, Arena& arena,
                 std::span<Observer* const> observers = {}) override;
  Tensor decode(const Encoded& encoded, std::span<const Row> rows, std::span<const int> source_of, Kernels& kernels,
                Arena& arena, std::span<Observer* const> observers = {}) override;
  std::unique_ptr<SequenceState> new_target() override;
  // Additive: [rows, source rows] of all targets together; by products: [1, rows, source rows] of each.
  std::string alignment_name() const override;

 private:
  struct Pair {  // a matrix for each direction of the encoder
    Tensor forward, backward;
  };
  RecurrentWeights layer(const std::string& prefix) const;
  Pair pair(const std::string& name) const;
  Tensor both(Pass& pass, const char* name, const Pair& weights, const Tensor& ahead, const Tensor& back) const;
  Tensor run(Pass& pass, const std::string& prefix, const std::vector<RowRange>& sequences, const RecurrentStart& start,
             const Tensor& x) const;
  Tensor starts(Pass& pass, const Encoded& encoded, std::span<const int> source_of) const;
  Tensor look(Pass& pass, const Encoded& encoded, std::span<const int> source_of, const Tensor& hidden) const;
  Tensor look_additively(Pass& pass, const Encoded& encoded, std::span<const int> source_of, const Tensor& q) const;

  RecurrentSequenceShape shape_;
  const Parameters& parameters_;
  std::string name_;
};

}  // namespace orrery
