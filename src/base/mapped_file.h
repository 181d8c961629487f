// A regular file mapped into memory for reading.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "base/error.h"
#include "base/handle.h"

namespace trainyard {

/// The bytes of a file, read by the system when they are touched. If the file is cut while it is
/// mapped, touching the missing part ends the process (SIGBUS): see require_whole().
class MappedFile {
 public:
  /// Throws Error{kind} if the file is not a regular one, is empty, or cannot be mapped.
  MappedFile(const std::filesystem::path& path, ErrorKind kind);
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
  std::filesystem::path path_;
  ErrorKind kind_;
  Descriptor file_;
  std::span<const std::byte> bytes_;
};

}  // namespace trainyard
