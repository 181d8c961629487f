// A rank's connection to rank 0's store: messages sent and received with a time limit.
#pragma once

#include <optional>
#include <string>

#include "ranks/rendezvous/socket.h"
#include "ranks/rendezvous/store.h"
#include "ranks/rendezvous/wire.h"

namespace trainyard {

/// One connection admitted by rank 0. For one thread at a time.
class StoreChannel {
 public:
  /// Connects and sends the token. Throws Error{device} that names the address.
  StoreChannel(const StoreAddress& address, Milliseconds limit);

  /// Sends a request and waits for the answer. Throws Error{device} if the connection is gone, if
  /// the answer takes longer than `limit`, and for a refusal, with its reason.
  [[nodiscard]] Message ask(const Message& request, Milliseconds limit);

  /// Appends a message to the bytes to be sent.
  void post(const Message& message) { outgoing_ += encode(message); }
  [[nodiscard]] bool all_sent() const { return outgoing_.empty(); }
  /// Sends as much as the system accepts, without waiting. False once the connection is gone.
  [[nodiscard]] bool flush();
  /// Waits at most `limit` for bytes, or for `wake` (-1: none) to be signalled.
  void await(int wake, Milliseconds limit);
  /// Reads what has arrived, without waiting. False once the connection is gone; what arrived
  /// before can still be taken.
  [[nodiscard]] bool receive();
  /// The next complete message. Throws Error{device} for bytes that are not a message.
  [[nodiscard]] std::optional<Message> take();
  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }

 private:
  [[nodiscard]] bool greet(const std::string& token, Moment deadline);
  [[nodiscard]] std::optional<Message> await_message(Moment deadline, bool& open);

  Endpoint endpoint_;
  Descriptor socket_;
  std::string incoming_, outgoing_;
};

}  // namespace trainyard
