// TCP sockets: ownership, listening and connecting, reads and writes that never wait.
#pragma once

#include <netdb.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/handle.h"

namespace trainyard {

/// Where a socket listens or connects to.
struct Endpoint {
  std::string host;  // a name or a numeric address
  std::uint16_t port = 0;

  /// "host:port".
  [[nodiscard]] std::string text() const;
};

/// A socket that listens at this endpoint; port 0 takes any free port. Throws Error{device} that
/// names the address.
[[nodiscard]] Descriptor listen_on(const Endpoint& endpoint);
/// The port that a socket is bound to.
[[nodiscard]] std::uint16_t port_of(const Descriptor& socket);
/// The next pending connection of a listening socket, else none. Never waits.
[[nodiscard]] Descriptor accept_from(const Descriptor& listener);
/// Connects, retrying until `limit` has passed: the listener may still be starting, and its name
/// may not be known yet. Throws Error{device} with the last reason.
[[nodiscard]] Descriptor connect_to(const Endpoint& endpoint, Milliseconds limit);

/// The numeric address of a network interface of this machine, IPv4 if it has one. Throws
/// Error{device} that lists the existing interfaces.
[[nodiscard]] std::string address_of_interface(const std::string& name);

/// Wakes a thread that waits in poll() for `descriptor()` to become readable.
class Wake {
 public:
  /// Throws Error{device} if the system has no descriptor left.
  Wake();
  void signal() noexcept;
  /// Discards all signals so far.
  void clear() noexcept;
  [[nodiscard]] int descriptor() const { return file_.get().value; }

 private:
  Descriptor file_;
};

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
/// The result of getaddrinfo: a list, the best first.
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

/// Appends what has arrived, at most `most` bytes. False once the connection is gone.
[[nodiscard]] bool receive_into(const Descriptor& socket, std::string& bytes, std::size_t most);
/// Sends as much as the system accepts and removes it from `bytes`. False once the connection is
/// gone.
[[nodiscard]] bool send_from(const Descriptor& socket, std::string& bytes);
/// Waits at most `limit` until the socket is readable, writable if `writes`, or `wake` (-1: none)
/// is readable. True if the socket is readable.
[[nodiscard]] bool await_socket(const Descriptor& socket, bool writes, int wake,
                                Milliseconds limit);

/// The numeric address of the interface over which this machine reaches `host` (a name or numeric
/// address): the address at which `host` and its neighbours reach this machine. Sends nothing.
/// Throws Error{device} that names the host if it is unknown or there is no route to it.
[[nodiscard]] std::string own_address_towards(const std::string& host);

}  // namespace trainyard
