// The messages between ranks and rank 0's store over TCP, in both directions: a header of fixed
// size, a key and a value. Numbers are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard {

enum class MessageKind : std::uint8_t {
  // from a rank to the store; `number` is
  hello = 1,  // the version; value: the token, padded with zeros
  set,        // -; key, value
  get,        // how long the answer may take, in milliseconds; key
  wait,       // same
  add,        // the amount to add; key
  join,       // the rank whose watchdog this is; key: its host
  beat,       // the step; key: the operation; value: see encode_pulse
  report,     // -; value: a Failure
  sign_off,   // -
  // from the store to a rank
  done,     // the sum (for add), else -
  found,    // -; value: the key's value
  late,     // -: the key was not set in time
  refused,  // -; value: the reason; the store closes the connection
  left,     // -: the sign-off was received
  failed,   // -; value: the first Failure of all ranks
};

constexpr std::size_t kHeaderBytes = 20;
constexpr std::size_t kTokenBytes = 64;  // a token has 1 to 64
constexpr std::size_t kMaxKeyBytes = 256;
constexpr std::size_t kMaxValueBytes = std::size_t{1} << 20;
constexpr std::int64_t kWireVersion = 1;

struct Message {
  MessageKind kind = MessageKind::done;
  std::int64_t number = 0;
  std::string key;
  std::string value;

  bool operator==(const Message&) const = default;
};

/// Throws Error{device} for a key or value beyond its limit.
[[nodiscard]] std::string encode(const Message& message);
/// Takes the first message off `bytes`; empty if more bytes are needed, of which only the header's
/// have been read. Throws Error{device} for bytes that are not a message and for a key or value
/// beyond its limit, before anything is stored. `max_value`: the limit of a value.
[[nodiscard]] std::optional<Message> take_message(std::string_view& bytes,
                                                  std::size_t max_value = kMaxValueBytes);

/// `token` padded with zeros to kTokenBytes. Throws Error{device} unless it has 1 to kTokenBytes
/// bytes, none of them zero.
[[nodiscard]] std::string padded_token(std::string_view token);
/// True if they are equal; takes the same time wherever they differ. Both have kTokenBytes bytes.
[[nodiscard]] bool same_token(std::string_view one, std::string_view other);

void put_number(std::string& bytes, std::uint64_t value);
/// The length, then the bytes.
void put_text(std::string& bytes, std::string_view text);

/// Reads what was put, in the same order. Throws Error{device} if there is too little.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : rest_(bytes) {}
  [[nodiscard]] std::uint64_t number();
  [[nodiscard]] std::string text();
  /// Throws Error{device} unless everything was read.
  void finish() const;

 private:
  std::string_view rest_;
};

}  // namespace trainyard
