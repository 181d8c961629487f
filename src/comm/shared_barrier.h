// A barrier in shared memory for ranks of one machine.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/descriptor.h"

namespace trainyard {

/// A rank's state for the others: in memory that all share, one cache line each.
struct alignas(64) BarrierSlot {
  std::atomic<std::uint64_t> arrived{0};  // how often it has arrived
  std::atomic<bool> gone{false};          // it will not arrive again
};

/// Counts how often each rank has arrived, and waits until all have. What a rank wrote before it
/// arrived is visible to those that wait for it. If a rank's process ends, those that wait are
/// notified.
class SharedBarrier {
 public:
  enum class Absence { left, ended, late };
  struct Absent {
    int rank;
    Absence why;
  };

  /// `slots` and `processes`, one per rank; this rank uses its own. Throws Error{device} if the
  /// system cannot report the end of a process, or there is no process with such a number.
  SharedBarrier(std::span<BarrierSlot> slots, int rank, std::span<const pid_t> processes);
  /// Tells the others that this rank will not arrive again.
  ~SharedBarrier() { leave(); }
  SharedBarrier(const SharedBarrier&) = delete;
  SharedBarrier& operator=(const SharedBarrier&) = delete;

  /// This rank has arrived.
  void arrive();
  /// Waits until every rank has arrived as often as this one. Else returns the first missing rank,
  /// and why.
  [[nodiscard]] std::optional<Absent> await_all(Moment deadline);
  void leave();

 private:
  [[nodiscard]] BarrierSlot& slot(int rank) const { return slots_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] bool has_come(int rank) const;
  /// The first rank that has not arrived; the number of ranks: none.
  [[nodiscard]] int missing() const;
  [[nodiscard]] std::optional<Absence> absence_of(int rank) const;
  void nap();

  std::span<BarrierSlot> slots_;
  int rank_;
  std::uint64_t arrived_ = 0;
  std::vector<Descriptor> processes_;  // per rank
  std::vector<pollfd> ends_;           // of these; revents: it has ended
};

}  // namespace trainyard
