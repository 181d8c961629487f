// The median of repeated measurements.
#pragma once

#include <vector>

namespace trainyard {

/// The middle value; for an even count the mean of the two middle values. At least one value.
[[nodiscard]] double median(std::vector<double> values);

}  // namespace trainyard
