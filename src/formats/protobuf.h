// Protocol buffers, written: the few wire forms that messages of ONNX and TensorBoard need
// (https://protobuf.dev/programming-guides/encoding).
//
// A writer of our own, because all that is written are some twenty messages of formats that are
// fixed for good, while Debian's libonnx and libprotobuf would add a code generator to the build, 4
// MB to the package and a library whose version must fit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard {

/// A message as bytes, in the order of the calls.
class ProtobufMessage {
 public:
  /// An int32, int64, enum or bool; negative numbers take ten bytes.
  void integer(std::uint32_t field, std::int64_t value);
  /// A float: four bytes.
  void real(std::uint32_t field, float value);
  /// A double: eight bytes.
  void real(std::uint32_t field, double value);
  /// A string or bytes.
  void text(std::uint32_t field, std::string_view value);
  void message(std::uint32_t field, const ProtobufMessage& value) { text(field, value.bytes_); }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  /// Seven bits a byte, the lowest first.
  void varint(std::uint64_t value);
  void tag(std::uint32_t field, std::uint32_t wire_type);

  std::string bytes_;
};

}  // namespace trainyard
