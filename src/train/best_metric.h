// The criterion for the best model of a run.
#pragma once

namespace trainyard {

/// The metric by which models of a run are compared.
struct BestMetric {
  int metric = -1;  // index into the metrics, -1: the loss
  bool larger_is_better = true;
  double min_delta = 0;
};

}  // namespace trainyard
