// The sums that blocks finish together: of whole numbers, exact in any order.
#pragma once

#include <cmath>

#include "base/host_device.h"
#include "launcher/pairwise.h"
#include "launches.h"

namespace trainyard::probe {

/// What block `block` has of a channel: of a value x the sums of it and of x * x + 1.
TY_HD PairSum block_sum(unsigned block, unsigned channel) {
  const double x = block + channel + 1;
  return {x, x * x + 1};
}

/// The mean and the inverse of the standard deviation.
TY_HD PairSum moments(const PairSum& sum, unsigned count) {
  const double mean = sum.first / count;
  return {mean, 1 / std::sqrt(sum.second / count - mean * mean + 1e-5)};
}

/// Sum of `count` blocks from `first` on.
inline PairSum sum_of_blocks(unsigned first, unsigned count, unsigned channel) {
  PairSum sum = {};
  for (unsigned block = first; block < first + count; ++block) sum += block_sum(block, channel);
  return sum;
}
/// What the launches that end in groups leave of a group.
inline PairSum expected_group(unsigned group, unsigned channel) {
  return sum_of_blocks(group * kFinishGroup, kFinishGroup, channel);
}
/// The result of the others.
inline PairSum expected_result(Finish how, unsigned channel) {
  const unsigned count = how == Finish::read_16 ? 16 : kFinishBlocks;
  return moments(sum_of_blocks(0, count, channel), count);
}

}  // namespace trainyard::probe
