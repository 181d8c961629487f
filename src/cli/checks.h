// Validators of flag values; their messages name the range and the nearest word.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace trainyard::cli {

/// Seconds: 90, 90s, 5m, 2h, 1h30m, 1.5h, 1d; the units in this order. Empty for anything else.
[[nodiscard]] std::optional<double> parse_duration(std::string_view text);

/// A whole number from `least` to `most`.
[[nodiscard]] CLI::Validator whole_number(
    std::int64_t least, std::int64_t most = std::numeric_limits<std::int64_t>::max());
/// Declares a flag that takes a whole number from `least` to `most`, N in help.
template <class Value>
CLI::Option* add_count(CLI::App& app, const std::string& name, Value& value,
                       const std::string& help, std::int64_t least,
                       std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  return app.add_option(name, value, help)->check(whole_number(least, most))->type_name("N");
}
/// A number from `least` to `most`.
[[nodiscard]] CLI::Validator number_between(double least, double most);
/// Declares that `option` takes one of `words`, which help and completion name.
void take_one_of(CLI::Option* option, const std::vector<std::string>& words);
/// As parse_duration(), above 0; for use with transform(): the text becomes seconds.
[[nodiscard]] CLI::Validator duration();

/// Throws Error{kind} with the nearest name if `path`, the value of `flag`, does not exist.
void require_file(const std::string& flag, const std::filesystem::path& path, ErrorKind kind);
/// Throws Error{command_line} if `path`, which `flag` names for writing, is a folder, or if its
/// folder does not exist. "" names none.
void require_place_for(const std::string& flag, const std::filesystem::path& path);

}  // namespace trainyard::cli
