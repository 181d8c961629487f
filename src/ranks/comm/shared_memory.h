// Memory shared by processes of one machine, a barrier in it for ranks, and whether there is enough
// of it for NCCL.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/handle.h"

namespace trainyard {

/// Equal in processes that can share memory by process id and descriptor: same boot of the same
/// system, same process namespace and same network namespace (a separate container counts as a
/// separate machine). Empty if the system does not say.
[[nodiscard]] std::string own_machine();

/// The process that owns the memory, and its descriptor there.
struct SharedMemoryName {
  pid_t process = 0;
  int descriptor = -1;
};

/// Memory that other processes of this user can open while its creator holds it. It has no name in
/// a file system and takes nothing from /dev/shm, whose size containers limit: when the last
/// process has ended, in whatever way, nothing is left.
class SharedMemory {
 public:
  /// New memory, all zeros. Throws Error{device} if the system provides none.
  explicit SharedMemory(std::size_t bytes);
  /// Memory of another process, or of this one. Throws Error{device} unless it has this class and
  /// size.
  SharedMemory(const SharedMemoryName& name, std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  [[nodiscard]] SharedMemoryName name() const;
  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  void map();

  Descriptor file_;
  std::size_t bytes_;
  std::byte* data_ = nullptr;
};

/// A rank's state for the others: in memory that all share, one cache line each.
struct alignas(64) BarrierSlot {
  std::atomic<std::uint64_t> arrived{0};  // how often it has arrived
  std::atomic<bool> gone{false};          // it will not arrive again
};

/// Where all wait for the last: in memory that all share, made before any of them uses it.
struct alignas(64) BarrierGate {
  std::atomic<std::uint64_t> arrivals{0};  // arrivals of all ranks
  std::atomic<std::uint32_t> openings{0};  // changes when the last one has arrived, or one left
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

  /// `slots` and `processes`, one per rank; this rank uses its own slot. Throws Error{device} if
  /// the system cannot report the end of a process, or there is no process with such a number.
  SharedBarrier(BarrierGate& gate, std::span<BarrierSlot> slots, int rank,
                std::span<const pid_t> processes);
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
  /// Lets all that sleep at the gate go on.
  void open();
  /// Sleeps until the gate has opened more than `openings` times, at most until `deadline`, or for
  /// as long as the process of `rank` need not be looked at; and looks at it then.
  void sleep(std::uint32_t openings, int rank, Moment deadline);

  BarrierGate& gate_;
  std::span<BarrierSlot> slots_;
  int rank_;
  Milliseconds awake_;  // how long it spins before it sleeps
  std::uint64_t arrived_ = 0;
  std::vector<Descriptor> processes_;  // per rank
  std::vector<pollfd> ends_;           // ends of these; revents: it has ended
};

/// The ranks of one host.
struct NcclHost {
  int ranks = 1;
  bool direct = true;  // their GPUs are known to read each other's memory (P2P)
  std::optional<std::size_t> shared_bytes = {};  // free in /dev/shm; empty: unknown
};

/// A warning if sums of these ranks go through /dev/shm and it may be too small, with how to
/// enlarge it; else "".
[[nodiscard]] std::string shared_memory_warning(const NcclHost& host);

/// Free bytes in /dev/shm; empty if there is none.
[[nodiscard]] std::optional<std::size_t> free_shared_bytes();

}  // namespace trainyard
