// cuBLASLt as a table of its functions, opened by path for the first matrix product: it is half a
// gigabyte.
#pragma once

#include <cublasLt.h>

#include <filesystem>

#include "base/required_library.h"
#include "device/cuda/check.h"

namespace trainyard::cudnn {

/// The functions of cuBLASLt that are called.
struct MatmulFunctions {
  decltype(&cublasLtGetStatusString) status_string;
  decltype(&cublasLtCreate) create;
  decltype(&cublasLtDestroy) destroy;
  decltype(&cublasLtMatmulDescCreate) create_product;
  decltype(&cublasLtMatmulDescDestroy) destroy_product;
  decltype(&cublasLtMatmulDescSetAttribute) set_product;
  decltype(&cublasLtMatrixLayoutCreate) create_matrix;
  decltype(&cublasLtMatrixLayoutDestroy) destroy_matrix;
  decltype(&cublasLtMatmulPreferenceCreate) create_preference;
  decltype(&cublasLtMatmulPreferenceDestroy) destroy_preference;
  decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference;
  decltype(&cublasLtMatmulAlgoGetHeuristic) find_algorithms;
  decltype(&cublasLtMatmul) multiply;
  cudaError_t (*device_fault)() = cuda::device_fault;  // queried when one of them fails
};

/// An open cuBLASLt, which stays open until the program ends, and its handle.
class MatmulLibrary {
 public:
  /// 12.1.0. The functions called exist since CUDA 11, and its types are the same in 12 and 13.
  static constexpr int kLeastVersion = 120100;

  /// cuBLASLt as the GPU part opens it. Inline, because lists of libraries are
  /// linked without executors.
  [[nodiscard]] static RequiredLibrary required() {
    return {.name = "cuBLASLt",
            .least_version = kLeastVersion,
            .newer_major = true,
            .version = version_of};
  }
  /// The functions of the library at `path`, which stays open until the program ends. Throws
  /// Error{device} if it cannot be opened, lacks a function, or is older than kLeastVersion.
  [[nodiscard]] static MatmulFunctions functions_at(const std::filesystem::path& path);

  /// Throws Error{device} as functions_at(), or if the library creates no handle here.
  explicit MatmulLibrary(const std::filesystem::path& path);
  explicit MatmulLibrary(const MatmulFunctions& functions);
  ~MatmulLibrary();
  MatmulLibrary(const MatmulLibrary&) = delete;
  MatmulLibrary& operator=(const MatmulLibrary&) = delete;

  [[nodiscard]] const MatmulFunctions& call() const { return functions_; }
  [[nodiscard]] cublasLtHandle_t handle() const { return handle_; }
  /// Throws Error{device} with what was being done and the status, unless it is success; a GpuError
  /// if the GPU has failed.
  void check(cublasStatus_t status, const char* doing) const;

 private:
  static int version_of(const SharedLibrary& library) {
    auto* ask = library.function<decltype(cublasLtGetVersion)>("cublasLtGetVersion");
    return ask == nullptr ? 0 : static_cast<int>(ask());
  }

  MatmulFunctions functions_{};
  cublasLtHandle_t handle_ = nullptr;
};

}  // namespace trainyard::cudnn
