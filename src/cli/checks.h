// Values of flags: validators, whose messages name the range and the nearest word, and files to
// write, of which "-" is standard output.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/filesystem.h"

namespace trainyard::cli {

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
/// A time above 0: 90, 90s, 5m, 2h, 1h30m, 1.5h, 1d; for use with transform(): the text becomes
/// seconds.
[[nodiscard]] CLI::Validator duration();

/// Throws Error{kind} with the nearest name if `path`, the value of `flag`, does not exist.
void require_file(const std::string& flag, const fs::path& path, ErrorKind kind);

/// Declares a flag that names a file to write.
CLI::Option* add_output(CLI::App& app, const std::string& names, std::string& value,
                        const std::string& help);

/// If the value of such a `flag` is standard output: only that file goes there from now on, what
/// the program prints goes to standard error, and the result is the file's place. Else the value.
/// Throws Error{command_line} if standard output has another file already.
[[nodiscard]] std::string kept_output(const std::string& flag, const std::string& value);

/// The place for Disk::write_output() of the value of `flag`, to be asked for before the work; ""
/// of "". Throws as kept_output(), Error{command_line} for a folder or a file in one that does not
/// exist, and Error{disk} as output_place().
[[nodiscard]] std::string place_for(const std::string& flag, const std::string& value);

}  // namespace trainyard::cli
