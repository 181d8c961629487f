#include "comm/shared_barrier.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string>
#include <thread>

#include "base/error.h"

namespace trainyard {
namespace {

using SteadyClock = std::chrono::steady_clock;

static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              std::atomic<bool>::is_always_lock_free);

// A sleeping core may take milliseconds to wake up, far longer than the sum it waits for, and ranks
// arrive within a fraction of a step. While spinning, a rank yields its core to any other thread.
constexpr Milliseconds kAwake(20);
constexpr int kNapMilliseconds = 1;

}  // namespace

SharedBarrier::SharedBarrier(std::span<BarrierSlot> slots, int rank,
                             std::span<const pid_t> processes)
    : slots_(slots), rank_(rank) {
  for (const pid_t process : processes) {
    processes_.emplace_back(FileNumber{static_cast<int>(::syscall(SYS_pidfd_open, process, 0))});
    if (!processes_.back()) {
      throw Error(ErrorKind::device, "watching process " + std::to_string(process) +
                                         " failed: " + std::strerror(errno));
    }
    ends_.push_back({.fd = processes_.back().get().value, .events = POLLIN, .revents = 0});
  }
  new (&slot(rank)) BarrierSlot;
}

void SharedBarrier::arrive() { slot(rank_).arrived.store(++arrived_, std::memory_order_release); }

void SharedBarrier::leave() { slot(rank_).gone.store(true, std::memory_order_release); }

bool SharedBarrier::has_come(int rank) const {
  return slot(rank).arrived.load(std::memory_order_acquire) >= arrived_;
}

int SharedBarrier::missing() const {
  int rank = 0;
  while (rank < static_cast<int>(slots_.size()) && has_come(rank)) ++rank;
  return rank;
}

std::optional<SharedBarrier::Absence> SharedBarrier::absence_of(int rank) const {
  const bool left = slot(rank).gone.load(std::memory_order_acquire);
  const bool ended = ends_[static_cast<std::size_t>(rank)].revents != 0;
  // It may have arrived before it left.
  if ((!left && !ended) || has_come(rank)) return std::nullopt;
  return left ? Absence::left : Absence::ended;
}

std::optional<SharedBarrier::Absent> SharedBarrier::await_all(Moment deadline) {
  const Moment begin = SteadyClock::now();
  while (true) {
    const int rank = missing();
    if (rank == static_cast<int>(slots_.size())) return std::nullopt;
    if (const auto why = absence_of(rank)) return Absent{rank, *why};
    const Moment now = SteadyClock::now();
    if (now >= deadline) return Absent{rank, Absence::late};
    now - begin < kAwake ? std::this_thread::yield() : nap();
  }
}

void SharedBarrier::nap() { ::poll(ends_.data(), ends_.size(), kNapMilliseconds); }

}  // namespace trainyard
