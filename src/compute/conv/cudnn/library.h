// cuDNN as a table of its functions, opened by path at run time: the program, with this part,
// starts without it.
#pragma once

#include <cudnn_graph.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/required_library.h"
#include "device/cuda/check.h"

namespace trainyard::cudnn {

/// The functions of cuDNN that are called. None of them is deprecated.
struct Functions {
  decltype(&cudnnGetVersion) version;
  decltype(&cudnnGetErrorString) error_string;
  decltype(&cudnnGetLastErrorString) last_error_string;
  decltype(&cudnnCreate) create;
  decltype(&cudnnDestroy) destroy;
  decltype(&cudnnSetStream) set_stream;
  decltype(&cudnnBackendCreateDescriptor) create_descriptor;
  decltype(&cudnnBackendDestroyDescriptor) destroy_descriptor;
  decltype(&cudnnBackendFinalize) finalize;
  decltype(&cudnnBackendSetAttribute) set_attribute;
  decltype(&cudnnBackendGetAttribute) get_attribute;
  decltype(&cudnnBackendExecute) execute;
  cudaError_t (*device_fault)() = cuda::device_fault;  // queried when one of them fails
};

/// An open cuDNN. It stays open until the program ends, so it needs no owner.
class Library {
 public:
  /// 9.8.0, the first that lists engines by the properties of a device.
  static constexpr int kLeastVersion = 90800;

  /// cuDNN as the GPU part opens it. Inline, because the list of libraries is linked without
  /// executors.
  [[nodiscard]] static RequiredLibrary required() {
    return {.name = "cuDNN", .least_version = kLeastVersion, .version = version_of};
  }

  /// Opens the library at `path` (or of that name, found by the loader). Throws Error{device} if it
  /// cannot be opened, lacks a function, or is older than kLeastVersion.
  explicit Library(const std::filesystem::path& path);
  explicit Library(const Functions& functions) : functions_(functions) {}

  [[nodiscard]] const Functions& call() const { return functions_; }
  /// "9.19.0".
  [[nodiscard]] std::string version() const;
  /// "CUDNN_STATUS_BAD_PARAM (cuDNN's own reason)", queried right after the call; "" for success.
  [[nodiscard]] std::string problem(cudnnStatus_t status) const;
  /// Throws Error{device} with what was being done, cuDNN's status and its own reason, unless
  /// `status` is success; a GpuError if the GPU has failed.
  void check(cudnnStatus_t status, std::string_view doing) const;

 private:
  static int version_of(const SharedLibrary& library) {
    auto* ask = library.function<decltype(cudnnGetVersion)>("cudnnGetVersion");
    return ask == nullptr ? 0 : static_cast<int>(ask());
  }

  Functions functions_{};
};

/// A cuDNN handle of the current device, on a stream.
class LibraryHandle {
 public:
  LibraryHandle(const Library& library, cudaStream_t stream);
  ~LibraryHandle();
  LibraryHandle(const LibraryHandle&) = delete;
  LibraryHandle& operator=(const LibraryHandle&) = delete;
  [[nodiscard]] cudnnHandle_t get() const { return handle_; }

 private:
  const Library& library_;
  cudnnHandle_t handle_ = nullptr;
};

}  // namespace trainyard::cudnn
