// What says that a model is better than another of the same run.
#pragma once

namespace trainyard {

/// Which metric says that a model is better.
struct BestMetric {
  int metric = -1;  // index into the metrics, -1: the loss
  bool larger_is_better = true;
  double min_delta = 0;
};

}  // namespace trainyard
