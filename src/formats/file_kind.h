// Identifies a file given in place of a tensor file.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace trainyard {

/// Bytes that file_kind() needs from the start of a file.
inline constexpr std::size_t kFileKindBytes = 64;

/// The kind of a file that begins with `head`, with article and, if possible, advice: "a PNG
/// image"; "" if unknown.
[[nodiscard]] std::string file_kind(std::span<const std::byte> head);

}  // namespace trainyard
