// Ranks on GPUs, by NCCL. The class of the GPU part, seen from the program: no NCCL, no CUDA here.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/clock.h"
#include "comm/communicator.h"
#include "device/device.h"

namespace trainyard {

/// The communicator among ranks with one GPU each: a call has put its work on the queue when it
/// returns, and may be part of recorded work; one thread at a time. After an error recordings that
/// hold its work are destroyed with it. The order of its sums is NCCL's own.
class NcclRanks : public Communicator {
 public:
  /// Returns when all work of the queue is done. Unlike Queue::wait() it ends with Error{device}
  /// once NCCL has noticed that a rank is gone, or the limit is over: work of a collective that
  /// lacks a rank is never done.
  virtual void wait(Queue& queue) = 0;
};

struct NcclSettings {
  std::filesystem::path library = "libnccl.so.2";
  int rank = 0;
  int ranks = 1;
  std::string host;  // name of this machine, for messages
  /// The GPU, current for the calling thread, and the clock of the limits; both outlive the object.
  Device* device = nullptr;
  const Clock* clock = nullptr;
  /// Gives rank 0's bytes to every rank; called once by each. They are the id of the new group.
  std::function<void(std::span<std::byte>)> share;
  std::chrono::milliseconds connect{300'000};  // that the other ranks may take to appear
  std::chrono::milliseconds limit{300'000};    // of a call, see set_time_limit()
};

/// Joins the group; every rank from 0 to ranks - 1 does. Throws Error{device} if NCCL is missing or
/// too old, or a rank does not appear.
[[nodiscard]] std::unique_ptr<NcclRanks> make_nccl_ranks(const NcclSettings& settings);

}  // namespace trainyard
