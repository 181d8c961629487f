// Ranks whose memory is a device's, by a communicator of the host: for ranks that share a GPU.
#pragma once

#include <memory>

#include "comm/communicator.h"
#include "device/device.h"

namespace trainyard {

/// The ranks of `hosts` for memory of `device`. A call copies to pinned memory of the host, waits
/// for the queue, lets `hosts` do it and puts the copy back on the queue, so that sums have the
/// order and the bits of `hosts`. No memory is taken by a call that is no larger than one before.
/// Both outlive it. For one thread at a time.
[[nodiscard]] std::unique_ptr<Communicator> make_staged_communicator(Device& device,
                                                                     Communicator& hosts);

}  // namespace trainyard
