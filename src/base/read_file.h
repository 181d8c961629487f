// Regular files, read whole or in pieces; errors name the path and carry the caller's error kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace trainyard {

/// A regular file open for reading. Its size is read once, when it is opened.
class InputFile {
 public:
  /// Throws Error{kind} if the file cannot be opened or is not a regular file.
  InputFile(const std::filesystem::path& path, ErrorKind kind);
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
[[nodiscard]] std::vector<std::byte> read_bytes(const std::filesystem::path& path, ErrorKind kind,
                                                std::uint64_t limit);
[[nodiscard]] std::string read_text(const std::filesystem::path& path, ErrorKind kind,
                                    std::uint64_t limit);

}  // namespace trainyard
