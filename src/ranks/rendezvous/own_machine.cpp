#include "ranks/rendezvous/own_machine.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/error.h"
#include "ranks/rendezvous/socket.h"

namespace trainyard {

namespace {

[[noreturn]] void refuse_host(const std::string& host, const std::string& reason) {
  throw Error(ErrorKind::device, "no route from this machine to '" + host + "': " + reason +
                                     "; give an address that this machine can reach");
}

}  // namespace

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

std::string own_machine() {
  std::string machine;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), machine);
  for (const char* const part : {"/proc/self/ns/pid", "/proc/self/ns/net"}) {
    std::error_code failed;
    const std::filesystem::path name = std::filesystem::read_symlink(part, failed);
    if (failed || machine.empty()) return {};
    machine += " " + name.string();
  }
  return machine;
}

}  // namespace trainyard
