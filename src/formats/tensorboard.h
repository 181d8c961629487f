// TensorBoard's events: protocol buffers in records with checksums.
//
// The numbers of fields are those of TensorFlow's event.proto, summary.proto and tensor.proto, the
// form of a record that of its record_writer.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "formats/protobuf.h"

namespace trainyard {

/// CRC-32C (Castagnoli) of `bytes`, rotated and shifted as records store it.
[[nodiscard]] std::uint32_t masked_crc32c(std::string_view bytes);

/// An encoded PNG of 3 channels.
struct EventImage {
  std::string png;
  std::int64_t h = 0, w = 0;  // pixels
};

/// Values with their tags; a tag's part before '/' is the group that TensorBoard shows it in.
class EventSummary {
 public:
  /// Stored in 32 bits.
  void scalar(std::string_view tag, double value);
  void image(std::string_view tag, const EventImage& image);
  /// Shown as it is, in a fixed width.
  void verbatim(std::string_view tag, std::string_view text);

  [[nodiscard]] bool empty() const { return message_.bytes().empty(); }
  [[nodiscard]] const ProtobufMessage& message() const { return message_; }

 private:
  ProtobufMessage message_;
};

/// Where an event is on TensorBoard's axes.
struct EventPlace {
  std::int64_t seconds = 0;  // since 1970
  std::int64_t step = 0;
};

/// The first record of a file.
[[nodiscard]] std::string version_record(const EventPlace& at);
/// A run starts at this step: TensorBoard forgets what it has read of this step and later ones.
[[nodiscard]] std::string start_record(const EventPlace& at);
[[nodiscard]] std::string summary_record(const EventPlace& at, const EventSummary& summary);

/// The beginning of an event file.
struct EventsBefore {
  std::size_t bytes = 0;
  bool damaged = false;  // what follows is not a whole record
};

/// The records of `file` before the first one of `step` or a later step.
[[nodiscard]] EventsBefore events_before(std::string_view file, std::int64_t step);

}  // namespace trainyard
