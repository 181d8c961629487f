// YAML 1.2 core scalars, and spellings that other parsers read differently.
#pragma once

#include <string>
#include <string_view>

namespace trainyard::config {

/// Why a plain scalar that reads as text is rejected: octal, hexadecimal and binary numbers,
/// leading zeros, digits with underscores, numbers out of range. Empty if it is fine.
[[nodiscard]] std::string number_trap(std::string_view text);

/// A real as written: shortest digits, with a point if they would look like a whole number.
[[nodiscard]] std::string real_scalar(double value);

}  // namespace trainyard::config
