// Metrics that need the outputs for a whole split.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/feed/weight_rule.h"
#include "data/sets/dataset.h"
#include "ops/metric.h"
#include "run/config/run_config.h"

namespace trainyard {

/// Computes the metrics of a split (Metric::of_split) from its samples' outputs.
class SplitMetrics {
 public:
  /// Samples whose weight is 0 by `rule` are not counted, as in the other metrics. `set` is the
  /// split.
  SplitMetrics(const RunConfig& run, const Dataset& set, const std::optional<WeightRule>& rule);
  /// `rows` as take_outputs() gives them. NaN if it is not defined for them.
  [[nodiscard]] double value(const Metric& metric, std::span<const float> rows) const;
  /// Why a value is not a number.
  [[nodiscard]] std::string fault() const;

 private:
  std::vector<std::int32_t> labels_;  // by sample; -1: not counted
  std::int64_t classes_;
  double threshold_;
};

}  // namespace trainyard
