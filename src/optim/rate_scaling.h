// Learning-rate scaling for a global batch other than the one it was chosen for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "config/fields.h"
#include "optim/schedule.h"

namespace trainyard {

/// A rule with its keys. `none` leaves the learning rate unchanged; `linear` multiplies it by the
/// ratio of the batches (Goyal et al. 2017, section 2.1), `sqrt` by its square root (Krizhevsky
/// 2014, section 5).
struct RateScaling {
  enum class Rule { none, linear, sqrt } rule = Rule::none;
  std::optional<std::int64_t>
      batch;  // the reference: samples per step that the learning rate was chosen for
  /// Over these epochs a factor above 1 grows from 1, by equal amounts per step (Goyal et al. 2017,
  /// section 2.2); a factor below 1 applies from the start. Default: 5, or 0 if the schedule has
  /// its own warm-up.
  std::optional<double> warmup_epochs;

  [[nodiscard]] std::string_view name() const;
  /// The factor after the warm-up, for a batch of `ratio` times the reference.
  [[nodiscard]] double factor(double ratio) const;
};

/// The rules, as `lr_scaling` of a run file names them.
[[nodiscard]] std::span<const config::Kind<RateScaling>> rate_scaling_kinds();

/// `schedule` (null: the base learning rate) multiplied as the rule says for a batch of `ratio`
/// times the reference.
[[nodiscard]] std::shared_ptr<const Schedule> scaled_schedule(
    std::shared_ptr<const Schedule> schedule, const RateScaling& scaling, double ratio);

}  // namespace trainyard
