// The key-value store through which ranks find each other.
//
// The folder ranks/rendezvous holds what ranks need before and alongside collectives: the store,
// its wire protocol and sockets, and the watchdog with its judgement. It moves no tensor.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "ranks/rendezvous/socket.h"

namespace trainyard {

/// Bounds of a store, against strangers and mistakes.
struct StoreLimits {
  std::size_t keys = 16384;
  std::size_t bytes = std::size_t{64} << 20;  // size of all keys and values
};

/// Room for this many ranks of which each connects to every other.
[[nodiscard]] constexpr StoreLimits limits_for(int ranks) {
  constexpr std::size_t kConnectionBytes = 512;
  StoreLimits limits;
  const auto connections = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks);
  limits.keys += connections;
  limits.bytes += connections * kConnectionBytes;
  return limits;
}

/// Keys of up to 256 bytes with values of up to 1 MiB. Everything throws Error{device} that names
/// the key.
class Store {
 public:
  virtual ~Store() = default;
  /// Sets or replaces.
  virtual void set(std::string_view key, std::string_view value) = 0;
  /// The value; waits at most `limit` until it is set.
  [[nodiscard]] virtual std::string get(std::string_view key, Milliseconds limit) = 0;
  /// Returns when the key exists; waits at most `limit`.
  virtual void wait(std::string_view key, Milliseconds limit) = 0;
  /// Adds to a number (0 before the first time) and returns the sum. Its value is decimal text.
  virtual std::int64_t add(std::string_view key, std::int64_t amount) = 0;
};

/// Throws the error for a key that was not set in time.
[[noreturn]] void key_is_late(std::string_view key, Milliseconds limit);

/// Address of rank 0's store, and the token that admits a rank.
struct StoreAddress {
  Endpoint endpoint;
  std::string token;  // 1 to 64 bytes, the same on every rank
};

/// The store of a StoreServer, over its own connection. For one thread at a time. Connects for up
/// to `limit`, while rank 0 may still be starting. Throws Error{device} that names the address, and
/// says so if the token is wrong.
[[nodiscard]] std::unique_ptr<Store> connect_to_store(const StoreAddress& address,
                                                      Milliseconds limit);

}  // namespace trainyard
