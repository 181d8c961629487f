// A GPU part on the host that logs what happens to the memory and the group of a rank: a GPU each.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ranks/rank_group.h"
#include "run/session/session_device.h"

namespace trainyard::test {

/// What happened to a rank's GPU, in order: "high-priority queue" for each of those, "free" for
/// each piece of its memory, "give up" for its group.
using GpuEvents = std::vector<std::string>;

/// Called with what a GPU is about to do, "make executors" or "record"; if it throws, the GPU
/// fails.
using GpuFault = std::function<void(std::string_view doing)>;

/// One GPU, "simulated GPU", which computes on the host with the reference executors. Its group is
/// that of the hosts, in the role of NCCL's. `hosts` and `events` outlive it.
[[nodiscard]] UsableGpus logging_gpu(
    RankGroup& hosts, GpuEvents& events, GpuFault fault = [](std::string_view) {});
/// Throws a GpuError, "CUDA: an illegal memory access", when the GPU is about to do that.
[[nodiscard]] GpuFault fails_to(const std::string& doing);
/// A run's choice of it.
[[nodiscard]] DeviceChoice choice_of(UsableGpus usable);

}  // namespace trainyard::test
