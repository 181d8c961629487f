// Ranks that work together. One contract for one rank, Gloo and NCCL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>

#include "device/device.h"
#include "tensor/dtype.h"

namespace trainyard {

/// A piece of memory that is summed over ranks.
struct SumPart {
  void* data = nullptr;
  std::int64_t count = 0;  // elements
  DType type = DType::f32;
};

/// Collectives over a fixed group of ranks, called in the same order with the same sizes by every
/// rank. They act on memory of one device, in the order of a queue of that device: what was put on
/// the queue before is seen, what is put on it later sees the result. In a group whose memory is
/// the host's, the work is done on return; on a GPU it may only have been put on the queue. Errors
/// throw Error{device} and name the rank, the operation and its size; after one, the communicator
/// can only be destroyed.
class Communicator {
 public:
  virtual ~Communicator() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// True if a call may be part of what Device::record() records. Else the host takes part in it,
  /// waiting for the queue.
  [[nodiscard]] virtual bool recordable() const = 0;
  /// True if sums have the order of tree_sum.h.
  [[nodiscard]] virtual bool sums_in_tree() const = 0;

  /// Sums `count` elements of f64, f32, f16, bf16 or i32 over all ranks, in place, equal bits on
  /// every rank. With sums_in_tree() the bits are those of every run.
  virtual void all_reduce_sum(Queue& queue, void* data, std::int64_t count, DType type) = 0;
  /// all_reduce_sum() of each part, in one call where that is quicker.
  virtual void all_reduce_sums(Queue& queue, std::span<const SumPart> parts) {
    for (const SumPart& part : parts) all_reduce_sum(queue, part.data, part.count, part.type);
  }
  /// Copies rank `root`'s bytes to every rank.
  virtual void broadcast(Queue& queue, void* data, std::size_t bytes, int root) = 0;
  /// Rank r's `bytes` bytes to byte r * bytes of `out` (size() * bytes) on every rank.
  virtual void all_gather(Queue& queue, const void* mine, std::size_t bytes, void* out) = 0;
  /// Slice r of `mine` to rank r, and rank r's slice for this rank to slice r of `out`, which is
  /// other memory: size() slices of `bytes` each.
  virtual void all_to_all(Queue& queue, const void* mine, std::size_t bytes, void* out) = 0;
  /// Returns when every rank has called it. Waits for no queue.
  virtual void barrier() = 0;

  /// After a failure: lets go of the other ranks, so that no queue waits for them any more and what
  /// they worked on can be freed. Only the destructor may follow. Recordings of calls are destroyed
  /// before. Calls in which the host waits end by themselves: for them there is nothing to do.
  virtual void give_up() noexcept {}
};

/// Gives a group up where an error ends its owner. Its last member: freeing memory waits for the
/// queues that work on it, and a sum that lacks a rank is never done.
class GiveUpOnError {
 public:
  /// `ranks` outlives it; null: there is no group.
  explicit GiveUpOnError(Communicator* ranks) : ranks_(ranks) {}
  ~GiveUpOnError() {
    if (ranks_ != nullptr && std::uncaught_exceptions() > errors_before_) ranks_->give_up();
  }
  GiveUpOnError(const GiveUpOnError&) = delete;
  GiveUpOnError& operator=(const GiveUpOnError&) = delete;

 private:
  Communicator* ranks_;
  int errors_before_ = std::uncaught_exceptions();
};

/// The group of one rank: every call is complete when it begins. For memory of any device.
[[nodiscard]] std::unique_ptr<Communicator> make_single_communicator();

}  // namespace trainyard
