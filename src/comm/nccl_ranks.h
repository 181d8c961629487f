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
#include "device/device.h"
#include "tensor/dtype.h"

namespace trainyard {

/// Collectives among ranks with one GPU each, with the calls and the promises of a communicator:
/// called in the same order with the same sizes by every rank, on memory of the GPU, in the order
/// of a queue of it. A call has put its work on the queue when it returns, and may be part of
/// recorded work; one thread at a time. Errors throw Error{device} and name the rank, the operation
/// and its size; after one, the object can only be destroyed, and recordings that hold its work
/// with it.
class NcclRanks {
 public:
  virtual ~NcclRanks() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  /// Sums `count` elements of f64, f32, f16, bf16 or i32 over all ranks, in place.
  virtual void all_reduce_sum(Queue& queue, void* data, std::int64_t count, DType type) = 0;
  /// Copies rank `root`'s bytes to every rank.
  virtual void broadcast(Queue& queue, void* data, std::size_t bytes, int root) = 0;
  /// Rank r's `bytes` bytes to byte r * bytes of `out` (size() * bytes) on every rank.
  virtual void all_gather(Queue& queue, const void* mine, std::size_t bytes, void* out) = 0;
  /// Returns when every rank has called it. Waits for no queue of the caller's.
  virtual void barrier() = 0;
  /// How long a call may take from now on. Positive.
  virtual void set_time_limit(std::chrono::milliseconds limit) = 0;

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
