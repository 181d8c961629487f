// Named tensors in the safetensors format: u64 header length, JSON header, data, little-endian
// (https://github.com/huggingface/safetensors, "Format").
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/filesystem.h"
#include "tensor/dtype.h"

namespace trainyard {

// Identifies a file given in place of a tensor file.

/// Bytes that file_kind() needs from the start of a file.
inline constexpr std::size_t kFileKindBytes = 64;

/// The kind of a file that begins with `head`, with article and, if possible, advice: "a PNG
/// image"; "" if unknown.
[[nodiscard]] std::string file_kind(std::span<const std::byte> head);

/// Element types of a file: those of DType, and i64, which no op computes in.
enum class StoredType : std::uint8_t { f64, f32, f16, bf16, i64, i32, u8 };

/// "F32", as in the file.
[[nodiscard]] std::string_view safetensors_name(StoredType type);
/// Bytes of one element.
[[nodiscard]] std::size_t size_of(StoredType type);
[[nodiscard]] StoredType stored_type_of(DType type);

/// A row-major tensor that does not own its memory. From a file, `bytes` need not be aligned to the
/// element: copy it out.
struct NamedTensor {
  std::string name;
  StoredType type = StoredType::f32;
  std::vector<std::int64_t> shape;  // empty: one element
  std::span<const std::byte> bytes;
};

/// The header's `__metadata__`, text to text.
using SafetensorsMetadata = std::map<std::string, std::string>;

/// A file read into memory and fully checked: header at most 100,000,000 bytes, known types, no
/// duplicate names, sizes that match the shapes, no holes, no overlap, data up to the last byte.
class SafetensorsFile {
 public:
  /// Reads `path`; the header is checked against the file's size before the data are allocated.
  /// Throws Error{kind} with the file and the reason.
  [[nodiscard]] static SafetensorsFile open(const fs::path& path, ErrorKind kind = ErrorKind::data);
  /// The same from memory; `source` is the name for messages.
  [[nodiscard]] static SafetensorsFile parse(std::vector<std::byte> bytes, std::string source,
                                             ErrorKind kind = ErrorKind::data);

  /// In the order of their data.
  [[nodiscard]] const std::vector<NamedTensor>& tensors() const { return tensors_; }
  [[nodiscard]] const SafetensorsMetadata& metadata() const { return metadata_; }
  /// Null if there is none of that name. Valid as long as this object.
  [[nodiscard]] const NamedTensor* find(std::string_view name) const;
  /// As find(), but throws Error{kind} with the file and the names of its tensors.
  [[nodiscard]] const NamedTensor& at(std::string_view name) const;

 private:
  SafetensorsFile() = default;

  std::string source_;
  ErrorKind kind_ = ErrorKind::data;
  std::vector<std::byte> bytes_;
  std::vector<NamedTensor> tensors_;
  std::map<std::string, std::size_t, std::less<>> index_;
  SafetensorsMetadata metadata_;
};

/// Contents of a file: the length and header, then the tensors' own bytes, not copied.
struct SafetensorsImage {
  std::string head;
  std::vector<std::span<const std::byte>> data;

  /// Bytes of the file.
  [[nodiscard]] std::uint64_t size() const;
  /// Head and data in the order of the file; valid as long as this object and the tensors.
  [[nodiscard]] std::vector<std::span<const std::byte>> parts() const;
};

/// Sorted by falling element size, then by name; header padded with spaces to 8 bytes. Names must
/// differ, and each tensor's bytes must match its shape.
[[nodiscard]] SafetensorsImage encode_safetensors(std::span<const NamedTensor> tensors,
                                                  const SafetensorsMetadata& metadata = {});

}  // namespace trainyard
