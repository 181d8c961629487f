// What a file is that was given in place of one of tensors.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace trainyard {

/// Bytes of a file's begin by which file_kind() tells all that it can.
inline constexpr std::size_t kFileKindBytes = 64;

/// What a file that begins with `head` is, with its article and what to do where there is
/// something: "a PNG image"; "" if it is of no known kind.
[[nodiscard]] std::string file_kind(std::span<const std::byte> head);

}  // namespace trainyard
