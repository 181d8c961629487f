// Rank 0's store and watchdog over TCP, served by a thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "ranks/rendezvous/socket.h"
#include "ranks/rendezvous/store.h"
#include "ranks/rendezvous/watchdog_board.h"

namespace trainyard {

struct StoreServerOptions {
  Endpoint endpoint;  // where to listen; port 0: any free one
  std::string token;  // 1 to 64 bytes; clients without it are rejected
  int ranks = 1;
  StoreLimits store;
  WatchdogLimits watchdog;
  Milliseconds greeting{10'000};  // a connection that has not shown the token by then is closed
};

/// Serves ranks from construction to destruction, which closes every connection. It holds up to two
/// connections per rank and 16 more; beyond that, strangers are dropped first. A client that breaks
/// the rules is dropped and changes nothing.
class StoreServer {
 public:
  /// Throws Error{device} if it cannot listen, or if the token is invalid.
  explicit StoreServer(const StoreServerOptions& options);
  ~StoreServer();
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

  [[nodiscard]] std::uint16_t port() const;

 private:
  struct Connection;
  class Loop;
  std::unique_ptr<Loop> loop_;
};

/// Connections that a store for this many ranks holds.
[[nodiscard]] constexpr std::size_t most_connections(int ranks) {
  return 2 * static_cast<std::size_t>(ranks) + 16;
}

}  // namespace trainyard
