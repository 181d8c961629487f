// A store's port is closed to strangers, and whatever they do changes nothing.
#include <doctest/doctest.h>

#include <deque>
#include <functional>

#include "../thread_ranks.h"
#include "base/error.h"
#include "ranks/rendezvous/store.h"
#include "ranks/rendezvous/store_server.h"
#include "raw_client.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

const std::string kToken = "the token";

class Port {
 public:
  explicit Port(StoreServerOptions options = {}) : server_(with_defaults(options)) {}

  [[nodiscard]] std::uint16_t number() const { return server_.port(); }
  [[nodiscard]] std::unique_ptr<Store> store(const std::string& token = kToken) const {
    return connect_to_store({.endpoint = {"127.0.0.1", number()}, .token = token}, kLong);
  }
  /// True if a rank can still set and get.
  [[nodiscard]] bool serves() const {
    const auto rank = store();
    rank->set("alive", "yes");
    return rank->get("alive", kLong) == "yes";
  }

 private:
  static StoreServerOptions with_defaults(StoreServerOptions options) {
    options.endpoint = {.host = "127.0.0.1"};
    options.token = kToken;
    return options;
  }
  StoreServer server_;
};

/// The store's reply to the bytes before it closes the connection.
std::string refusal_of(const Port& port, const std::string& bytes, bool greeted) {
  RawClient client(port.number());
  if (greeted) {
    client.greet(kToken);
    CHECK((client.receive().kind == MessageKind::done));
  }
  client.send(bytes);
  const Message answer = client.receive();
  CHECK((answer.kind == MessageKind::refused));
  CHECK(client.is_closed());
  return answer.value;
}

std::string header_of(std::size_t key, std::size_t value) {
  std::string bytes = encode(Message{.kind = MessageKind::set}).substr(0, kHeaderBytes);
  bytes[6] = static_cast<char>(key & 0xff);
  bytes[7] = static_cast<char>(key >> 8);
  for (int i = 0; i < 4; ++i) {
    bytes[static_cast<std::size_t>(8 + i)] = static_cast<char>((value >> (8 * i)) & 0xff);
  }
  return bytes;
}

std::string message_of_error(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a client with a wrong token is told so and disconnected") {
  const Port port;
  for (const char* wrong : {"the tokem", "the toke", "the token2", "x"}) {
    const std::string text = message_of_error([&] { port.store(wrong)->set("a", "b"); });
    CHECK(text == "rank 0's store at 127.0.0.1:" + std::to_string(port.number()) +
                      " refused this rank: the token differs from rank 0's; give every rank the "
                      "same one");
  }
  CHECK_THROWS_AS(port.store()->wait("a", Milliseconds(1)), Error);
  CHECK(port.serves());
}

TEST_CASE("before the token, nothing but a greeting is read") {
  const Port port;
  CHECK(refusal_of(port, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", false) ==
        "these bytes are not a message between ranks");
  CHECK(refusal_of(port, encode(Message{.kind = MessageKind::set, .key = "a", .value = "b"}),
                   false) == "a connection to the ranks' store must begin with a greeting");
  CHECK(refusal_of(port, header_of(0, 65), false) ==
        "a value has 65 bytes; at most 64 are allowed");
  CHECK(refusal_of(port, encode(Message{.kind = MessageKind::hello, .number = kWireVersion}),
                   false) == "a connection to the ranks' store must begin with a greeting");
  CHECK_THROWS_AS(port.store()->wait("a", Milliseconds(1)), Error);
  CHECK(port.serves());
}

TEST_CASE("another protocol version is reported") {
  const Port port;
  CHECK(
      refusal_of(port,
                 encode(Message{.kind = MessageKind::hello,
                                .number = kWireVersion + 1,
                                .value = padded_token(kToken)}),
                 false) ==
      "a rank uses protocol version 2, rank 0 version 1; run the same version of train everywhere");
}

TEST_CASE("a rank that breaks the rules is told so and dropped, and changes nothing") {
  const Port port;
  CHECK(refusal_of(port, std::string(100, 'x'), true) ==
        "these bytes are not a message between ranks");
  CHECK(refusal_of(port, header_of(257, 0), true) ==
        "a key has 257 bytes; at most 256 are allowed");
  CHECK(refusal_of(port, header_of(1, (1 << 20) + 1), true) ==
        "a value has 1048577 bytes; at most 1048576 are allowed");
  CHECK(refusal_of(port, encode(Message{.kind = MessageKind::failed}), true) ==
        "a rank sent a message that only the ranks' store may send");
  CHECK(refusal_of(port, encode(Message{.kind = MessageKind::beat}), true) ==
        "a watchdog joins once, before anything else");
  CHECK(port.serves());
}

TEST_CASE("a refusal discards what the client had sent after it") {
  const Port port;
  const std::string bytes =
      std::string(20, 'x') +
      encode(Message{.kind = MessageKind::set, .key = "behind", .value = "b"});
  refusal_of(port, bytes, true);
  CHECK_THROWS_AS(port.store()->wait("behind", Milliseconds(50)), Error);
}

TEST_CASE("a watchdog that lies about its rank is dropped") {
  const Port port({.ranks = 2});
  const auto join = [](std::int64_t rank) {
    return encode(Message{.kind = MessageKind::join, .number = rank, .key = "host"});
  };
  CHECK(refusal_of(port, join(2), true) ==
        "rank 2 joined a job of 2 ranks; every rank needs a number of its own from 0");
  RawClient one(port.number());
  one.greet(kToken);
  one.send(join(1));
  CHECK((one.receive().kind == MessageKind::done));
  CHECK((one.receive().kind == MessageKind::done));
  CHECK(refusal_of(port, join(1), true) ==
        "two processes joined as rank 1; every rank needs a number of its own");
  one.send(encode(Message{.kind = MessageKind::report, .value = encode(Failure{.rank = 0})}));
  CHECK(one.receive().value == "a rank reports its own failure only");
}

TEST_CASE("a silent client is disconnected after a while") {
  const Port port({.greeting = Milliseconds(100)});
  RawClient client(port.number());
  CHECK(client.is_closed());
  CHECK(port.serves());
}

TEST_CASE("strangers make room for ranks") {
  const Port port({.ranks = 2});
  std::deque<RawClient> strangers;
  for (std::size_t i = 0; i < most_connections(2) + 5; ++i) strangers.emplace_back(port.number());
  CHECK(port.serves());
  CHECK(strangers.front().is_closed());
}

TEST_CASE("a store that is full of ranks accepts no more") {
  const Port port({.ranks = 1});
  std::deque<RawClient> ranks;
  for (std::size_t i = 0; i < most_connections(1); ++i) {
    ranks.emplace_back(port.number());
    ranks.back().greet(kToken);
    CHECK((ranks.back().receive().kind == MessageKind::done));
  }
  RawClient surplus(port.number());
  CHECK(surplus.is_closed());
  const StoreAddress address{.endpoint = {"127.0.0.1", port.number()}, .token = kToken};
  CHECK(
      message_of_error([&] { static_cast<void>(connect_to_store(address, Milliseconds(100))); }) ==
      "rank 0's store at " + address.endpoint.text() +
          " closed the connection without an answer; is train listening there, with room for "
          "this rank?");
  ranks.front().close();
  CHECK(port.serves());
}

TEST_CASE("a client that sends requests and does not read fills no memory, and others are served") {
  const Port port;
  const auto rank = port.store();
  rank->set("large", std::string(kMaxValueBytes, 'v'));
  RawClient client(port.number());
  client.greet(kToken);
  std::string requests;
  for (int i = 0; i < 200; ++i) {
    requests += encode(Message{.kind = MessageKind::get, .number = 0, .key = "large"});
  }
  client.send(requests);
  CHECK(port.serves());
  CHECK((client.receive().kind == MessageKind::done));
  for (int i = 0; i < 200; ++i) {
    const Message answer = client.receive();
    REQUIRE((answer.kind == MessageKind::found));
    REQUIRE(answer.value.size() == kMaxValueBytes);
  }
}

TEST_CASE("an address without a listener, and one that cannot be listened on, are named") {
  std::uint16_t free_port = 0;
  { free_port = port_of(listen_on({.host = "127.0.0.1"})); }
  const std::string nobody = message_of_error([&] {
    static_cast<void>(
        connect_to_store({.endpoint = {"127.0.0.1", free_port}, .token = "t"}, Milliseconds(20)));
  });
  CHECK(nobody ==
        "rank 0 did not answer at 127.0.0.1:" + std::to_string(free_port) +
            " within 0.02 s: Connection refused; is it running, and is that its address?");
  const Port port;
  const Endpoint taken{.host = "127.0.0.1", .port = port.number()};
  StoreServerOptions options{.endpoint = taken, .token = "t"};
  CHECK(message_of_error([&] { const StoreServer server(options); }) ==
        "rank 0 cannot listen on " + taken.text() +
            ": Address already in use; give an address of this machine and a free port");
  options.token.clear();
  CHECK_THROWS_AS(StoreServer server(options), Error);
}

TEST_CASE("a store that goes away is reported to its clients") {
  std::unique_ptr<Store> store;
  std::string address;
  {
    const Port port;
    address = "127.0.0.1:" + std::to_string(port.number());
    store = port.store();
  }
  CHECK(message_of_error([&] { store->set("a", "b"); }) ==
        "rank 0's store at " + address +
            " closed the connection; rank 0 has exited, see its output");
}
