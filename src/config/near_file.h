// Suggestions for the name of a missing file or folder.
#pragma once

#include <filesystem>
#include <string>

namespace trainyard::config {

/// "; did you mean 'configs/tiny.yaml'?" for the most similar name in the folder of `path`, written
/// as a path; else "".
[[nodiscard]] std::string near_file(const std::filesystem::path& path);

}  // namespace trainyard::config
