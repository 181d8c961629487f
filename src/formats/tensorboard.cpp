#include "formats/tensorboard.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "base/text.h"

namespace trainyard {
namespace {

/// The remainders of all bytes by the polynomial of CRC-32C, lowest bit first (RFC 3720, B.4).
constexpr std::array<std::uint32_t, 256> kRemainders = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ ((rest & 1) != 0 ? 0x82f63b78U : 0);
    table[byte] = rest;
  }
  return table;
}();

template <class T>
std::string little_endian(T value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof value; ++i) bytes += static_cast<char>(value >> 8 * i);
  return bytes;
}

/// The number at the front of `bytes`, which has enough of them.
template <class T>
T from_little_endian(std::string_view bytes) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) {
    value |= T{static_cast<std::uint8_t>(bytes[i])} << 8 * i;
  }
  return value;
}

constexpr std::size_t kSizeBytes = 8, kCrcBytes = 4, kTimeBytes = 9;

std::string record(const ProtobufMessage& event) {
  const std::string length = little_endian(std::uint64_t{event.bytes().size()});
  return length + little_endian(masked_crc32c(length)) + event.bytes() +
         little_endian(masked_crc32c(event.bytes()));
}

/// An Event as far as `event_step` reads it.
ProtobufMessage event_at(const EventPlace& at) {
  ProtobufMessage event;
  event.real(1, static_cast<double>(at.seconds));
  event.integer(2, at.step);
  return event;
}

/// The step of an event that begins as those of event_at(); 0 of others.
std::int64_t event_step(std::string_view event) {
  constexpr char kStepTag = 2 << 3;
  std::uint64_t step = 0;
  if (event.size() <= kTimeBytes || event[kTimeBytes] != kStepTag) return 0;
  event.remove_prefix(kTimeBytes + 1);
  for (std::size_t i = 0; i < std::min<std::size_t>(event.size(), 9); ++i) {
    step |= std::uint64_t{static_cast<std::uint8_t>(event[i] & 127)} << 7 * i;
    if ((event[i] & 128) == 0) break;
  }
  return static_cast<std::int64_t>(step);
}

/// The event of the record that `file` begins with; none if the record is not whole.
std::optional<std::string_view> first_event(std::string_view file) {
  constexpr std::size_t kBefore = kSizeBytes + kCrcBytes;
  if (file.size() < kBefore + kCrcBytes) return std::nullopt;
  const auto length = from_little_endian<std::uint64_t>(file);
  const auto sum_at = [&](std::size_t at) {
    return from_little_endian<std::uint32_t>(file.substr(at));
  };
  if (sum_at(kSizeBytes) != masked_crc32c(file.substr(0, kSizeBytes))) return std::nullopt;
  if (length > file.size() - kBefore - kCrcBytes) return std::nullopt;
  const std::string_view event = file.substr(kBefore, length);
  if (sum_at(kBefore + length) != masked_crc32c(event)) return std::nullopt;
  return event;
}

}  // namespace

std::uint32_t masked_crc32c(std::string_view bytes) {
  std::uint32_t sum = ~0U;
  for (const char byte : bytes) {
    sum = sum >> 8 ^ kRemainders[(sum ^ static_cast<std::uint8_t>(byte)) & 255];
  }
  return std::rotr(~sum, 15) + 0xa282ead8U;
}

void EventSummary::scalar(std::string_view tag, double value) {
  ProtobufMessage entry;
  entry.text(1, tag);
  entry.real(2, static_cast<float>(value));
  message_.message(1, entry);
}

void EventSummary::image(std::string_view tag, const EventImage& image) {
  constexpr std::int64_t kRgb = 3;
  ProtobufMessage value, entry;
  value.integer(1, image.h);
  value.integer(2, image.w);
  value.integer(3, kRgb);
  value.text(4, image.png);
  entry.text(1, tag);
  entry.message(4, value);
  message_.message(1, entry);
}

void EventSummary::verbatim(std::string_view tag, std::string_view text) {
  constexpr std::int64_t kString = 7;  // DataType
  std::string markdown;
  for (const std::string& line : split(text, '\n')) markdown += "    " + line + "\n";
  ProtobufMessage plugin, metadata, tensor, entry;
  plugin.text(1, "text");
  metadata.message(1, plugin);
  tensor.integer(1, kString);
  tensor.message(2, {});  // the shape of a single value
  tensor.text(8, markdown);
  entry.text(1, tag);
  entry.message(8, tensor);
  entry.message(9, metadata);
  message_.message(1, entry);
}

std::string version_record(const EventPlace& at) {
  ProtobufMessage event = event_at(at);
  event.text(3, "brain.Event:2");
  return record(event);
}

std::string start_record(const EventPlace& at) {
  constexpr std::int64_t kStart = 1;
  ProtobufMessage event = event_at(at), log;
  log.integer(1, kStart);
  event.message(7, log);
  return record(event);
}

std::string summary_record(const EventPlace& at, const EventSummary& summary) {
  ProtobufMessage event = event_at(at);
  event.message(5, summary.message());
  return record(event);
}

EventsBefore events_before(std::string_view file, std::int64_t step) {
  constexpr std::size_t kAround = kSizeBytes + 2 * kCrcBytes;
  EventsBefore before;
  while (before.bytes < file.size()) {
    const auto event = first_event(file.substr(before.bytes));
    before.damaged = !event;
    if (!event || event_step(*event) >= step) break;
    before.bytes += kAround + event->size();
  }
  return before;
}

}  // namespace trainyard
