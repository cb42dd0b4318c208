// Learning by going back over what was done (reverse-mode differentiation; Baydin et al., 2018, is a survey).
//
// A Tape is a Kernels: the one forward pass runs on it without knowing. It has every call made by the kernels under it
// and writes down what it was. backward() then walks through the calls from the last to the first. When it arrives at
// one, the gradient of that call's output is complete, because all who used the output came later; the call's way back
// turns it into gradients of the inputs and adds them to what is there. There is no second graph: the list of calls is
// the graph.
//
// Who made an input is found by its address. An input inside a recorded output (all of it, some rows, or seen in
// another shape) takes its gradient from that place in the output's gradient; one inside a weight of the Parameters
// adds to the weight's gradient; anything else (the angles of RoPE) is a constant.
//
// Activation checkpointing (Chen et al., 2016) needs no word from the caller. With an arena that keeps all, every
// output is still there on the way back. With a plain arena, blocks of the model share their working memory, and the
// tape sees each output that another one is written over; when the way back needs such an output, the calls that led to
// it are made once more. Same calls, same bits: the gradients are equal. The caller only sees memory and time change.
// What an observer changed during the forward pass is lost where a call is made again, unless that observer is named to
// repeat_with().
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "kernels/backward.h"
#include "kernels/kernels.h"
#include "learn/gradient_memory.h"
#include "learn/parameters.h"
#include "model/observer.h"

namespace orrery {

class Tape : public Kernels {
 public:
  // All must outlive the tape; forward and backward compute in the type of the parameters.
  Tape(Kernels& forward, BackwardKernels& backward, const Parameters& parameters)
      : forward_(forward), backward_(backward), parameters_(parameters) {}

  // This observer changes outputs on the way forward (dropout); it is asked again where a call is made once more, and
  // must do the same again. nullptr: nobody.
  void repeat_with(Observer* observer) { repeated_observer_ = observer; }

  // Forgets all calls. To be called before a forward pass; backward() does it at its end.
  void clear();

  // Adds the gradient of sum over n of dlosses[n] * losses[n] to the gradients of the parameters, where losses are
  // those of the last cross_entropy(). Observers see the gradient of every output when it is complete
  // ("blk.1.attn.q.grad"), and may change it; at the end those of the weights. Tensors of the forward pass must not
  // have been reset.
  void backward(std::span<const double> dlosses, std::span<Observer* const> observers = {});

  int64_t repeated_calls() const { return repeated_calls_; }          // in all backward() so far
  size_t gradient_bytes() const { return gradient_memory_.bytes(); }  // most that activations' gradients took
  size_t gradient_bytes_now() const { return gradient_memory_.used(); }

  // What is recorded.
  const char* name() const override { return forward_.name(); }
  DType activation_type() const override { return forward_.activation_type(); }
  void embed(const Tensor& table, std::span<const int32_t> ids, Tensor& y) override;
  void matmul(const Tensor& x, const Tensor& w, Tensor& y) override;
  void add(const Tensor& a, const Tensor& b, Tensor& y) override;
  void scale(const Tensor& x, double factor, Tensor& y) override;
  void rms_norm(const Tensor& x, const Tensor& gain, double epsilon, Tensor& y) override;
  void layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, double epsilon, Tensor& y) override;
  void rope(const Tensor& x, const Tensor& cosine, const Tensor& sine, RopeLayout layout, int head_dim,
            Tensor& y) override;
  void activate(Activation activation, const Tensor& x, Tensor& y) override;
  void activate_gated(Activation activation, const Tensor& gate, const Tensor& up, Tensor& y) override;
  void attention(const AttentionShape& shape, std::span<const AttentionGroup> groups, const Tensor& q,
                 Tensor& mix) override;
  void rnn(const RecurrentInput& in, RnnOutput& y) override;
  void lstm(const RecurrentInput& in, LstmOutput& y) override;
  void gru(const RecurrentInput& in, GruReset reset, GruOutput& y) override;
  void attend_additively(const AdditiveInput& in, AdditiveOutput& y) override;
  void cross_entropy(const Tensor& logits, std::span<const int32_t> targets, std::span<double> losses) override;

  // What has no gradient.
  void rope_angles(std::span<const int> positions, std::span<const double> frequencies, Tensor& cosine,
                   Tensor& sine) override;
  int64_t first_non_finite(const Tensor& x) override { return forward_.first_non_finite(x); }
  std::vector<Candidate> largest(const Tensor& logits, int64_t count) override {
    return forward_.largest(logits, count);
  }

  // What has no way back: these throw Error. Attention in steps is for those who watch scores; convert() is how keys
  // get into a cache, and training has none.
  void attention_scores(const AttentionShape&, const AttentionGroup&, const Tensor&, Tensor&) override;
  void softmax(const Tensor&, Tensor&) override;
  void attention_mix(const AttentionShape&, const AttentionGroup&, const Tensor&, Tensor&) override;
  void convert(const Tensor&, Tensor&) override;

 private:
  // Something a call reads, and who made it.
  struct Input {
    Tensor tensor;
    int call = -1;                         // the call whose output it lies in,
    const Parameter* parameter = nullptr;  // or the parameter; neither: a constant
  };

  struct Call {
    const char* operation;
    Tensor y;                                    // its output
    std::vector<Input> inputs;                   //
    std::vector<Input> needed;                   // what its way back reads besides the gradient of y
    std::function<void()> make;                  // computes y from the inputs
    std::function<void(const Tensor& dy)> back;  // adds to the gradients of the inputs
    int n_others = 0;                            // so many calls before this one stand for its other outputs,
    int maker = -1;                              // and this is one of them: the call that makes it
    bool is_overwritten = false;                 // y's memory holds something else by now
    Tensor dy = {};                              // no data before the first who adds to it
  };

  struct Groups;          // attention's groups, with memory of their own
  struct RecurrentLayer;  // the same of a recurrent layer's input

  Input find(const Tensor& tensor) const;
  // A call may have other outputs than call.y; the one at others[i] is found under the index n_calls() + i.
  void record(Call call, std::span<const Tensor> others = {});
  int n_calls() const { return static_cast<int>(calls_.size()); }
  void occupy(int call);

  void walk_back(Call& call, std::span<Observer* const> observers);
  bool leads_to_loss(int call) const;
  void remake(const Input& input);
  Tensor gradient_of(const Input& input);

  Kernels& forward_;
  BackwardKernels& backward_;
  const Parameters& parameters_;
  GradientMemory gradient_memory_;
  std::vector<Tensor> discarded_;  // gradients of constants, which nobody wants

  std::vector<Call> calls_;                  // in the order they were made
  std::map<const std::byte*, int> tenants_;  // which call's output begins at an address; none overlap
  Input logits_;
  std::vector<int32_t> targets_;
  int64_t repeated_calls_ = 0;
  Observer* repeated_observer_ = nullptr;
};

}  // namespace orrery
