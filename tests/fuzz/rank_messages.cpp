// Messages that a client sends to rank 0's store after presenting the token.
#include "base/error.h"
#include "expect.h"
#include "ranks/rendezvous/store_server.h"

namespace trainyard::fuzz {

namespace {

constexpr std::string_view kToken = "token";

/// An accepted message re-encodes to the same bytes.
void expect_same_bytes(std::string_view input) {
  std::string_view rest = input;
  while (const auto message = take_message(rest)) {
    const std::size_t end = input.size() - rest.size();
    const std::string again = encode(*message);
    expect(input.substr(0, end).ends_with(again), "a written message has other bytes");
  }
}

}  // namespace

void read_rank_messages(std::string_view input) {
  const Moment now{};
  StoreService service(kToken, 2, {.keys = 8, .bytes = 4096}, {}, now);
  StoreClient client(now);
  client.incoming = encode(
      Message{.kind = MessageKind::hello, .number = kWireVersion, .value = padded_token(kToken)});
  client.incoming += input;
  service.receive(client, now);
  StoreClient* const clients[] = {&client};
  service.advance(clients, now + Milliseconds(1));
  expect(client.greeted, "the greeting was heard");
  expect(client.incoming.size() <= input.size(), "what is kept was sent");
  service.lose(client);
  if (client.closing) throw Error(ErrorKind::device, "the store dropped the client");
  expect_same_bytes(input);
}

}  // namespace trainyard::fuzz
