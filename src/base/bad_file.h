// The error of an unusable sample file.
#pragma once

#include <filesystem>
#include <string>

namespace trainyard {

/// Throws Error{data}: the file, in quotes, followed by `what` ("is damaged: ...").
[[noreturn]] void bad_file(const std::filesystem::path& file, const std::string& what);

}  // namespace trainyard
