// The text of `train --version`.
#pragma once

#include <string>

namespace trainyard::cli {

/// "train 0.1.0".
[[nodiscard]] std::string version_text();

}  // namespace trainyard::cli
