// A rank's side of the watchdog over all ranks: it sends heartbeats to rank 0 and is notified of
// the first failure.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "ranks/rendezvous/failure.h"
#include "ranks/rendezvous/socket.h"
#include "ranks/rendezvous/store.h"

namespace trainyard {

/// What a rank is doing. Constants of static lifetime: the watchdog stores their address.
struct Operation {
  const char* name;    // in messages: "all_reduce"
  bool waits = false;  // it ends only when other ranks do the same
};

struct WatchdogOptions {
  StoreAddress store;
  int rank = 0;
  std::string host;              // name of this machine, for messages
  Milliseconds interval{500};    // between heartbeats
  Milliseconds silence{30'000};  // silence of rank 0 before it counts as stopped
  Milliseconds connect{60'000};  // how long rank 0 may take to appear
};

/// One thread with its own connection to rank 0's store. If it is destroyed without sign_off() or
/// report(), this rank counts as dead.
class Watchdog {
 public:
  /// Called once, from the watchdog's thread, with the first failure of all ranks, even if other
  /// threads are stuck. It may end the process; it must not throw.
  using OnFailure = std::function<void(const Failure&)>;

  /// Joins; every rank must, rank 0 too. Throws Error{device} if rank 0 cannot be reached or
  /// already has this rank.
  Watchdog(const WatchdogOptions& options, OnFailure on_failure);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Notes the operation that this rank begins: two stores, for use within steps. Each call is
  /// progress. From one thread at a time; `operation` must live forever.
  void progress(std::int64_t step, const Operation& operation) noexcept;

  /// Reports that this rank failed by itself. Returns the first failure of all ranks, which is a
  /// different one if `consequence` (see Failure) and its cause was found; the callback is then not
  /// called, unless it was before. If rank 0 does not answer within `limit`, returns this failure.
  [[nodiscard]] Failure report(const std::string& text, int exit_code, bool consequence,
                               Milliseconds limit);
  /// Leaves. On rank 0 it waits for the others to leave. False if there was a failure before, or if
  /// it took longer than `limit`.
  [[nodiscard]] bool sign_off(Milliseconds limit);

 private:
  class Part;
  std::unique_ptr<Part> part_;
};

}  // namespace trainyard
