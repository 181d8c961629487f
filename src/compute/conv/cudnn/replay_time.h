// Work that is replayed from a recording, as training steps are: how long it takes, and whether it
// can be recorded.
#pragma once

#include <functional>

#include "device/device.h"

namespace trainyard::cudnn {

/// Milliseconds that a queue takes for what `work` enqueues.
using QueueTimer = std::function<double(const std::function<void()>& work)>;

/// Milliseconds of one of many runs in a row, the minimum of several replays: the host's launches
/// are not included. Infinite if it is hopelessly more than `best`. Throws what `run` throws, and
/// Error{device} if it cannot be recorded.
[[nodiscard]] double replay_milliseconds(Device& device, Queue& queue, const QueueTimer& time,
                                         const std::function<void()>& run, double best);

/// Runs once directly and once from a recording, to completion. Throws as replay_milliseconds()
/// does.
void replay_once(Device& device, Queue& queue, const std::function<void()>& run);

}  // namespace trainyard::cudnn
