// A rank's part in the watchdog over all ranks: it tells rank 0 that it lives, and hears of the
// first failure.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "comm/rendezvous/failure.h"
#include "comm/rendezvous/socket.h"
#include "comm/rendezvous/store.h"

namespace trainyard {

/// What a rank is doing. Constants with static lifetime: the watchdog keeps their address.
struct Operation {
  const char* name;    // as messages have it: "all_reduce"
  bool waits = false;  // it ends only when other ranks do the same
};

struct WatchdogOptions {
  StoreAddress store;
  int rank = 0;
  std::string host;              // name of this machine, for messages
  Milliseconds interval{500};    // between heartbeats
  Milliseconds silence{30'000};  // that rank 0 may keep before it counts as stopped
  Milliseconds connect{60'000};  // that rank 0 may take to appear
};

/// One thread with a connection of its own to rank 0's store. Destroyed without signing off() or
/// report(), this rank counts as dead.
class Watchdog {
 public:
  /// Called once, from the watchdog's thread, with the first failure of all ranks, whatever the
  /// other threads are stuck in. It may end the process, and throws nothing.
  using OnFailure = std::function<void(const Failure&)>;

  /// Joins; every rank does, rank 0 too. Throws Error{device} if rank 0 cannot be reached or has
  /// such a rank.
  Watchdog(const WatchdogOptions& options, OnFailure on_failure);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Notes what this rank begins: two stores, for the path of a step. Each call is progress. From
  /// one thread at a time; `operation` lives for ever.
  void progress(std::int64_t step, const Operation& operation) noexcept;

  /// Tells that this rank failed by itself. Returns the first failure of all ranks, which is
  /// another one if `consequence` (see Failure) and its cause was found; the callback is not called
  /// then, unless it was before. If rank 0 does not answer within `limit`, the one told here.
  [[nodiscard]] Failure report(const std::string& text, int exit_code, bool consequence,
                               Milliseconds limit);
  /// Leaves. On rank 0 it waits for the others to leave. False if a failure came before, or if it
  /// took longer than `limit`.
  [[nodiscard]] bool sign_off(Milliseconds limit);

 private:
  class Part;
  std::unique_ptr<Part> part_;
};

}  // namespace trainyard
