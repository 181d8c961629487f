// Timing the algorithms of a convolution.
#pragma once

#include <span>

#include "compute/conv/winograd/algorithms.h"

namespace trainyard::winograd {

struct TrialResult {
  ConvAlgorithm algorithm = ConvAlgorithm::direct;
  double seconds = 0;  // of one run of some images
};

/// The fastest of `algorithms`, the first of which is direct, for a step that all support: each
/// runs some images of the step's shape a few times in turn, in memory of its own, with the step's
/// threads. Another algorithm than the direct one must be faster by a margin.
[[nodiscard]] TrialResult time_engines(const StepDescription& step, std::int64_t products_of_image,
                                       std::span<const ConvAlgorithm> algorithms,
                                       const MakeDirect& direct);

}  // namespace trainyard::winograd
