#include "backend/plugin.h"

#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/shared_library.h"
#include "base/text.h"

namespace trainyard {

namespace fs = std::filesystem;

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
    throw Error(ErrorKind::device,
                "the GPU part of train is not there (" + path.string() +
                    "); build it where the CUDA toolkit is installed (cmake --preset cuda), or "
                    "unpack the whole package");
  }
  SharedLibrary library(path);
  if (!library.is_open()) {
    throw Error(ErrorKind::device,
                "the GPU part of train cannot be loaded: " + library.problem() +
                    "; build program and GPU part together, or unpack the package again");
  }
  const auto* entry = library.variable<const PluginEntry>(kPluginSymbol);
  if (entry == nullptr || std::strcmp(entry->interface, TRAINYARD_INTERFACE) != 0) {
    throw Error(ErrorKind::device, path.string() + " belongs to another build (" +
                                       (entry == nullptr ? "no entry" : entry->interface) +
                                       ", this program is " + TRAINYARD_INTERFACE +
                                       "); build or install both together");
  }
  std::unique_ptr<Backend> backend(entry->make());
  library.keep();  // its code must outlive every object that it made
  return backend;
}

}  // namespace trainyard
