// Hashes of bytes and files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/filesystem.h"

namespace trainyard {

/// XXH3-128, as 32 hexadecimal digits (the text that `xxhsum -H2` prints). Takes bytes piece by
/// piece; the split does not change the hash.
class Hash128 {
 public:
  Hash128();
  ~Hash128();
  Hash128(Hash128&&) noexcept;
  Hash128& operator=(Hash128&&) noexcept;

  void update(std::span<const std::byte> bytes);
  void update(std::string_view text);
  /// The hash of all bytes so far; more may follow.
  [[nodiscard]] std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

[[nodiscard]] std::string hash128_hex(std::span<const std::byte> bytes);
[[nodiscard]] std::string hash128_hex(std::string_view text);
/// Reads the file in pieces. Throws Error{kind} naming the path if it cannot be read.
[[nodiscard]] std::string hash128_file_hex(const fs::path& path, ErrorKind kind);

/// SHA-256 (FIPS 180-4), by which the files of published data sets are known; Hash128 is many times
/// faster. Takes bytes piece by piece; the split does not change the hash.
class Sha256 {
 public:
  void update(std::span<const std::byte> bytes);
  /// 64 hexadecimal digits, the text that `sha256sum` prints; ends the hash.
  [[nodiscard]] std::string hex();

 private:
  void take_block(const std::byte* block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> block_ = {};
  std::uint64_t bytes_ = 0;
};

/// Reads the file in pieces. Throws Error{kind} naming the path if it cannot be read.
[[nodiscard]] std::string sha256_file_hex(const fs::path& path, ErrorKind kind);

}  // namespace trainyard
