// The short name of std::filesystem, for all of the program.
#pragma once

#include <filesystem>

namespace trainyard {

namespace fs = std::filesystem;

}  // namespace trainyard
