// `train find-lr`: the learning-rate range test (Smith 2017, "Cyclical learning rates for training
// neural networks", section 3.3), with a ramp that is exponential as in fastai's lr_find.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "run/config/run_config.h"
#include "run/initial_weights.h"
#include "run/session/session_device.h"

namespace trainyard {

struct RateSearchOptions {
  double from = 1e-7, to = 10;  // learning rates of the first and the last step, 0 < from < to
  std::int64_t steps = 100;     // at least 2
  std::int64_t epochs = 0;      // above 0: as many steps as these have, instead
  /// Asked before each step; true ends the test.
  std::function<bool()> stopped = [] { return false; };
};

/// A step of the test.
struct RateChange {
  std::int64_t step = 1;  // from 1
  double rate = 0;
  double loss = 0;      // loss of its batch, before its update
  double smoothed = 0;  // mean of the losses so far, each weighing 0.9 times the next one
};

struct RateSearch {
  std::vector<RateChange> steps;  // steps with a finite loss
  bool diverged = false;          // ended before the last step
  bool ended = true;              // false: stopped before either
  /// The rate at the lowest smoothed loss, and where it fell fastest before, per factor of the
  /// rate and over a tenth of the steps; empty if it never fell.
  std::optional<double> lowest, steepest;
  /// A tenth of `lowest`, or `steepest` if that is less: a loss that ends near 0 has no minimum.
  std::optional<double> suggested;
};

/// What `steps` say about the rate. The first tenth of them is not looked at: their mean is that of
/// few batches.
[[nodiscard]] RateSearch judge_rates(std::vector<RateChange> steps, bool diverged);

/// Trains the run's model on its data, one rank, in memory only: with the optimizer, batch and
/// augmentation of the file, but a learning rate that grows from step to step by the same factor,
/// whatever schedule, scaling and plateau say. It begins with the weights of `init`, if given, else
/// random ones. Ends early once a loss is not finite or the smoothed
/// loss is more than four times its lowest value. Throws as Session.
[[nodiscard]] RateSearch search_rate(const RunConfig& run, const DeviceChoice& choice,
                                     const RateSearchOptions& options,
                                     std::optional<InitialWeights> init = std::nullopt);

}  // namespace trainyard
