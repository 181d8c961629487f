// What rank 0's store does with the messages of one client: bytes in, bytes out, no sockets.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "comm/rendezvous/socket.h"
#include "comm/rendezvous/store.h"
#include "comm/rendezvous/store_table.h"
#include "comm/rendezvous/watchdog_board.h"
#include "comm/rendezvous/wire.h"

namespace trainyard {

/// One connection.
struct StoreClient {
  explicit StoreClient(Moment now) : since(now) {}

  /// True if it may be answered further: what it sent waited until answers before it were sent.
  [[nodiscard]] bool can_go_on() const { return held_back && outgoing.size() <= kMaxValueBytes; }

  /// A get or wait that has not been answered.
  struct Pending {
    Message request;
    Moment deadline;
  };

  Moment since;            // when it connected
  bool greeted = false;    // it has shown the token
  bool closing = false;    // closed once `outgoing` is sent
  bool told = false;       // of the first failure
  bool leaves = false;     // a sign-off that has not been answered
  bool held_back = false;  // whole messages may lie in `incoming`
  int rank = -1;           // that its watchdog joined as
  std::optional<Pending> pending;
  std::string incoming;  // bytes that are not yet a message
  std::string outgoing;  // bytes that were not yet sent
};

class StoreService {
 public:
  StoreService(std::string_view token, int ranks, const StoreLimits& store,
               const WatchdogLimits& watchdog, Moment start)
      : token_(padded_token(token)), table_(store), board_(ranks, watchdog, start) {}

  /// Takes the whole messages off `client.incoming`, up to one that must wait, or while answers of
  /// more than a value's size lie unsent. A client that breaks
  /// the rules is told why and marked `closing`, and changes nothing from then on.
  void receive(StoreClient& client, Moment now);
  /// Its connection is gone.
  void lose(const StoreClient& client);
  /// Answers what can be answered now, and what is late; judges the ranks and tells the first
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

}  // namespace trainyard
