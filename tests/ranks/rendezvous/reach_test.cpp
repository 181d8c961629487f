#include "ranks/rendezvous/reach.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "../waiting.h"
#include "ranks/rendezvous/connection.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

/// A pipe whose reading end says that somebody waits.
struct Reader {
  Reader() { REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0); }
  ~Reader() {
    leave();
    ::close(ends[1]);
  }
  void leave() {
    if (ends[0] >= 0) ::close(ends[0]);
    ends[0] = -1;
  }
  std::array<int, 2> ends{};
};

Endpoint here(std::uint16_t port) { return {.host = "127.0.0.1", .port = port}; }

}  // namespace

TEST_CASE("a host that listens is reached, again and again, until nobody reads its output") {
  const Descriptor listener = listen_on(here(0));
  const std::uint16_t port = port_of(listener);
  Reader reader;
  std::jthread answering([&] { answer_all(listener, reader.ends[1], kLong); });
  for (int i = 0; i < 3; ++i) CHECK(why_unreached(here(port), kLong) == "");
  const Moment left = std::chrono::steady_clock::now();
  reader.leave();
  answering.join();
  CHECK(seconds_since(left) < 30);
}

TEST_CASE("a host that listens stops at its limit") {
  const Descriptor listener = listen_on(here(0));
  const Reader reader;
  answer_all(listener, reader.ends[1], Milliseconds(20));
  CHECK(why_unreached(here(port_of(listener)), Milliseconds(50)).starts_with("connected, but "));
}

TEST_CASE("why a host is not reached") {
  std::uint16_t closed = 0;
  {
    const Descriptor listener = listen_on(here(0));
    closed = port_of(listener);
  }
  CHECK(why_unreached(here(closed), kLong) == "Connection refused");
  CHECK(why_unreached({.host = "no-such-host.invalid", .port = 1}, kLong) != "");

  const Descriptor listener = listen_on(here(0));
  CHECK(why_unreached(here(port_of(listener)), Milliseconds(50)) ==
        "connected, but received 0 of 65536 bytes; do both networks allow packets of the same size "
        "(MTU)?");

  const Descriptor stranger = listen_on(here(0));
  std::jthread other([&] {
    while (true) {
      const Descriptor socket = accept_from(stranger);
      std::string text = "SSH-2.0";
      if (socket && send_from(socket, text)) return;
      std::this_thread::yield();
    }
  });
  CHECK(why_unreached(here(port_of(stranger)), kLong) == "another program listens there");
}
