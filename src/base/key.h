// Keys of random draws, from names.
#pragma once

#include <cstdint>
#include <string_view>

namespace trainyard {

/// FNV-1a, 32 bits. Random draws of a layer or parameter are keyed by its path, so that fusing or
/// adding other layers never changes them.
[[nodiscard]] constexpr std::uint32_t key_of(std::string_view path) {
  std::uint32_t hash = 2166136261u;
  for (const char character : path) {
    hash = (hash ^ static_cast<unsigned char>(character)) * 16777619u;
  }
  return hash;
}

}  // namespace trainyard
