// The criteria for the best model of a run and for its plateau.
#pragma once

#include "optim/schedule.h"

namespace trainyard {

/// The metric by which models of a run are compared.
struct BestMetric {
  int metric = -1;  // index into the metrics, -1: the loss
  bool larger_is_better = true;
  double min_delta = 0;
};

/// When the learning rate falls, and the metric that decides.
struct PlateauOptions {
  PlateauPolicy rule;
  int metric = -1;           // index into the metrics, -1: the loss
  bool of_training = false;  // true for the training split, false for the validation split
};

}  // namespace trainyard
