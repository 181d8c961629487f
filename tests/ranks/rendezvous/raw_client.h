// A client that can send a store anything.
#pragma once

#include <string>
#include <string_view>

#include "ranks/rendezvous/socket.h"
#include "ranks/rendezvous/wire.h"

namespace trainyard::testing {

class RawClient {
 public:
  explicit RawClient(std::uint16_t port)
      : socket_(connect_to({"127.0.0.1", port}, Milliseconds(60'000))) {}

  /// Sends all bytes, or what fits before the other side closes.
  void send(std::string bytes) {
    while (!bytes.empty() && send_from(socket_, bytes)) {
      if (!bytes.empty()) static_cast<void>(await_socket(socket_, true, -1, kStep));
    }
  }
  void greet(std::string_view token) {
    send(encode(
        Message{.kind = MessageKind::hello, .number = kWireVersion, .value = padded_token(token)}));
  }
  /// The next message; kind `late` without a key if the connection closed before one arrived.
  Message receive() {
    bool open = true;
    while (true) {
      std::string_view rest = incoming_;
      auto message = take_message(rest);
      incoming_.erase(0, incoming_.size() - rest.size());
      if (message) return *message;
      if (!open) return {.kind = MessageKind::late, .value = "closed"};
      static_cast<void>(await_socket(socket_, false, -1, kStep));
      open = receive_into(socket_, incoming_, kMaxValueBytes);
    }
  }
  /// Waits until the other side closes.
  bool is_closed() { return receive().value == "closed"; }
  void close() { socket_ = {}; }

 private:
  static constexpr Milliseconds kStep{1000};
  Descriptor socket_;
  std::string incoming_;
};

}  // namespace trainyard::testing
