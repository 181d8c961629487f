#include "ranks/rendezvous/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace trainyard {
namespace {

bool is_only_busy(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

bool receive_into(const Descriptor& socket, std::string& bytes, std::size_t most) {
  std::array<char, 65536> chunk;
  while (most > 0) {
    const ssize_t got =
        ::recv(socket.get().value, chunk.data(), std::min(most, chunk.size()), MSG_DONTWAIT);
    if (got < 0) return is_only_busy(errno);
    if (got == 0) return false;
    bytes.append(chunk.data(), static_cast<std::size_t>(got));
    most -= static_cast<std::size_t>(got);
  }
  return true;
}

bool send_from(const Descriptor& socket, std::string& bytes) {
  while (!bytes.empty()) {
    const ssize_t sent =
        ::send(socket.get().value, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) return is_only_busy(errno);
    bytes.erase(0, static_cast<std::size_t>(sent));
  }
  return true;
}

bool await_socket(const Descriptor& socket, bool writes, int wake, Milliseconds limit) {
  std::array<pollfd, 2> entries{
      pollfd{.fd = socket.get().value,
             .events = static_cast<short>(writes ? POLLIN | POLLOUT : POLLIN),
             .revents = 0},
      pollfd{.fd = wake, .events = POLLIN, .revents = 0}};
  const auto milliseconds = std::clamp<std::int64_t>(limit.count(), 0, 1'000'000);
  const int ready = ::poll(entries.data(), entries.size(), static_cast<int>(milliseconds));
  return ready > 0 && (entries[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0;
}

}  // namespace trainyard
