// Loads the GPU part.
#pragma once

#include <filesystem>
#include <memory>

#include "backend/backend.h"

namespace trainyard {

/// The GPU part in lib/trainyard next to the folder of the program `self` (bin/train). There may be
/// one per CUDA version: libtrainyard_cuda13.so, libtrainyard_cuda12.so. Returns the newest that
/// the driver supports (`driver_cuda` as returned by driver_cuda(); 0: the newest), or else the
/// oldest, whose survey then reports that the driver is too old. Without any, returns
/// libtrainyard_cuda*.so, which is not a file.
[[nodiscard]] std::filesystem::path plugin_path(const std::filesystem::path& self, int driver_cuda);

/// Newest CUDA that the NVIDIA driver supports, 13000 for 13.0; 0: there is no driver. Creates no
/// context.
[[nodiscard]] int driver_cuda();

/// True if the NVIDIA driver's library can be opened. Cheap if it is missing.
[[nodiscard]] bool driver_is_there();

/// The GPU part at `path`, loaded until the program ends. Throws Error{device} if the file does not
/// exist, cannot be loaded, or comes from another build than the program.
[[nodiscard]] std::unique_ptr<Backend> load_plugin(const std::filesystem::path& path);

}  // namespace trainyard
