// Reads TensorBoard's event files by the specifications of their formats, without code of the
// product: TensorFlow's record_reader and event.proto, RFC 3720, and the encoding of protocol
// buffers.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::test {

/// CRC-32C, bit by bit.
inline std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t sum = 0xffffffff;
  for (const char byte : bytes) {
    sum ^= static_cast<std::uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ (0x82f63b78 & (0 - (sum & 1)));
  }
  return sum ^ 0xffffffff;
}

struct ReadField {
  std::uint32_t number = 0;
  std::uint64_t value = 0;  // value of a number; of a float its bits
  std::string bytes;        // bytes of a message, text or bytes
};

inline std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  if (at + size > bytes.size()) throw std::runtime_error("ends within a number");
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, size);
  return value;
}

inline std::uint64_t take_varint(std::string_view bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    const std::uint64_t byte = number_at(bytes, at++, 1);
    value |= (byte & 127) << shift;
    if (byte < 128) return value;
  }
  throw std::runtime_error("a varint has more than ten bytes");
}

inline std::vector<ReadField> fields_of(std::string_view message) {
  std::vector<ReadField> fields;
  for (std::size_t at = 0; at < message.size();) {
    const std::uint64_t tag = take_varint(message, at);
    ReadField field{.number = static_cast<std::uint32_t>(tag >> 3), .value = 0, .bytes = {}};
    const std::uint64_t wire = tag & 7;
    if (wire == 0) {
      field.value = take_varint(message, at);
    } else if (wire == 2) {
      const std::size_t size = take_varint(message, at);
      if (size > message.size() - at) throw std::runtime_error("ends within a field");
      field.bytes = message.substr(at, size);
      at += size;
    } else if (wire == 1 || wire == 5) {
      const std::size_t size = wire == 1 ? 8 : 4;
      field.value = number_at(message, at, size);
      at += size;
    } else {
      throw std::runtime_error("unknown wire type");
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

struct ReadEvent {
  double time = 0;
  std::int64_t step = 0;
  std::string version;
  bool start = false;
  std::vector<std::pair<std::string, float>> scalars;  // in the order of the file
  std::map<std::string, std::string> texts, images;    // texts by tag; of images the PNG's bytes
};

inline void take_value(std::string_view message, ReadEvent& event) {
  std::string tag;
  for (const ReadField& field : fields_of(message)) {
    if (field.number == 1) tag = field.bytes;
    if (field.number == 2) {
      float value = 0;
      std::memcpy(&value, &field.value, sizeof value);
      event.scalars.emplace_back(tag, value);
    }
    for (const ReadField& inner : field.number == 4 || field.number == 8
                                      ? fields_of(field.bytes)
                                      : std::vector<ReadField>()) {
      if (field.number == 4 && inner.number == 4) event.images[tag] = inner.bytes;
      if (field.number == 8 && inner.number == 8) event.texts[tag] = inner.bytes;
    }
  }
}

inline ReadEvent event_of(std::string_view message) {
  ReadEvent event;
  for (const ReadField& field : fields_of(message)) {
    if (field.number == 1) std::memcpy(&event.time, &field.value, sizeof event.time);
    if (field.number == 2) event.step = static_cast<std::int64_t>(field.value);
    if (field.number == 3) event.version = field.bytes;
    if (field.number == 7) event.start = fields_of(field.bytes).at(0).value == 1;
    if (field.number != 5) continue;
    for (const ReadField& value : fields_of(field.bytes)) take_value(value.bytes, event);
  }
  return event;
}

/// Throws for a file that is not whole records with right sums.
inline std::vector<ReadEvent> events_of(std::string_view file) {
  const auto check = [&](std::string_view bytes, std::size_t at) {
    const std::uint32_t sum = crc32c(bytes);
    const std::uint32_t masked = ((sum >> 15) | (sum << 17)) + 0xa282ead8;
    if (number_at(file, at, 4) != masked) throw std::runtime_error("wrong sum");
  };
  std::vector<ReadEvent> events;
  for (std::size_t at = 0; at < file.size();) {
    const std::uint64_t size = number_at(file, at, 8);
    check(file.substr(at, 8), at + 8);
    if (size > file.size() - at - 12) throw std::runtime_error("ends within a record");
    check(file.substr(at + 12, size), at + 12 + size);
    events.push_back(event_of(file.substr(at + 12, size)));
    at += size + 16;
  }
  return events;
}

}  // namespace trainyard::test
