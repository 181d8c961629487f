// A regular file mapped into memory for reading.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "base/error.h"

namespace trainyard {

/// The bytes of a file, read by the system when they are touched. A file that is cut while it is
/// mapped ends the process with SIGBUS when the missing part is touched.
class MappedFile {
 public:
  /// Throws Error{kind} if the file is not a regular one, is empty, or cannot be mapped.
  MappedFile(const std::filesystem::path& path, ErrorKind kind);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  /// Asks the system to read a part of bytes() soon.
  void will_need(std::span<const std::byte> part) const;
  /// Gives back the memory of the pages that lie wholly in a part; touching them maps them again.
  void drop(std::span<const std::byte> part) const;

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace trainyard
