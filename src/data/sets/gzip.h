// Sequential reading of files that may be compressed with gzip, with a size limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/filesystem.h"

namespace trainyard {

/// A regular file read from front to back; a gzip file (recognised by its first two bytes) is
/// inflated. No allocation depends on sizes that the contents claim.
class InflatingReader {
 public:
  /// Throws Error{data} if the file cannot be read.
  explicit InflatingReader(const fs::path& path);
  ~InflatingReader();
  InflatingReader(const InflatingReader&) = delete;
  InflatingReader& operator=(const InflatingReader&) = delete;

  /// Fills `out` and returns the bytes written: fewer than requested only at the end of the
  /// contents.
  /// Throws Error{data} for a damaged or truncated gzip stream.
  [[nodiscard]] std::size_t read(std::span<std::byte> out);
  /// The maximum number of bytes that the file can contain: its size, or 1,032 times that of a gzip
  /// file (the largest ratio of deflate, https://zlib.net/zlib_tech.html).
  [[nodiscard]] std::uint64_t most_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trainyard
