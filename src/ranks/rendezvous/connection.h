// Non-blocking reads and writes on a socket.
#pragma once

#include <string>

#include "ranks/rendezvous/socket.h"

namespace trainyard {

/// Appends what has arrived, at most `most` bytes. False once the connection is gone.
[[nodiscard]] bool receive_into(const Descriptor& socket, std::string& bytes, std::size_t most);
/// Sends as much as the system accepts and removes it from `bytes`. False once the connection is
/// gone.
[[nodiscard]] bool send_from(const Descriptor& socket, std::string& bytes);
/// Waits at most `limit` until the socket is readable, writable if `writes`, or `wake` (-1: none)
/// is readable. True if the socket is readable.
[[nodiscard]] bool await_socket(const Descriptor& socket, bool writes, int wake,
                                Milliseconds limit);

}  // namespace trainyard
