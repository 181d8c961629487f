#include "ranks/rendezvous/wire.h"

#include "base/error.h"

namespace trainyard {
namespace {

constexpr std::uint32_t kMagic = 0x31725954;  // "TYr1"

[[noreturn]] void refuse_bytes(const std::string& what) { throw device_error(what); }

template <class T>
void put_bytes(std::string& bytes, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
  }
}

template <class T>
T number_at(std::string_view bytes, std::size_t at) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(value | static_cast<T>(static_cast<unsigned char>(bytes[at + i]))
                                       << (8 * i));
  }
  return value;
}

void check_sizes(std::size_t key, std::size_t value, std::size_t max_value) {
  if (key > kMaxKeyBytes) {
    refuse_bytes("a key has " + std::to_string(key) + " bytes; at most " +
                 std::to_string(kMaxKeyBytes) + " are allowed");
  }
  if (value > max_value) {
    refuse_bytes("a value has " + std::to_string(value) + " bytes; at most " +
                 std::to_string(max_value) + " are allowed");
  }
}

}  // namespace

std::string encode(const Message& message) {
  check_sizes(message.key.size(), message.value.size(), kMaxValueBytes);
  std::string bytes;
  bytes.reserve(kHeaderBytes + message.key.size() + message.value.size());
  put_bytes(bytes, kMagic);
  put_bytes(bytes, static_cast<std::uint8_t>(message.kind));
  put_bytes(bytes, std::uint8_t{0});
  put_bytes(bytes, static_cast<std::uint16_t>(message.key.size()));
  put_bytes(bytes, static_cast<std::uint32_t>(message.value.size()));
  put_bytes(bytes, static_cast<std::uint64_t>(message.number));
  return bytes + message.key + message.value;
}

std::optional<Message> take_message(std::string_view& bytes, std::size_t max_value) {
  if (bytes.size() < kHeaderBytes) return std::nullopt;
  const auto kind = number_at<std::uint8_t>(bytes, 4);
  const bool known = kind >= static_cast<std::uint8_t>(MessageKind::hello) &&
                     kind <= static_cast<std::uint8_t>(MessageKind::failed);
  if (number_at<std::uint32_t>(bytes, 0) != kMagic || number_at<std::uint8_t>(bytes, 5) != 0) {
    refuse_bytes("these bytes are not a message between ranks");
  }
  if (!known) refuse_bytes("a message of unknown kind " + std::to_string(kind));
  const std::size_t key = number_at<std::uint16_t>(bytes, 6);
  const std::size_t value = number_at<std::uint32_t>(bytes, 8);
  check_sizes(key, value, max_value);
  if (bytes.size() - kHeaderBytes < key + value) return std::nullopt;
  Message message{.kind = static_cast<MessageKind>(kind),
                  .number = static_cast<std::int64_t>(number_at<std::uint64_t>(bytes, 12)),
                  .key = std::string(bytes.substr(kHeaderBytes, key)),
                  .value = std::string(bytes.substr(kHeaderBytes + key, value))};
  bytes.remove_prefix(kHeaderBytes + key + value);
  return message;
}

std::string padded_token(std::string_view token) {
  if (token.empty() || token.size() > kTokenBytes || token.find('\0') != token.npos) {
    refuse_bytes("the ranks' token has " + std::to_string(token.size()) + " bytes; give 1 to " +
                 std::to_string(kTokenBytes) + ", without zero bytes, the same to every rank");
  }
  std::string padded(token);
  padded.resize(kTokenBytes, '\0');
  return padded;
}

bool same_token(std::string_view one, std::string_view other) {
  TY_CHECK(one.size() == kTokenBytes && other.size() == kTokenBytes, "tokens are padded");
  unsigned difference = 0;
  for (std::size_t i = 0; i < kTokenBytes; ++i) {
    difference |= static_cast<unsigned>(static_cast<unsigned char>(one[i]) ^
                                        static_cast<unsigned char>(other[i]));
  }
  return difference == 0;
}

void put_number(std::string& bytes, std::uint64_t value) { put_bytes(bytes, value); }

void put_text(std::string& bytes, std::string_view text) {
  put_number(bytes, text.size());
  bytes += text;
}

std::uint64_t FieldReader::number() {
  if (rest_.size() < sizeof(std::uint64_t)) refuse_bytes("a message between ranks ends too early");
  const auto value = number_at<std::uint64_t>(rest_, 0);
  rest_.remove_prefix(sizeof value);
  return value;
}

std::string FieldReader::text() {
  const std::uint64_t size = number();
  if (size > rest_.size()) refuse_bytes("a message between ranks ends too early");
  std::string text(rest_.substr(0, size));
  rest_.remove_prefix(size);
  return text;
}

void FieldReader::finish() const {
  if (!rest_.empty()) refuse_bytes("a message between ranks has extra bytes");
}

}  // namespace trainyard
