// The libraries beside the driver: found by path, opened, asked for their version.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/shared_library.h"

namespace trainyard::cuda {

/// A library that this part opens, and the least version of it that has what is used.
struct WantedLibrary {
  std::string name;
  std::vector<std::string> files;  // any of them serves; the first that a folder has is taken
  int least_version = 0;           // major * 10000 + minor * 100 + patch, as all of them count
  /// The version of an open library, or 0 if it does not say.
  int (*version)(const SharedLibrary&) = nullptr;
  /// It opens parts of itself when it is asked, and they stay open: a copy that is too old is asked
  /// apart from the program, lest its parts be taken for those of the next.
  bool has_parts = false;
  bool several_gpus = false;
  std::string without = {};  // as LibraryFinding has it
  /// The first number of the CUDA that an open library was built with (13), or 0 if it does not
  /// say: null for those that never do.
  int (*cuda)(const SharedLibrary&) = nullptr;
};

/// cuDNN, cuBLASLt and NCCL, whose least versions stand where their functions are called.
[[nodiscard]] std::vector<WantedLibrary> wanted_libraries();
/// NVRTC of a CUDA (13), by which the cuDNN of that CUDA compiles engines. cuDNN opens it by name,
/// and looks in its own folder and the loader's: where it lies elsewhere it has to be open before.
[[nodiscard]] WantedLibrary wanted_compiler(int cuda);

/// Opens a library out of the first of `folders` that has one new enough ("": where the loader
/// looks), and of no newer CUDA than the driver supports (13; 0: any), and leaves it open, its
/// symbols bound by those who come later. If none is usable, the finding says what is wrong with
/// the first that was there, or that there is none.
[[nodiscard]] LibraryFinding open_library(const WantedLibrary& wanted,
                                          std::span<const std::filesystem::path> folders,
                                          int driver_cuda = 0);

/// All of these: see Backend::open_libraries().
[[nodiscard]] std::vector<LibraryFinding> open_libraries(
    std::span<const std::filesystem::path> folders, int driver_cuda = 0);

}  // namespace trainyard::cuda
