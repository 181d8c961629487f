// Ranks that work together. One contract for one rank, Gloo and NCCL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "tensor/dtype.h"

namespace trainyard {

/// Collectives over a fixed group of ranks, called in the same order by every rank. Errors throw
/// Error{device} and name the rank and the operation.
class Communicator {
 public:
  virtual ~Communicator() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// Sums `count` elements over all ranks, in place, equal bits on every rank.
  virtual void all_reduce_sum(void* data, std::int64_t count, DType type) = 0;
  /// Copies rank `root`'s bytes to every rank.
  virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
  /// Rank r's bytes to slot r of `out` (size() slots of equal size) on every rank.
  virtual void all_gather(std::span<const std::byte> mine, std::span<std::byte> out) = 0;
  /// Returns when every rank has called it.
  virtual void barrier() = 0;
};

/// The group of one rank: every call is complete when it begins.
[[nodiscard]] std::unique_ptr<Communicator> make_single_communicator();

}  // namespace trainyard
