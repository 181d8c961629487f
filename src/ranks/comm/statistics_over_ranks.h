// The executors' sums over replicas, by the ranks' communicator.
#pragma once

#include <memory>

#include "device/device.h"
#include "ranks/comm/communicator.h"

namespace trainyard {

/// Sums over the communicator's ranks, enqueued on `queue`. Null for one rank, which has nothing to
/// sum. Both outlive it.
[[nodiscard]] std::unique_ptr<StatisticsSum> make_statistics_sum(Communicator& communicator,
                                                                 Queue& queue);

}  // namespace trainyard
