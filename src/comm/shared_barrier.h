// Ranks of one machine that wait for each other in shared memory.
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

/// What a rank tells the others: in memory that all share, a cache line each.
struct alignas(64) BarrierSlot {
  std::atomic<std::uint64_t> arrived{0};  // how often it has come
  std::atomic<std::uint64_t> doing{0};    // what for: written before it comes
  std::atomic<bool> gone{false};          // it does not come any more
};

/// Counts how often each rank has come, and waits until all have. What a rank wrote before it came
/// is seen by those that wait for it. Where a rank's process ends, those that wait are told.
class SharedBarrier {
 public:
  enum class Absence { left, ended, late };
  struct Absent {
    int rank;
    Absence why;
  };

  /// `seats` and `processes`, one a rank; this one sits down on its own. Throws Error{device} where
  /// the system does not tell of a process's end, or there is none with such a number.
  SharedBarrier(std::span<BarrierSlot> seats, int rank, std::span<const pid_t> processes);
  /// Tells the others that this rank does not come any more.
  ~SharedBarrier() { leave(); }
  SharedBarrier(const SharedBarrier&) = delete;
  SharedBarrier& operator=(const SharedBarrier&) = delete;

  /// This rank has come, for what it says.
  void arrive(std::uint64_t doing);
  /// Waits until every rank has come as often as this one. Else the first rank that is missing,
  /// and why.
  [[nodiscard]] std::optional<Absent> await_all(Moment deadline);
  /// What a rank that has come is doing.
  [[nodiscard]] std::uint64_t doing(int rank) const;
  void leave();

 private:
  [[nodiscard]] BarrierSlot& seat(int rank) const { return seats_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] bool has_come(int rank) const;
  /// The first rank that has not come; the number of ranks: none.
  [[nodiscard]] int missing() const;
  [[nodiscard]] std::optional<Absence> absence_of(int rank) const;
  void nap();

  std::span<BarrierSlot> seats_;
  int rank_;
  std::uint64_t arrived_ = 0;
  std::vector<Descriptor> processes_;  // a rank
  std::vector<pollfd> ends_;           // of those; revents: it has ended
};

}  // namespace trainyard
