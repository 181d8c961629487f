// XXH3-128 of bytes and files, as 32 hexadecimal digits (the text that `xxhsum -H2` prints).
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace trainyard {

/// Takes bytes piece by piece; the split does not change the hash.
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
[[nodiscard]] std::string hash128_file_hex(const std::filesystem::path& path, ErrorKind kind);

}  // namespace trainyard
