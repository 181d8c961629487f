// A sample that an epoch takes more than once.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace trainyard {

/// Bits of a sample's index in its data set. Above them is how often the epoch has taken it before:
/// what is drawn for a sample (augmentation, dropout) is another draw each time.
inline constexpr int kSampleBits = 40;

/// Time number `time` (0: the first) that an epoch takes sample `index`.
[[nodiscard]] TY_HD std::int64_t drawn_sample(std::int64_t index, std::int64_t time) {
  return index + (time << kSampleBits);
}
/// The index of a drawn sample in its data set.
[[nodiscard]] TY_HD std::int64_t index_of_drawn(std::int64_t drawn) {
  return drawn & ((std::int64_t{1} << kSampleBits) - 1);
}

}  // namespace trainyard
