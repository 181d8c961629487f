// The area under the receiver operating characteristic, of which a graph has the name alone.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <string_view>

#include "ops/metric.h"

namespace trainyard {

/// A metric of the split: its value is that of mean_area_under_curve() (report/area_under_curve.h)
/// for all outputs of the last layer. YAML name: auc.
class AucMetric final : public Metric {
 public:
  [[nodiscard]] std::string_view type() const override { return "auc"; }
  [[nodiscard]] Signature infer(std::span<const Shape>) const override { return {}; }
  [[nodiscard]] Contract contract() const override { return {}; }
  [[nodiscard]] bool of_split() const override { return true; }
  [[nodiscard]] double finish(std::span<const double>, std::int64_t) const override {
    return std::numeric_limits<double>::quiet_NaN();
  }
  [[nodiscard]] std::shared_ptr<const Metric> with_threshold(double) const override {
    return nullptr;
  }
};

[[nodiscard]] inline config::Kind<Metric> auc_kind() {
  return {"auc",
          "area under the receiver operating characteristic, of the last layer on the validation "
          "split; of several classes the mean, each against the others",
          [](config::Fields&) -> std::unique_ptr<Metric> { return std::make_unique<AucMetric>(); }};
}

}  // namespace trainyard
