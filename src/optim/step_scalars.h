// The numbers that a rule's step gets for one parameter.
#pragma once

#include <cstdint>

namespace trainyard {

/// The weight decays of a parameter.
struct WeightDecays {
  double added = 0;      // to the gradient or direction
  double decoupled = 0;  // that the weights are multiplied by
};

struct StepScalars {
  double rate = 0;  // learning rate, with the parameter's multiplier, trust ratio and Keras's decay
  double decay = 0;           // weight decay that is added to the gradient or direction
  std::int64_t finished = 0;  // finished steps
  double running = 1;         // of rules with advanced(), see rules.h
};

}  // namespace trainyard
