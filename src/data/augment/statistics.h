// Statistics of a training split.
#pragma once

#include <vector>

#include "data/sets/dataset.h"

namespace trainyard {

/// Statistics of the training split, computed once a run.
struct Statistics {
  std::vector<float> mean_image;  // [c, h, w]
  std::vector<float> mean;        // [c]
  std::vector<float> deviation;   // [c], of the population (divided by n)
  std::vector<float> whitening;   // [d, d], see whitening_matrix(); empty: none
  /// False once a preprocessing step has changed the values in a way that these do not follow.
  bool known = true;
};

/// Mean image, mean and population standard deviation per channel over the whole set, of the values
/// that Dataset::read() gives. Summed in double over a fixed number of fixed parts whose sums are
/// added in order, so that the result does not depend on the thread count; exact sums for 8-bit
/// sources.
[[nodiscard]] Statistics compute_statistics(const Dataset& set, int threads);

}  // namespace trainyard
