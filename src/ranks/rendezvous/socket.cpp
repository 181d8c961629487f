#include "ranks/rendezvous/socket.h"

#include <fcntl.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace trainyard {
namespace {

constexpr Milliseconds kPauseToConnect{50};  // between two attempts to connect
constexpr int kBacklog = 4096;               // all ranks connect at once; the system allows fewer

/// Null with a reason if the name is unknown.
Addresses addresses_of(const Endpoint& endpoint, std::string& reason) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(endpoint.port);
  const int code = ::getaddrinfo(endpoint.host.c_str(), port.c_str(), &hints, &found);
  if (code != 0) reason = ::gai_strerror(code);
  return Addresses(code == 0 ? found : nullptr);
}

Descriptor open_socket(const addrinfo& address) {
  return Descriptor({::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)});
}

void set_option(const Descriptor& socket, int level, int option) {
  const int on = 1;
  ::setsockopt(socket.get().value, level, option, &on, sizeof on);
}

/// Small messages are sent at once, and a machine that is gone is noticed eventually.
void prepare_connection(const Descriptor& socket) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE);
}

int milliseconds_until(Moment deadline) {
  const auto left = std::chrono::ceil<Milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1'000'000));
}

/// 0 once a connection in progress is established, else its error.
int finish_connecting(const Descriptor& socket, Moment deadline) {
  pollfd entry{.fd = socket.get().value, .events = POLLOUT, .revents = 0};
  if (::poll(&entry, 1, milliseconds_until(deadline)) <= 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.get().value, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

Descriptor try_to_connect(const addrinfo& address, Moment deadline, std::string& reason) {
  Descriptor socket = open_socket(address);
  int error = errno;
  if (socket) {
    error = ::connect(socket.get().value, address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
    if (error == EINPROGRESS) error = finish_connecting(socket, deadline);
  }
  if (error == 0) return socket;
  reason = std::strerror(error);
  return {};
}

struct FreeInterfaces {
  void operator()(ifaddrs* list) const { ::freeifaddrs(list); }
};
using Interfaces = std::unique_ptr<ifaddrs, FreeInterfaces>;

/// "" if it is not of `family` (IPv4 or IPv6).
std::string numeric_text(const sockaddr* address, int family) {
  if (address == nullptr || address->sa_family != family) return {};
  const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  std::array<char, NI_MAXHOST> text{};
  const int code =
      ::getnameinfo(address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  return code == 0 ? text.data() : std::string();
}

bool is_only_busy(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

[[noreturn]] void refuse_host(const std::string& host, const std::string& reason) {
  throw device_error("no route from this machine to '" + host + "': " + reason +
                     "; give an address that this machine can reach");
}

/// Connects until `deadline`, without retrying. None with a reason if that fails.
Descriptor connect_once(const Endpoint& endpoint, Moment deadline, std::string& reason) {
  const Addresses addresses = addresses_of(endpoint, reason);
  for (const addrinfo* next = addresses.get(); next != nullptr; next = next->ai_next) {
    Descriptor socket = try_to_connect(*next, deadline, reason);
    if (socket) return socket;
  }
  return {};
}

}  // namespace

std::string Endpoint::text() const { return host + ":" + std::to_string(port); }

Descriptor listen_on(const Endpoint& endpoint) {
  std::string reason = "no address";
  const Addresses addresses = addresses_of(endpoint, reason);
  for (const addrinfo* next = addresses.get(); next != nullptr; next = next->ai_next) {
    Descriptor socket = open_socket(*next);
    if (socket) {
      set_option(socket, SOL_SOCKET, SO_REUSEADDR);
      const int file = socket.get().value;
      if (::bind(file, next->ai_addr, next->ai_addrlen) == 0 && ::listen(file, kBacklog) == 0) {
        return socket;
      }
    }
    reason = std::strerror(errno);
  }
  throw device_error("rank 0 cannot listen on " + endpoint.text() + ": " + reason +
                     "; give an address of this machine and a free port");
}

std::uint16_t port_of(const Descriptor& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  const int code = ::getsockname(socket.get().value, reinterpret_cast<sockaddr*>(&address), &size);
  TY_CHECK(code == 0, "the socket is bound");
  const auto* const four = reinterpret_cast<const sockaddr_in*>(&address);
  const auto* const six = reinterpret_cast<const sockaddr_in6*>(&address);
  return ntohs(address.ss_family == AF_INET6 ? six->sin6_port : four->sin_port);
}

Descriptor accept_from(const Descriptor& listener) {
  Descriptor socket(
      {::accept4(listener.get().value, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)});
  if (socket) prepare_connection(socket);
  return socket;
}

Descriptor connect_to(const Endpoint& endpoint, Milliseconds limit) {
  const Moment deadline = std::chrono::steady_clock::now() + limit;
  std::string reason;
  while (true) {
    Descriptor socket = connect_once(endpoint, deadline, reason);
    if (socket) {
      prepare_connection(socket);
      return socket;
    }
    const int left = milliseconds_until(deadline);
    if (left == 0) break;
    ::poll(nullptr, 0, std::min(left, static_cast<int>(kPauseToConnect.count())));
  }
  const double seconds = std::chrono::duration<double>(limit).count();
  throw device_error("rank 0 did not answer at " + endpoint.text() + " within " +
                     number_text(seconds) + " s: " + reason +
                     "; is it running, and is that its address?");
}

std::string address_of_interface(const std::string& name) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) list = nullptr;
  const Interfaces interfaces(list);
  std::set<std::string> names;
  for (const int family : {AF_INET, AF_INET6}) {
    for (const ifaddrs* next = list; next != nullptr; next = next->ifa_next) {
      const std::string address = numeric_text(next->ifa_addr, family);
      if (address.empty()) continue;
      if (next->ifa_name == name) return address;
      names.insert(next->ifa_name);
    }
  }
  throw device_error("no network interface '" + name + "' with an address; this machine has " +
                     joined(std::vector<std::string>(names.begin(), names.end())));
}

Wake::Wake() : file_({::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)}) {
  if (!file_) {
    throw device_error(std::string("cannot make a descriptor for waking a thread: ") +
                       std::strerror(errno) + "; raise the limit of open files");
  }
}

void Wake::signal() noexcept {
  const std::uint64_t one = 1;
  // It fails only when 2^64 - 2 signals are pending, and then the thread wakes up as well.
  [[maybe_unused]] const auto written = ::write(file_.get().value, &one, sizeof one);
}

void Wake::clear() noexcept {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto read = ::read(file_.get().value, &count, sizeof count);
}

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

std::string own_address_towards(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* list = nullptr;
  const int code = ::getaddrinfo(host.c_str(), "9", &hints, &list);
  if (code != 0) refuse_host(host, ::gai_strerror(code));
  const Addresses found(list);
  // Connecting a datagram socket sends nothing: it only selects the route.
  const Descriptor socket({::socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0)});
  if (::connect(socket.get().value, found->ai_addr, found->ai_addrlen) != 0) {
    refuse_host(host, std::strerror(errno));
  }
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  std::array<char, NI_MAXHOST> text{};
  if (::getsockname(socket.get().value, reinterpret_cast<sockaddr*>(&own), &size) != 0 ||
      ::getnameinfo(reinterpret_cast<sockaddr*>(&own), size, text.data(), text.size(), nullptr, 0,
                    NI_NUMERICHOST) != 0) {
    refuse_host(host, "the local end of the route has no address");
  }
  return text.data();
}

}  // namespace trainyard
