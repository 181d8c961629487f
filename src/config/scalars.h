// YAML 1.2 core scalars, and the spellings that other readers take for something else.
#pragma once

#include <string>
#include <string_view>

namespace trainyard::config {

/// Why a plain scalar is refused although it reads as text: octal, hexadecimal and binary numbers,
/// leading zeros, digits with underscores, numbers out of range. Empty if it is fine.
[[nodiscard]] std::string number_trap(std::string_view text);

/// A real as it is written: shortest digits, with a point where they look like a whole number.
[[nodiscard]] std::string real_scalar(double value);

}  // namespace trainyard::config
