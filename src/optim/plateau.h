// The learning rate falls when a metric stops improving: Keras 2.1's ReduceLROnPlateau.
#pragma once

#include <cstdint>
#include <optional>

namespace trainyard {

/// When and by how much.
struct PlateauPolicy {
  double factor = 0.1;
  std::int64_t patience = 10;  // epochs without improvement before the rate falls
  double min_delta = 1e-4;     // smallest change that counts as an improvement
  std::int64_t cooldown = 0;   // epochs after a fall in which none is counted
  double min_rate = 0;         // below it the learning rate does not fall further
  bool larger_is_better = false;
};

/// Its state after some epochs; saved with the run.
struct PlateauState {
  double factor = 1;           // on every learning rate of the schedule
  std::optional<double> best;  // empty: no epoch yet, or none with a finite value
  std::int64_t waited = 0;     // epochs without improvement
  std::int64_t cooldown = 0;   // epochs left of it
};

/// The state after an epoch with this value of the metric, whose last step had learning rate
/// `rate`. A value that is not a number changes nothing.
[[nodiscard]] PlateauState after_epoch(const PlateauPolicy& rule, const PlateauState& state,
                                       double value, double rate);

/// The schedule's learning rate, multiplied by the factor, but not below `min_rate`, unless the
/// schedule's own is below it.
[[nodiscard]] double plateau_rate(const PlateauState& state, double min_rate, double scheduled);

}  // namespace trainyard
