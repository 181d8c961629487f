// Collectives on device memory by a host communicator: for ranks that share a GPU.
#pragma once

#include <memory>

#include "device/device.h"
#include "ranks/comm/communicator.h"

namespace trainyard {

/// The ranks of `hosts` for memory of `device`. A call copies to pinned host memory, waits for the
/// queue, calls `hosts` and enqueues the copy back, so that sums have the order of `hosts` and are
/// bit-identical to its sums. A call no larger than an earlier one allocates nothing. Both outlive
/// it. For one thread at a time.
[[nodiscard]] std::unique_ptr<Communicator> make_staged_communicator(Device& device,
                                                                     Communicator& hosts);

}  // namespace trainyard
