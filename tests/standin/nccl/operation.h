// The work that a communicator enqueues on streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "meeting.h"
#include "order.h"

namespace standin::nccl {

/// Data shared by all work of one rank of a group, which outlives the communicator: a graph may
/// hold its work.
struct Share {
  std::shared_ptr<Meeting> meeting = {};
  int rank = 0, ranks = 1, device = 0;
  Order order = {};
  std::uint64_t pieces = 0;  // pieces of collectives so far; used by the device's thread

  [[nodiscard]] RankSlot& own_slot() { return meeting->slot(rank); }
};

/// Memory that work reads or writes.
struct Region {
  const void* memory = nullptr;
  std::size_t bytes = 0;
};

/// Work that waits for other ranks.
class Operation {
 public:
  virtual ~Operation() = default;
  /// GPU memory that it uses.
  [[nodiscard]] virtual std::vector<Region> regions() const = 0;
  /// Proceeds as far as the other ranks allow. True: done, and it may start again.
  [[nodiscard]] virtual bool advance() = 0;
};

/// An operation on a stream, or in a graph, which launches it again and again.
class Launchable {
 public:
  /// `graphs` is held by work of graphs for as long as the graph exists.
  Launchable(std::shared_ptr<Share> share, std::unique_ptr<Operation> operation,
             std::shared_ptr<const int> graphs)
      : share_(std::move(share)), operation_(std::move(operation)), graphs_(std::move(graphs)) {}
  ~Launchable();
  Launchable(const Launchable&) = delete;
  Launchable& operator=(const Launchable&) = delete;

  /// It was launched; see stream.h.
  void launched();
  /// The Work of stream.h. Memory outside any GPU breaks the device, as a kernel would.
  [[nodiscard]] bool advance();

 private:
  [[nodiscard]] bool step(Order::Turn turn);

  std::shared_ptr<Share> share_;
  std::unique_ptr<Operation> operation_;
  std::shared_ptr<const int> graphs_;
  std::mutex mutex_;
  std::deque<Order::Turn> turns_;  // turns of unfinished launches
  bool begun_ = false;
};

}  // namespace standin::nccl
