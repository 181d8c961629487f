// Timing the engines of a convolution.
#pragma once

#include <span>

#include "compute/conv/winograd/engines.h"

namespace trainyard::winograd {

struct TrialResult {
  Engine engine = Engine::direct;
  double seconds = 0;  // of one run of some images
};

/// The fastest of `engines`, the first of which is direct, for a step that all support: each runs
/// some images of the step's shape a few times in turn, in memory of its own, with the step's
/// threads. Another engine than the direct one must be faster by a margin.
[[nodiscard]] TrialResult time_engines(const StepDescription& step, std::int64_t products_of_image,
                                       std::span<const Engine> engines, const MakeDirect& direct);

}  // namespace trainyard::winograd
