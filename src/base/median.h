// The median of repeated measurements.
#pragma once

#include <vector>

namespace trainyard {

/// The middle value, of an even number the mean of the two in the middle. At least one value.
[[nodiscard]] double median(std::vector<double> values);

}  // namespace trainyard
