#include "backend/plugin.h"

#include <cstring>

#include "base/error.h"
#include "base/shared_library.h"

namespace trainyard {

namespace fs = std::filesystem;

fs::path plugin_path(const fs::path& self) {
  return self.parent_path().parent_path() / "lib" / "trainyard" / "libtrainyard_cuda.so";
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
