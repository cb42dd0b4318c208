// Additive attention as plain loops, in float or in double. ReferenceKernels and ReferenceBackward have it from here.
#pragma once

#include "kernels/reference/recurrent.h"

namespace orrery {

template <class T>
class ReferenceAdditive : public ReferenceRecurrent<T> {
 public:
  void attend_additively(const AdditiveInput& in, AdditiveOutput& y) override;
};

template <class T>
class ReferenceAdditiveBackward : public ReferenceRecurrentBackward<T> {
 public:
  void attend_additively(const AdditiveInput& in, const AdditiveOutput& y, const Tensor& dmix,
                         AdditiveGradients& d) override;
};

extern template class ReferenceAdditive<float>;
extern template class ReferenceAdditive<double>;
extern template class ReferenceAdditiveBackward<float>;
extern template class ReferenceAdditiveBackward<double>;

}  // namespace orrery
