// The libraries besides the driver: found by path, opened, and checked for their version.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/filesystem.h"
#include "base/shared_library.h"

namespace trainyard::cuda {

/// A library that the GPU part opens, and the files that it may be.
struct WantedLibrary {
  RequiredLibrary required;
  std::vector<std::string> files;  // alternatives; the first that a folder has is taken
  /// It opens parts of itself on a version query, and they stay open: a copy that is too old is
  /// queried outside the program's namespace, so that its parts are not mistaken for those of the
  /// next.
  bool has_parts = false;
  bool several_gpus = false;
  std::string without = {};  // as in LibraryFinding
  /// The major version of the CUDA that an open library was built with (13), or 0 if it does not
  /// report it: null for those that never do.
  int (*cuda)(const SharedLibrary&) = nullptr;
};

/// cuDNN, cuBLASLt and NCCL, whose lowest versions are defined where their functions are called.
[[nodiscard]] std::vector<WantedLibrary> wanted_libraries();
/// NVRTC of a CUDA version (13), with which the cuDNN of that CUDA compiles engines. cuDNN opens it
/// by name, looking in its own folder and the loader's: if it is elsewhere it must be opened first.
[[nodiscard]] WantedLibrary wanted_compiler(int cuda);

/// Opens a library from the first of `folders` that has a copy new enough ("": where the loader
/// looks), and of no newer CUDA than the driver supports (13; 0: any), and leaves it open, its
/// symbols visible to libraries opened later. If none is usable, the finding reports what is wrong
/// with the first copy found, or that there is none.
[[nodiscard]] LibraryFinding open_library(const WantedLibrary& wanted,
                                          std::span<const fs::path> folders, int driver_cuda = 0);

/// All of these: see Backend::open_libraries().
[[nodiscard]] std::vector<LibraryFinding> open_libraries(std::span<const fs::path> folders,
                                                         int driver_cuda = 0);

}  // namespace trainyard::cuda
