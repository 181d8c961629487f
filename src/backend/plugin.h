// Loads the GPU part.
#pragma once

#include <filesystem>
#include <memory>

#include "backend/backend.h"

namespace trainyard {

/// The GPU part in lib/trainyard beside the folder of the program `self` (bin/train). There may be
/// one for each CUDA: libtrainyard_cuda13.so, libtrainyard_cuda12.so. The newest that the driver
/// supports is taken (`driver_cuda` as driver_cuda() gives it; 0: the newest), or the oldest, whose
/// survey then says that the driver is too old. Where there is none, libtrainyard_cuda*.so, which
/// is no file.
[[nodiscard]] std::filesystem::path plugin_path(const std::filesystem::path& self, int driver_cuda);

/// Newest CUDA that the NVIDIA driver supports, 13000 for 13.0; 0: there is no driver. Makes no
/// context.
[[nodiscard]] int driver_cuda();

/// True if the NVIDIA driver's library can be opened. Cheap where there is none.
[[nodiscard]] bool driver_is_there();

/// The GPU part at `path`, loaded to the end of the program. Throws Error{device} if the file is
/// not there, cannot be loaded, or is of another build than the program.
[[nodiscard]] std::unique_ptr<Backend> load_plugin(const std::filesystem::path& path);

}  // namespace trainyard
