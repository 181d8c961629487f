// The text of `train --version`.
#pragma once

#include <string>

namespace trainyard::cli {

/// "train 0.1.0".
[[nodiscard]] std::string version_text();
/// The day of the commit that was built, "2026-11-28".
[[nodiscard]] std::string version_date();
/// Lines with the version, the commit, the compiler, the vector instructions that are used on this
/// processor, and the GPU part with its libraries. Throws nothing for what is missing.
[[nodiscard]] std::string version_report();

}  // namespace trainyard::cli
