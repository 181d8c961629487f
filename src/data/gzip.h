// Files that may be compressed with gzip, read in order under a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace trainyard {

/// A regular file read from front to back; a gzip file (by its first two bytes) is inflated on the
/// way. Nothing is allocated by what the contents claim.
class InflatingReader {
 public:
  /// Throws Error{data} if the file cannot be read.
  explicit InflatingReader(const std::filesystem::path& path);
  ~InflatingReader();
  InflatingReader(const InflatingReader&) = delete;
  InflatingReader& operator=(const InflatingReader&) = delete;

  /// Fills `out` and returns the bytes written: fewer than asked only at the end of the contents.
  /// Throws Error{data} for a damaged or truncated gzip stream.
  [[nodiscard]] std::size_t read(std::span<std::byte> out);
  /// The most bytes that the file can hold: its size, or 1,032 times that of a gzip file (the
  /// largest ratio of deflate, https://zlib.net/zlib_tech.html).
  [[nodiscard]] std::uint64_t most_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trainyard
