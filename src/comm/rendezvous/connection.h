// Bytes to and from one socket, without waiting.
#pragma once

#include <string>

#include "comm/rendezvous/socket.h"

namespace trainyard {

/// Appends what has arrived, at most `most` bytes. False once the connection is gone.
[[nodiscard]] bool receive_into(const Descriptor& socket, std::string& bytes, std::size_t most);
/// Sends what the system takes and removes it from `bytes`. False once the connection is gone.
[[nodiscard]] bool send_from(const Descriptor& socket, std::string& bytes);
/// Waits until the socket can be read, can be written if `writes`, or `wake` (-1: none) can be
/// read; up to `limit`. True if the socket can be read.
[[nodiscard]] bool await_socket(const Descriptor& socket, bool writes, int wake,
                                Milliseconds limit);

}  // namespace trainyard
