// Collectives on GPUs, with NCCL. The program's view of a class of the GPU part: no NCCL, no CUDA.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/filesystem.h"
#include "device/device.h"
#include "ranks/comm/communicator.h"

namespace trainyard {

struct NcclSettings {
  fs::path library = "libnccl.so.2";
  int rank = 0;
  int ranks = 1;
  std::string host;  // name of this machine, for messages
  /// The GPU, current for the calling thread, and the clock of the limits; both outlive the object.
  Device* device = nullptr;
  const Clock* clock = nullptr;
  /// Sends rank 0's bytes, the id of the new group, to every rank; called once by each.
  std::function<void(std::span<std::byte>)> share;
  /// How long the other ranks may take to appear, and NCCL to accept a call.
  std::chrono::milliseconds limit{300'000};
};

/// Joins the group; every rank from 0 to ranks - 1 must. A call has enqueued its work when it
/// returns; one thread at a time. Work of a collective that lacks a rank never ends: waiting for
/// its queue relies on the watchdog (watchdog.h) to end the process. After an error, recordings
/// with its work are destroyed together with it. The order of its sums is NCCL's own. Throws
/// Error{device} if NCCL is missing or too old, or a rank does not appear.
[[nodiscard]] std::unique_ptr<Communicator> make_nccl_ranks(const NcclSettings& settings);

}  // namespace trainyard
