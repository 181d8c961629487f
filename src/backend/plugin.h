// Loads the GPU part.
#pragma once

#include <filesystem>
#include <memory>

#include "backend/backend.h"

namespace trainyard {

/// lib/trainyard/libtrainyard_cuda.so beside the folder of the program `self` (bin/train).
[[nodiscard]] std::filesystem::path plugin_path(const std::filesystem::path& self);

/// True if the NVIDIA driver's library can be opened. Cheap where there is none.
[[nodiscard]] bool driver_is_there();

/// The GPU part at `path`, loaded to the end of the program. Throws Error{device} if the file is
/// not there, cannot be loaded, or is of another build than the program.
[[nodiscard]] std::unique_ptr<Backend> load_plugin(const std::filesystem::path& path);

}  // namespace trainyard
