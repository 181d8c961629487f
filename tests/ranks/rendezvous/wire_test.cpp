#include "ranks/rendezvous/wire.h"

#include <doctest/doctest.h>

#include <functional>

#include "base/error.h"
#include "ranks/rendezvous/failure.h"
#include "ranks/rendezvous/watchdog_board.h"

using namespace trainyard;

namespace {

const Message kMessage{.kind = MessageKind::set, .number = -7, .key = "key", .value = "value"};

std::string wire_error(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string refusal_of(std::string bytes, std::size_t max_value = kMaxValueBytes) {
  return wire_error([&] {
    std::string_view rest = bytes;
    static_cast<void>(take_message(rest, max_value));
  });
}

}  // namespace

TEST_CASE("messages are read as written, one after the other") {
  const Message empty{.kind = MessageKind::left, .number = INT64_MIN};
  const std::string bytes = encode(kMessage) + encode(empty) + "x";
  std::string_view rest = bytes;
  CHECK(take_message(rest) == kMessage);
  CHECK(take_message(rest) == empty);
  CHECK(rest == "x");
}

TEST_CASE("an incomplete message is left alone") {
  const std::string bytes = encode(kMessage);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    std::string_view rest = std::string_view(bytes).substr(0, size);
    CHECK_FALSE(take_message(rest).has_value());
    CHECK(rest.size() == size);
  }
}

TEST_CASE("a header that breaks the rules is refused before its body arrives") {
  const std::string header = encode(kMessage).substr(0, kHeaderBytes);
  std::string bytes = header;
  bytes[0] = 'x';
  CHECK(refusal_of(bytes) == "these bytes are not a message between ranks");
  bytes = header;
  bytes[5] = 1;
  CHECK(refusal_of(bytes) == "these bytes are not a message between ranks");
  bytes = header;
  bytes[4] = 0;
  CHECK(refusal_of(bytes) == "a message of unknown kind 0");
  bytes[4] = static_cast<char>(static_cast<int>(MessageKind::failed) + 1);
  CHECK(refusal_of(bytes) == "a message of unknown kind 16");
  bytes = header;
  bytes[6] = 1;
  bytes[7] = 1;
  CHECK(refusal_of(bytes) == "a key has 257 bytes; at most 256 are allowed");
  bytes = header;
  bytes[8] = 1;
  bytes[10] = 0x10;
  CHECK(refusal_of(bytes) == "a value has 1048577 bytes; at most 1048576 are allowed");
  CHECK(refusal_of(header, 4) == "a value has 5 bytes; at most 4 are allowed");
}

TEST_CASE("a message that is too large is not written") {
  Message message = kMessage;
  message.key.resize(kMaxKeyBytes + 1);
  CHECK_THROWS_AS(static_cast<void>(encode(message)), Error);
  message = kMessage;
  message.value.resize(kMaxValueBytes + 1);
  CHECK_THROWS_AS(static_cast<void>(encode(message)), Error);
}

TEST_CASE("tokens are equal only if every byte is") {
  const std::string token = padded_token("secret");
  CHECK(token.size() == kTokenBytes);
  CHECK(same_token(token, padded_token("secret")));
  for (std::size_t i = 0; i < kTokenBytes; ++i) {
    std::string other = token;
    other[i] = static_cast<char>(other[i] ^ 1);
    CHECK_FALSE(same_token(token, other));
  }
}

TEST_CASE("an invalid token is refused") {
  const auto refusal = [](std::string_view token) {
    return wire_error([&] { static_cast<void>(padded_token(token)); });
  };
  CHECK(refusal("") ==
        "the ranks' token has 0 bytes; give 1 to 64, without zero bytes, the same to every rank");
  CHECK(refusal(std::string(65, 't')).starts_with("the ranks' token has 65 bytes"));
  CHECK(refusal(std::string_view("a\0b", 3)).starts_with("the ranks' token has 3 bytes"));
  CHECK(refusal(std::string(64, 't')) == "no error");
}

TEST_CASE("a failure is read as written, and any other bytes are refused") {
  const Failure failure{.rank = 2,
                        .host = "node1",
                        .step = 12,
                        .operation = "all_reduce",
                        .text = "what happened",
                        .exit_code = 4,
                        .consequence = true};
  const std::string bytes = encode(failure);
  CHECK(decode_failure(bytes) == failure);
  const auto refusal = [](const std::string& text) {
    return wire_error([&] { static_cast<void>(decode_failure(text)); });
  };
  CHECK(refusal(bytes + "x") == "a message between ranks has extra bytes");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK(refusal(bytes.substr(0, size)) == "a message between ranks ends too early");
  }
  std::string large = bytes;
  large[3] = 1;  // the rank: 2 + 2^24
  CHECK(refusal(large) == "a failure's numbers are out of range");
  large = bytes;
  large[24] = 2;  // whether it is a consequence
  CHECK(refusal(large) == "a failure's fields are out of range");
}

TEST_CASE("a failure's message names rank, host, step and operation, and what happened") {
  CHECK(message_of({.rank = 2, .host = "node1", .step = 12, .operation = "save", .text = "no"}) ==
        "rank 2 (node1), step 12, save: no");
  CHECK(message_of({.rank = 1, .text = "no"}) == "rank 1, step 0: no");
}

TEST_CASE("a long failure text is cut") {
  const std::string bytes = encode(Failure{.text = std::string(kMaxFailureText + 5, 'x')});
  CHECK(decode_failure(bytes).text.size() == kMaxFailureText);
}

TEST_CASE("a heartbeat is read as written, and any other bytes are refused") {
  const std::string value = encode_pulse({.step = 3, .ticks = 9, .operation = "x", .waits = true});
  const Heartbeat pulse = decode_pulse(3, "x", value);
  CHECK(pulse.step == 3);
  CHECK(pulse.ticks == 9);
  CHECK(pulse.operation == "x");
  CHECK(pulse.waits);
  CHECK_THROWS_AS(decode_pulse(3, "x", value + "x"), Error);
  std::string wrong = value;
  wrong[8] = 2;
  CHECK(wire_error([&] { static_cast<void>(decode_pulse(3, "x", wrong)); }) ==
        "a heartbeat's fields are out of range");
}
