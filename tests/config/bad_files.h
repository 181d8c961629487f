// Bad YAML files, each with the exact message that it must get.
//
// A bad file begins with comment lines:
//   # expect: 4:3: unknown key 'strde' in 'conv'; did you mean 'stride'?
//   # as: window
// The `expect` lines are the lines of the message, in order, without the leading file name and
// colon; `as` names the schema the file is read with and is optional.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"

namespace trainyard::config {

struct BadFile {
  std::string name;      // without the folder, as in the message
  std::string text;      // the whole file
  std::string as;        // "" if absent
  std::string expected;  // the whole message
};

/// The *.yaml files of a folder, by name. Throws if one has no `expect` line.
[[nodiscard]] std::vector<BadFile> bad_files(const std::filesystem::path& folder);

/// Reads every file of the folder with `read(file)`, which throws Error{config}, and checks the
/// message. Returns the number of files.
template <class Read>
std::size_t check_bad_files(const std::filesystem::path& folder, Read&& read) {
  const std::vector<BadFile> files = bad_files(folder);
  for (const BadFile& file : files) {
    CAPTURE(file.name);
    std::string message = "(read without an error)";
    try {
      read(file);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::config);
      message = error.what();
    }
    CHECK(message == file.expected);
  }
  return files.size();
}

}  // namespace trainyard::config
