#include "backend/plugin.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/shared_library.h"
#include "base/text.h"

namespace trainyard {
namespace {

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

namespace {

constexpr std::string_view kPrefix = "libtrainyard_cuda", kSuffix = ".so";

/// 13 for libtrainyard_cuda13.so; empty for other files.
std::optional<std::int64_t> cuda_of(const std::string& file) {
  if (!file.starts_with(kPrefix) || !file.ends_with(kSuffix)) return std::nullopt;
  return parse_integer(
      std::string_view(file).substr(kPrefix.size(), file.size() - kPrefix.size() - kSuffix.size()));
}

}  // namespace

fs::path plugin_path(const fs::path& self, int driver_cuda) {
  const fs::path folder = self.parent_path().parent_path() / "lib" / "trainyard";
  std::map<std::int64_t, fs::path, std::greater<>> parts;  // the newest first
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(folder, missing)) {
    const auto cuda = cuda_of(entry.path().filename().string());
    if (cuda) parts[*cuda] = entry.path();
  }
  if (parts.empty()) return folder / "libtrainyard_cuda*.so";
  for (const auto& [cuda, path] : parts) {
    if (driver_cuda == 0 || cuda * 1000 <= driver_cuda) return path;
  }
  return parts.rbegin()->second;
}

int driver_cuda() {
  const SharedLibrary driver("libcuda.so.1");
  auto* ask = driver.function<int(int*)>("cuDriverGetVersion");
  int version = 0;
  return ask == nullptr || ask(&version) != 0 ? 0 : version;
}

bool driver_is_there() { return SharedLibrary("libcuda.so.1").is_open(); }

std::unique_ptr<Backend> load_plugin(const fs::path& path) {
  if (!fs::exists(path)) {
    throw device_error("the GPU part of train is not there (" + path.string() +
                       "); build it where the CUDA toolkit is installed (cmake --preset cuda), or "
                       "unpack the whole package");
  }
  SharedLibrary library(path);
  if (!library.is_open()) {
    throw device_error("the GPU part of train cannot be loaded: " + library.problem() +
                       "; build program and GPU part together, or unpack the package again");
  }
  const auto* entry = library.variable<const PluginEntry>(kPluginSymbol);
  if (entry == nullptr || std::strcmp(entry->interface, TRAINYARD_INTERFACE) != 0) {
    throw device_error(path.string() + " belongs to another build (" +
                       (entry == nullptr ? "no entry" : entry->interface) + ", this program is " +
                       TRAINYARD_INTERFACE + "); build or install both together");
  }
  std::unique_ptr<Backend> backend(entry->make());
  library.keep();  // its code must outlive every object that it made
  return backend;
}

}  // namespace trainyard
