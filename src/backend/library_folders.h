// Folders in which to look for CUDA's libraries.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

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
  std::filesystem::path program = {};
};

/// The folders in which to look for a library, in order: those of TRAINYARD_CUDA_PATH (each as it
/// is, as a toolkit, and as a folder of Python wheels); the wheels beside the program's folder,
/// which were installed for it (site-packages/nvidia for site-packages/trainyard/bin/train,
/// build/nvidia for build/release/bin/train); "", which is the loader's own search; $CUDA_HOME and
/// /usr/local/cuda; the wheels (nvidia/cudnn/lib etc.) of $VIRTUAL_ENV, of $CONDA_PREFIX, of
/// ~/.local and of the first python3 on PATH, with the libraries of conda's own packages. Only
/// folders that exist.
[[nodiscard]] std::vector<std::filesystem::path> library_folders(
    const LibraryEnvironment& environment);

}  // namespace trainyard
