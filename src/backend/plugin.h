// The folders in which CUDA's libraries are looked for, and loading the GPU part.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/filesystem.h"

namespace trainyard {

/// The environment variables that tell where libraries are; empty if a variable is not set.
struct LibraryEnvironment {
  std::string trainyard_cuda_path;  // folders, separated by colons
  std::string cuda_home;
  std::string virtual_env;
  std::string conda_prefix;
  std::string home;
  std::string path;
  /// The program's file: bin/train of a package or a build.
  fs::path program = {};
};

/// The folders in which to look for a library, in order: those of TRAINYARD_CUDA_PATH (each as it
/// is, as a toolkit, and as a folder of Python wheels); the wheels beside the program's folder,
/// which were installed for it (site-packages/nvidia for site-packages/trainyard/bin/train,
/// build/nvidia for build/release/bin/train); "", which is the loader's own search; $CUDA_HOME and
/// /usr/local/cuda; the wheels (nvidia/cudnn/lib etc.) of $VIRTUAL_ENV, of $CONDA_PREFIX, of
/// ~/.local and of the first python3 on PATH, with the libraries of conda's own packages. Only
/// folders that exist.
[[nodiscard]] std::vector<fs::path> library_folders(const LibraryEnvironment& environment);

/// The GPU part in lib/trainyard next to the folder of the program `self` (bin/train). There may be
/// one per CUDA version: libtrainyard_cuda13.so, libtrainyard_cuda12.so. Returns the newest that
/// the driver supports (`driver_cuda` as returned by driver_cuda(); 0: the newest), or else the
/// oldest, whose survey then reports that the driver is too old. Without any, returns
/// libtrainyard_cuda*.so, which is not a file.
[[nodiscard]] fs::path plugin_path(const fs::path& self, int driver_cuda);

/// Newest CUDA that the NVIDIA driver supports, 13000 for 13.0; 0: there is no driver. Creates no
/// context.
[[nodiscard]] int driver_cuda();

/// True if the NVIDIA driver's library can be opened. Cheap if it is missing.
[[nodiscard]] bool driver_is_there();

/// The GPU part at `path`, loaded until the program ends. Throws Error{device} if the file does not
/// exist, cannot be loaded, or comes from another build than the program.
[[nodiscard]] std::unique_ptr<Backend> load_plugin(const fs::path& path);

}  // namespace trainyard
