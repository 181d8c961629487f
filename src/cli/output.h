// Results: on standard output, or in files that flags name, of which "-" is standard output.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace trainyard::cli {

/// Text for people: names in it come from data and files, so that control characters are written as
/// escapes (printable()).
void print(std::string_view text);
/// Text for programs: as it is, but on a terminal as print().
void print_data(std::string_view text);
/// One of the two.
void print(std::string_view text, bool data);

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
