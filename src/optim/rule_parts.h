// What the rules of optimizers are made of: the element that a step changes, the numbers that it
// gets, the root that a gradient is divided by.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/host_device.h"
#include "base/math.h"

namespace trainyard {

/// One parameter element with its optimizer state, one value per slot. Rules without state have an
/// unused one, since arrays of no length do not exist.
template <class T, std::size_t slots>
struct Element {
  T weight;
  T state[slots > 0 ? slots : 1];
};

/// The weight decays of a parameter.
struct WeightDecays {
  double added = 0;      // term added to the gradient or direction
  double decoupled = 0;  // factor that multiplies the weights
};

/// The numbers that a rule's step gets for one parameter.
struct StepScalars {
  double rate = 0;  // learning rate, with the parameter's multiplier, trust ratio and Keras's decay
  double decay = 0;           // weight decay that is added to the gradient or direction
  std::int64_t finished = 0;  // finished steps
  double running = 1;         // for rules with advanced(), see rules.h
};

/// Where epsilon is: sqrt(a) + eps (Keras, torch, Caffe, MXNet up to 0.9.5), or sqrt(a + eps)
/// (MXNet since 0.12, timm's rmsprop_tf).
enum class EpsilonPlace { outside, inside };

/// The root in arithmetic type T. The epsilon that is not used is 0, which changes no bit.
template <class T>
struct RootStep {
  T inside, outside;
  TY_HD T operator()(T square) const { return math::sqrt(square + inside) + outside; }
};

/// The root of a mean square that a gradient is divided by, kept from 0 by epsilon.
struct SafeRoot {
  double epsilon = 0;
  EpsilonPlace place = EpsilonPlace::outside;

  template <class T>
  TY_HD RootStep<T> step() const {
    const T own = static_cast<T>(epsilon);
    return place == EpsilonPlace::inside ? RootStep<T>{own, T{}} : RootStep<T>{T{}, own};
  }
};

/// base^exponent by squaring: a fixed sequence of products, so every device gives the same bits.
/// The relative error is below exponent * 2^-52; where that matters the value has long vanished.
TY_HD double integer_power(double base, std::int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result *= base;
    base *= base;
  }
  return result;
}

}  // namespace trainyard
