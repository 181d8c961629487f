// Flags that name a file to write; "-" is standard output.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace trainyard::cli {

/// Declares such a flag.
CLI::Option* add_output(CLI::App& app, const std::string& names, std::string& value,
                        const std::string& help);

/// If the value of `flag` is standard output: only that file goes there from now on, what the
/// program prints goes to standard error, and the result is the file's place. Else the value.
/// Throws Error{command_line} if standard output has another file already.
[[nodiscard]] std::string kept_output(const std::string& flag, const std::string& value);

/// The place for Disk::write_output() of the value of `flag`, to be asked for before the work; ""
/// of "". Throws as kept_output(), Error{command_line} for a folder or a file in one that does not
/// exist, and Error{disk} as output_place().
[[nodiscard]] std::string place_for(const std::string& flag, const std::string& value);

}  // namespace trainyard::cli
