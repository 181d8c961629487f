// Batches made by a device, of a set that stays there and of bytes copied with each batch, compared
// with those made by the host.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "data/feed/batch_launches.h"
#include "device/device.h"

namespace trainyard::test {

/// Makes batches of several pipelines in both ways, every layout and each of the float types on the
/// device, and returns the names of those that differ from the host's, rounded to the type, in any
/// bit; `made` counts all.
[[nodiscard]] std::vector<std::string> differing_batches(Device& device, Queue& queue,
                                                         const BatchLaunches& launches,
                                                         std::span<const DType> types, int& made);

}  // namespace trainyard::test
