// Matrix products by cuBLASLt.
#pragma once

#include <cublasLt.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "base/filesystem.h"
#include "base/shared_library.h"
#include "device/cuda/check.h"
#include "tensor/dtype.h"

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
  decltype(&cublasLtMatrixLayoutSetAttribute) set_matrix;
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
  [[nodiscard]] static MatmulFunctions functions_at(const fs::path& path);

  /// Throws Error{device} as functions_at(), or if the library creates no handle here.
  explicit MatmulLibrary(const fs::path& path);
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

/// A product d = a * b (+ bias), or d += a * b, of row-major matrices: a is [rows, depth], b is
/// [depth, columns]; each may be transposed in memory. No gaps between rows. Summed in f32.
struct MatmulShape {
  std::int64_t rows = 0, columns = 0, depth = 0;
  bool a_transposed = false;     // memory holds [depth, rows]
  bool b_transposed = false;     // memory holds [columns, depth]
  DType factors = DType::f32;    // type of a and b
  DType result = DType::f32;     // type of d
  bool tf32 = false;             // f32 factors may be rounded to TF32
  bool bias = false;             // an f32 bias [columns] may be added to every row (adds_bias())
  bool adds = false;             // the product is added to d, in f32; the sum is rounded
  std::uint32_t alignment = 16;  // bytes that all addresses are multiples of
  std::int32_t batch = 1;        // products of matrices that follow one another in memory
};

/// One product, ready to run: the first algorithm that cuBLASLt proposes within the workspace.
/// Partial sums of a split depth are added in f32 and in a fixed order: the same inputs give
/// bit-identical results.
class Matmul {
 public:
  /// Throws Error{device} if cuBLASLt has no algorithm for the shape.
  Matmul(const MatmulLibrary& library, const MatmulShape& shape, std::size_t workspace_cap);

  [[nodiscard]] std::size_t workspace_bytes() const { return workspace_bytes_; }
  /// Whether the product adds the bias: cuBLASLt accepts only one of the result's type, so this
  /// requires an f32 result, and an algorithm that can.
  [[nodiscard]] bool adds_bias() const { return adds_bias_; }
  /// The address of the bias; to be set before the first run of a product that adds it.
  void bind_bias(const float* bias);
  /// All addresses are multiples of the shape's alignment.
  void run(cudaStream_t stream, const void* a, const void* b, void* d, void* workspace) const;

 private:
  template <class T>
  using Owned = std::unique_ptr<std::remove_pointer_t<T>, cublasStatus_t (*)(T)>;

  /// "" or why there is no algorithm.
  [[nodiscard]] std::string choose(std::size_t workspace_cap, std::uint32_t alignment);
  template <class T>
  void set(cublasLtMatmulDescAttributes_t name, const T& value);

  const MatmulLibrary* library_;
  // cuBLASLt counts columns first: it computes the transposed product, with our b on its left.
  Owned<cublasLtMatmulDesc_t> product_;
  Owned<cublasLtMatrixLayout_t> left_, right_, result_;
  cublasLtMatmulAlgo_t algorithm_{};
  std::size_t workspace_bytes_ = 0;
  bool adds_ = false, adds_bias_ = false;
};

}  // namespace trainyard::cudnn
