#include "formats/protobuf.h"

#include <bit>

namespace trainyard {
namespace {

constexpr std::uint32_t kVarint = 0, kEightBytes = 1, kLengthDelimited = 2, kFourBytes = 5;

}  // namespace

void ProtobufMessage::varint(std::uint64_t value) {
  for (; value >= 128; value >>= 7) bytes_ += static_cast<char>(value | 128);
  bytes_ += static_cast<char>(value);
}

void ProtobufMessage::tag(std::uint32_t field, std::uint32_t wire_type) {
  varint(std::uint64_t{field} << 3 | wire_type);
}

void ProtobufMessage::integer(std::uint32_t field, std::int64_t value) {
  tag(field, kVarint);
  varint(static_cast<std::uint64_t>(value));
}

void ProtobufMessage::real(std::uint32_t field, float value) {
  tag(field, kFourBytes);
  const auto bits = std::bit_cast<std::uint32_t>(value);
  for (int shift = 0; shift < 32; shift += 8) bytes_ += static_cast<char>(bits >> shift);
}

void ProtobufMessage::real(std::uint32_t field, double value) {
  tag(field, kEightBytes);
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(bits >> shift);
}

void ProtobufMessage::text(std::uint32_t field, std::string_view value) {
  tag(field, kLengthDelimited);
  varint(value.size());
  bytes_ += value;
}

}  // namespace trainyard
