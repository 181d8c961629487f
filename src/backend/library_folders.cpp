#include "backend/library_folders.h"

#include <algorithm>
#include <optional>
#include <system_error>

#include "base/text.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;
using Folders = std::vector<fs::path>;

/// Subfolders of `nvidia` in which wheels of CUDA 12 and 13 install libraries.
constexpr const char* kWheels[] = {"cudnn", "nccl", "cu13", "cublas", "cuda_nvrtc"};

void add(Folders& folders, const fs::path& folder) {
  std::error_code missing;
  const bool known = std::find(folders.begin(), folders.end(), folder) != folders.end();
  if (!known && fs::is_directory(folder, missing)) folders.push_back(folder);
}

void add_toolkit(Folders& folders, const fs::path& root) {
  for (const char* name : {"lib64", "lib"}) add(folders, root / name);
}

void add_wheels(Folders& folders, const fs::path& nvidia) {
  for (const char* wheel : kWheels) add(folders, nvidia / wheel / "lib");
}

/// The packages of the Pythons below `prefix`: lib/python3.12/site-packages.
void add_python(Folders& folders, const fs::path& prefix) {
  std::error_code missing;
  std::vector<fs::path> versions;
  for (const auto& entry : fs::directory_iterator(prefix / "lib", missing)) {
    if (entry.path().filename().string().starts_with("python3")) versions.push_back(entry.path());
  }
  std::sort(versions.rbegin(), versions.rend());
  for (const fs::path& version : versions) {
    for (const char* packages : {"site-packages", "dist-packages"}) {
      add_wheels(folders, version / packages / "nvidia");
    }
  }
}

/// A Python or conda environment, which also has libraries of its own.
void add_environment(Folders& folders, const fs::path& prefix) {
  std::error_code missing;
  if (fs::is_directory(prefix / "conda-meta", missing)) add(folders, prefix / "lib");
  add_python(folders, prefix);
}

/// The prefix of the first python3 on PATH: /usr for /usr/bin.
std::optional<fs::path> python_prefix(const std::string& path) {
  for (const std::string& folder : split(path, ':')) {
    std::error_code missing;
    if (folder.empty() || !fs::exists(fs::path(folder) / "python3", missing)) continue;
    return (fs::path(folder) / "python3").lexically_normal().parent_path().parent_path();
  }
  return std::nullopt;
}

}  // namespace

Folders library_folders(const LibraryEnvironment& environment) {
  Folders folders;
  for (const std::string& named : split(environment.trainyard_cuda_path, ':')) {
    if (named.empty()) continue;
    add(folders, named);
    add_toolkit(folders, named);
    add_wheels(folders, named);
    add_wheels(folders, fs::path(named) / "nvidia");
  }
  const fs::path package = environment.program.parent_path().parent_path();
  if (!package.empty()) add_wheels(folders, package.parent_path() / "nvidia");
  folders.emplace_back();
  if (!environment.cuda_home.empty()) add_toolkit(folders, environment.cuda_home);
  add_toolkit(folders, "/usr/local/cuda");
  for (const std::string& prefix : {environment.virtual_env, environment.conda_prefix}) {
    if (!prefix.empty()) add_environment(folders, prefix);
  }
  if (!environment.home.empty()) add_python(folders, fs::path(environment.home) / ".local");
  if (const auto prefix = python_prefix(environment.path)) {
    add_environment(folders, *prefix);
    if (*prefix == "/usr") add_python(folders, "/usr/local");
  }
  return folders;
}

}  // namespace trainyard
