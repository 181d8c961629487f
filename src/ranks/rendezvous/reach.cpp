#include "ranks/rendezvous/reach.h"

#include <poll.h>

#include <algorithm>
#include <list>
#include <vector>

#include "ranks/rendezvous/connection.h"

namespace trainyard {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kGreetingBytes = 65536;
constexpr std::string_view kGreeting = "train doctor\n";

std::string greeting() {
  std::string text(kGreeting);
  text.resize(kGreetingBytes, '.');
  return text;
}

/// A host that connected, and what it has not yet been sent.
struct Caller {
  Descriptor socket;
  std::string unsent = greeting();
};

int remaining_milliseconds(Moment deadline) {
  const auto left = std::chrono::ceil<Milliseconds>(deadline - SteadyClock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1'000'000));
}

}  // namespace

void answer_all(const Descriptor& listener, int output, Milliseconds limit) {
  const Moment deadline = SteadyClock::now() + limit;
  std::list<Caller> callers;
  while (SteadyClock::now() < deadline) {
    std::vector<pollfd> entries{{.fd = output, .events = 0, .revents = 0},
                                {.fd = listener.get().value, .events = POLLIN, .revents = 0}};
    for (const Caller& caller : callers) {
      entries.push_back({.fd = caller.socket.get().value, .events = POLLOUT, .revents = 0});
    }
    ::poll(entries.data(), entries.size(), remaining_milliseconds(deadline));
    if ((entries[0].revents & (POLLERR | POLLHUP)) != 0) return;
    while (Descriptor socket = accept_from(listener)) callers.push_back({std::move(socket)});
    callers.remove_if([](Caller& caller) {
      return !send_from(caller.socket, caller.unsent) || caller.unsent.empty();
    });
  }
}

std::string why_unreached(const Endpoint& endpoint, Milliseconds limit) {
  const Moment deadline = SteadyClock::now() + limit;
  std::string reason = "no address";
  const Descriptor socket = connect_once(endpoint, deadline, reason);
  if (!socket) return reason;
  std::string received;
  bool open = true;
  while (open && received.size() < kGreetingBytes && SteadyClock::now() < deadline) {
    if (await_socket(socket, false, -1, Milliseconds(remaining_milliseconds(deadline)))) {
      open = receive_into(socket, received, kGreetingBytes - received.size());
    }
  }
  if (received == greeting()) return "";
  if (!received.starts_with(kGreeting.substr(0, received.size()))) {
    return "another program listens there";
  }
  return "connected, but received " + std::to_string(received.size()) + " of " +
         std::to_string(kGreetingBytes) +
         " bytes; do both networks allow packets of the same size "
         "(MTU)?";
}

}  // namespace trainyard
