// Where CUDA's libraries may lie.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace trainyard {

/// What of the environment says where libraries lie; empty where a variable is not set.
struct LibraryEnvironment {
  std::string trainyard_cuda_path;  // folders, separated by colons
  std::string cuda_home;
  std::string virtual_env;
  std::string conda_prefix;
  std::string home;
  std::string path;
};

/// The folders in which a library is looked for, in order: those of TRAINYARD_CUDA_PATH (each as it
/// is, as a toolkit, and as a folder of Python wheels); "", which is the loader's own search;
/// $CUDA_HOME and /usr/local/cuda; the wheels (nvidia/cudnn/lib and its like) of $VIRTUAL_ENV, of
/// $CONDA_PREFIX, of ~/.local and of the python3 that stands first on PATH, with the libraries of
/// conda's own packages. Only folders that exist.
[[nodiscard]] std::vector<std::filesystem::path> library_folders(
    const LibraryEnvironment& environment);

}  // namespace trainyard
