// The median of repeated measurements.
#pragma once

#include <algorithm>
#include <vector>

#include "base/error.h"

namespace trainyard {

/// The middle value; for an even count the mean of the two middle values. At least one value.
[[nodiscard]] inline double median(std::vector<double> values) {
  TY_CHECK(!values.empty(), "the median of no values");
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace trainyard
