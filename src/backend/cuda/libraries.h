// The libraries beside the driver: found by path, opened, asked for their version.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/shared_library.h"

namespace trainyard::cuda {

/// A library that this part was built against.
struct WantedLibrary {
  std::string name;
  std::string file;
  int built_version = 0;  // as the library counts its own
  /// The version of an open library, or 0 if it does not say.
  int (*version)(const SharedLibrary&) = nullptr;
  std::string (*text)(int version) = nullptr;
  bool several_gpus = false;
};

/// cuDNN, cuBLASLt and NCCL as this part was built against them.
[[nodiscard]] std::vector<WantedLibrary> wanted_libraries();

/// Opens a library out of the first of `folders` that has it ("": where the loader looks) and
/// leaves it open, its symbols bound by those who come later. Not usable if it is nowhere, cannot
/// be opened or is older than the one built against.
[[nodiscard]] LibraryFinding open_library(const WantedLibrary& wanted,
                                          std::span<const std::filesystem::path> folders);

}  // namespace trainyard::cuda
