// Work that is replayed from a recording, as training steps are: how long it takes, and whether it
// can be.
#pragma once

#include <functional>

#include "device/device.h"

namespace trainyard::cudnn {

/// Milliseconds that a queue takes for what `work` puts on it.
using QueueTimer = std::function<double(const std::function<void()>& work)>;

/// Milliseconds of one of many runs in a row, the least of several replays: the host's launches are
/// not in it. Infinite if it is hopelessly more than `best`. Throws what `run` throws, and
/// Error{device} if it cannot be recorded.
[[nodiscard]] double replay_milliseconds(Device& device, Queue& queue, const QueueTimer& time,
                                         const std::function<void()>& run, double best);

/// One run, and one of a recording of it, to their end. Throws likewise.
void replay_once(Device& device, Queue& queue, const std::function<void()>& run);

}  // namespace trainyard::cudnn
