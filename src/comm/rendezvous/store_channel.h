// A rank's connection to rank 0's store: messages sent and received with a limit of time.
#pragma once

#include <optional>
#include <string>

#include "comm/rendezvous/socket.h"
#include "comm/rendezvous/store.h"
#include "comm/rendezvous/wire.h"

namespace trainyard {

/// One connection that rank 0 has let in. For one thread at a time.
class StoreChannel {
 public:
  /// Connects and shows the token. Throws Error{device} that names the address.
  StoreChannel(const StoreAddress& address, Milliseconds limit);

  /// Sends a request and waits for what answers it. Throws Error{device} if the connection is gone,
  /// if the answer takes longer than `limit`, and for a refusal, whose reason it repeats.
  [[nodiscard]] Message ask(const Message& request, Milliseconds limit);

  /// Puts a message into the bytes to be sent.
  void post(const Message& message) { outgoing_ += encode(message); }
  [[nodiscard]] bool all_sent() const { return outgoing_.empty(); }
  /// Sends what the system takes, without waiting. False once the connection is gone.
  [[nodiscard]] bool flush();
  /// Waits up to `limit` for bytes, or for `wake` (-1: none) to be signalled.
  void await(int wake, Milliseconds limit);
  /// Takes in what has arrived, without waiting. False once the connection is gone; what came
  /// before is still there to be taken.
  [[nodiscard]] bool receive();
  /// The next message that has arrived whole. Throws Error{device} for bytes that are none.
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
