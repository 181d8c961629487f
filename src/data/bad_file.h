// The error of a file of samples that cannot be used.
#pragma once

#include <filesystem>
#include <string>

namespace trainyard {

/// Throws Error{data}: the file, in quotes, and `what` is wrong with it ("is damaged: ...").
[[noreturn]] void bad_file(const std::filesystem::path& file, const std::string& what);

}  // namespace trainyard
