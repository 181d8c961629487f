// What was meant by the name of a file or folder that is not there.
#pragma once

#include <filesystem>
#include <string>

namespace trainyard::config {

/// "; did you mean 'configs/tiny.yaml'?" for the nearest name in the folder of `path`, as it would
/// be written instead; else "".
[[nodiscard]] std::string near_file(const std::filesystem::path& path);

}  // namespace trainyard::config
