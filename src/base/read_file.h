// Regular files, read whole, in pieces or mapped; errors name the path and carry the caller's error
// kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/filesystem.h"
#include "base/handle.h"

namespace trainyard {

/// A regular file open for reading. Its size is read once, when it is opened.
class InputFile {
 public:
  /// Throws Error{kind} if the file cannot be opened or is not a regular file.
  InputFile(const fs::path& path, ErrorKind kind);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Bytes.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Fills `out` from `offset`. Throws Error{kind} if the file ends too early.
  void read(std::uint64_t offset, std::span<std::byte> out) const;

 private:
  std::string name_;
  ErrorKind kind_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// The whole file. Throws Error{kind} if it cannot be read or holds more than `limit` bytes.
[[nodiscard]] std::vector<std::byte> read_bytes(const fs::path& path, ErrorKind kind,
                                                std::uint64_t limit);
[[nodiscard]] std::string read_text(const fs::path& path, ErrorKind kind, std::uint64_t limit);

/// The bytes of a file, read by the system when they are touched. If the file is cut while it is
/// mapped, touching the missing part ends the process (SIGBUS): see require_whole().
class MappedFile {
 public:
  /// Throws Error{kind} if the file is not a regular one, is empty, or cannot be mapped.
  MappedFile(const fs::path& path, ErrorKind kind);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  /// Throws Error{kind} if the file has become shorter; to be called before bytes are touched. A
  /// cut between this call and the touch is not seen.
  void require_whole() const;
  /// Gives back the memory of the pages that lie wholly in a part; touching them maps them again.
  void drop(std::span<const std::byte> part) const;

 private:
  fs::path path_;
  ErrorKind kind_;
  Descriptor file_;
  std::span<const std::byte> bytes_;
};

}  // namespace trainyard
