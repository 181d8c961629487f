// The environment of this process.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/filesystem.h"

namespace trainyard::cli {

/// The value of an environment variable; "" if it is not set.
[[nodiscard]] std::string variable(const char* name);
/// This program's file.
[[nodiscard]] fs::path own_program();
/// All variables, each as NAME=VALUE.
[[nodiscard]] std::vector<std::string> own_environment();
/// The first program of that name in PATH.
[[nodiscard]] std::optional<fs::path> program_in_path(const std::string& name);

}  // namespace trainyard::cli
