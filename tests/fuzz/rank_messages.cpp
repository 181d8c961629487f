// What a client of rank 0's store sends, once it has shown the token.
#include "base/error.h"
#include "comm/rendezvous/store_service.h"
#include "expect.h"

namespace trainyard::fuzz {

namespace {

constexpr std::string_view kToken = "token";

/// A message that is accepted is the one that was written.
void expect_same_bytes(std::string_view input) {
  std::string_view rest = input;
  while (const auto message = take_message(rest)) {
    const std::size_t end = input.size() - rest.size();
    const std::string again = encode(*message);
    expect(input.substr(0, end).ends_with(again), "a message that is written has other bytes");
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
