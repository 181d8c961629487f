// The measurements of one rank for `train bench --scaling`.
#pragma once

#include <cstdint>

#include "bench/scaling.h"
#include "run/config/run_config.h"
#include "run/session/session_device.h"

namespace trainyard {

struct ScalingOptions {
  std::int64_t batch = 1;  // samples per pass of each rank
  int windows = 5;         // of each kind, alternating; medians over them
  double window_seconds = 1;
  bool inference = false;  // forward passes instead of training
  DeviceChoice device;
};

/// Trains `run` on its own data with a batch for each rank, whole and with parts left out, or only
/// runs its forward pass on a batch that stays on the device, as one of the ranks. Returns every
/// rank's measurement, by rank. Throws Error of any kind, the first of all ranks: those of Session,
/// Error{diverged}, Error{device}.
[[nodiscard]] ScalingRound measure_scaling(RunConfig run, const ScalingOptions& options,
                                           RankGroup& ranks);

}  // namespace trainyard
