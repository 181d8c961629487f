// The root of a mean square that a gradient is divided by, kept from 0 by epsilon.
#pragma once

#include "base/math.h"

namespace trainyard {

/// Where epsilon is: sqrt(a) + eps (Keras, torch, Caffe, MXNet up to 0.9.5), or sqrt(a + eps)
/// (MXNet since 0.12, timm's rmsprop_tf).
enum class EpsilonPlace { outside, inside };

/// The root in arithmetic type T. The epsilon that is not used is 0, which changes no bit.
template <class T>
struct RootStep {
  T inside, outside;
  TY_HD T operator()(T square) const { return math::sqrt(square + inside) + outside; }
};

struct SafeRoot {
  double epsilon = 0;
  EpsilonPlace place = EpsilonPlace::outside;

  template <class T>
  TY_HD RootStep<T> step() const {
    const T own = static_cast<T>(epsilon);
    return place == EpsilonPlace::inside ? RootStep<T>{own, T{}} : RootStep<T>{T{}, own};
  }
};

}  // namespace trainyard
