// Rank 0's store and watchdog: how it handles the messages of one client, bytes in and bytes out
// without sockets, and the thread that serves it over TCP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ranks/rendezvous/socket.h"
#include "ranks/rendezvous/store.h"
#include "ranks/rendezvous/watchdog_board.h"
#include "ranks/rendezvous/wire.h"

namespace trainyard {

/// The contents of a store. A call that throws changes nothing.
class StoreTable {
 public:
  explicit StoreTable(const StoreLimits& limits) : limits_(limits) {}

  /// Null if there is no such key.
  [[nodiscard]] const std::string* find(std::string_view key) const;
  /// Throws Error{device} beyond a limit.
  void set(std::string_view key, std::string_view value);
  /// See Store::add. Throws Error{device} beyond a limit, for a value that is not a number, and for
  /// a sum that does not fit in 64 bits.
  std::int64_t add(std::string_view key, std::int64_t amount);

 private:
  StoreLimits limits_;
  std::map<std::string, std::string, std::less<>> values_;
  std::size_t bytes_ = 0;
};

/// One connection.
struct StoreClient {
  explicit StoreClient(Moment now) : since(now) {}

  /// True if more requests may be answered: they waited until earlier answers were sent.
  [[nodiscard]] bool can_go_on() const { return held_back && outgoing.size() <= kMaxValueBytes; }

  /// A get or wait that is not yet answered.
  struct Pending {
    Message request;
    Moment deadline;
  };

  Moment since;            // when it connected
  bool greeted = false;    // it has sent the token
  bool closing = false;    // closed once `outgoing` is sent
  bool told = false;       // the first failure was sent to it
  bool leaves = false;     // its sign-off is not yet answered
  bool held_back = false;  // `incoming` may contain whole messages
  int rank = -1;           // rank of its watchdog
  std::optional<Pending> pending;
  std::string incoming;  // bytes of an incomplete message
  std::string outgoing;  // bytes not yet sent
};

class StoreService {
 public:
  StoreService(std::string_view token, int ranks, const StoreLimits& store,
               const WatchdogLimits& watchdog, Moment start)
      : token_(padded_token(token)), table_(store), board_(ranks, watchdog, start) {}

  /// Processes the whole messages in `client.incoming`, up to one that must wait, or while more
  /// than a value's size of answers is unsent. A client that breaks the rules is sent the reason
  /// and marked `closing`, and changes nothing from then on.
  void receive(StoreClient& client, Moment now);
  /// Its connection is gone.
  void lose(const StoreClient& client);
  /// Answers what can be answered now and what is late; judges the ranks and sends the first
  /// failure to all of them.
  void advance(std::span<StoreClient* const> clients, Moment now);

 private:
  void greet(StoreClient& client, const Message& message);
  void handle(StoreClient& client, Message message, Moment now);
  void handle_watch(StoreClient& client, const Message& message, Moment now);
  void answer_pending(StoreClient& client, Moment now);

  std::string token_;
  StoreTable table_;
  WatchdogBoard board_;
};

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
