// The recurrent layers as plain loops, in float or in double: what to read first, and what the fast ones are tested
// against. ReferenceKernels and ReferenceBackward have them from here.
#pragma once

#include "kernels/backward.h"
#include "kernels/kernels.h"

namespace orrery {

template <class T>
class ReferenceRecurrent : public Kernels {
 public:
  void rnn(const RecurrentInput& in, RnnOutput& y) override;
  void lstm(const RecurrentInput& in, LstmOutput& y) override;
  void gru(const RecurrentInput& in, GruReset reset, GruOutput& y) override;
};

template <class T>
class ReferenceRecurrentBackward : public BackwardKernels {
 public:
  void rnn(const RecurrentInput& in, const RnnOutput& y, const Tensor& dhidden, RecurrentGradients& d) override;
  void lstm(const RecurrentInput& in, const LstmOutput& y, const Tensor& dcell, const Tensor& dhidden,
            RecurrentGradients& d) override;
  void gru(const RecurrentInput& in, GruReset reset, const GruOutput& y, const Tensor& dhidden,
           RecurrentGradients& d) override;
};

extern template class ReferenceRecurrent<float>;
extern template class ReferenceRecurrent<double>;
extern template class ReferenceRecurrentBackward<float>;
extern template class ReferenceRecurrentBackward<double>;

}  // namespace orrery
