// The key-value store through which ranks find each other.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "comm/rendezvous/socket.h"

namespace trainyard {

/// Bounds of a store: what a stranger or a mistake could make it hold.
struct StoreLimits {
  std::size_t keys = 16384;
  std::size_t bytes = std::size_t{64} << 20;  // of all keys and values
};

/// Keys of up to 256 bytes with values of up to 1 MiB. Everything throws Error{device} that names
/// the key.
class Store {
 public:
  virtual ~Store() = default;
  /// Sets or replaces.
  virtual void set(std::string_view key, std::string_view value) = 0;
  /// The value; waits until somebody sets it, up to `limit`.
  [[nodiscard]] virtual std::string get(std::string_view key, Milliseconds limit) = 0;
  /// Returns when the key is there; waits up to `limit`.
  virtual void wait(std::string_view key, Milliseconds limit) = 0;
  /// Adds to a number (0 before the first time) and returns the sum. Its value is decimal text.
  virtual std::int64_t add(std::string_view key, std::int64_t amount) = 0;
};

/// A store in this process, for ranks that are threads; any of them may call it at any time.
[[nodiscard]] std::unique_ptr<Store> make_memory_store(const StoreLimits& limits = {});

/// Where rank 0's store is, and what lets a rank in.
struct StoreAddress {
  Endpoint endpoint;
  std::string token;  // 1 to 64 bytes, the same on every rank
};

/// The store that a StoreServer holds, over a connection of its own. For one thread at a time.
/// Connects for up to `limit`, while rank 0 may still be starting. Throws Error{device} that names
/// the address; a wrong token is told.
[[nodiscard]] std::unique_ptr<Store> connect_to_store(const StoreAddress& address,
                                                      Milliseconds limit);

}  // namespace trainyard
