// libcublasLt.so.13 as Trainyard calls it: the functions of
// compute/matmul/cublaslt/matmul.h.
#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "faults.h"
#include "objects.h"
#include "product.h"
#include "stream.h"

using namespace standin;
using namespace standin::cublaslt;

namespace {

/// The alignment of every address unless another is preferred (cuBLASLt's manual: 256).
constexpr std::uint32_t kAlignment = 256;
/// The first word of an algorithm, to recognize foreign ones.
constexpr std::uint64_t kMark = 0x7374616e64696e31;

struct StatusText {
  cublasStatus_t status;
  std::string_view name;
  const char* text;  // cuBLASLt's
};
constexpr std::array<StatusText, 9> kStatuses{{
    {CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
    {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED",
     "the library was not initialized"},
    {CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE",
     "an unsupported value or parameter was passed to the function"},
    {CUBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH",
     "the function requires an architectural feature absent from the device"},
    {CUBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR",
     "an access to GPU memory space failed"},
    {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED",
     "the function failed to launch on the GPU"},
    {CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    {CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED",
     "the requested functionality is not supported"},
}};

/// The status that a failure request (faults.h) asks for in this call; success if none.
cublasStatus_t requested_status(std::string_view call) {
  int device = -1;
  if (cudaGetDevice(&device) != cudaSuccess) device = -1;
  const std::string_view wanted = requested_failure(call, device);
  if (wanted.empty()) return CUBLAS_STATUS_SUCCESS;
  const auto* const found = std::ranges::find(kStatuses, wanted, &StatusText::name);
  return found == kStatuses.end() ? CUBLAS_STATUS_INTERNAL_ERROR : found->status;
}

template <class To, class From>
To& of(From* raw) {
  return *reinterpret_cast<To*>(raw);
}

template <class To, class Raw, class... Parts>
cublasStatus_t make(Raw* made, Parts... parts) {
  if (made == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *made = reinterpret_cast<Raw>(new To{parts...});
  return CUBLAS_STATUS_SUCCESS;
}
template <class To, class Raw>
cublasStatus_t destroy(Raw made) {
  delete reinterpret_cast<To*>(made);
  return CUBLAS_STATUS_SUCCESS;
}

template <class To, class Raw, class Name>
cublasStatus_t set(Raw to, Name name, const void* value, std::size_t bytes) {
  const bool taken = to != nullptr && of<To>(to).attributes.set(name, size_of(name), value, bytes);
  return taken ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

/// Algorithms are data of the caller: a mark, their product, their workspace and the alignment that
/// they require.
struct Algorithm {
  std::uint64_t mark, product, workspace_bytes, alignment;
};
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

std::uint64_t alignment_of(const AttributeMap& preferred) {
  std::uint32_t least = kAlignment;
  for (const auto name :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    least = std::min(least, preferred.get(name, kAlignment));
  }
  return std::max(least, 1u);
}

bool is_aligned(const Addresses& addresses, std::uint64_t alignment) {
  return std::ranges::all_of(std::array{addresses.a, addresses.b, addresses.d, addresses.workspace},
                             [alignment](const void* at) {
                               return reinterpret_cast<std::uintptr_t>(at) % alignment == 0;
                             });
}

/// Enqueues the product on the stream. An address outside the device's memory is a fault that the
/// host sees later.
cublasStatus_t launch(const Product& product, const Addresses& addresses, int device,
                      cudaStream_t stream) {
  if (device_of(stream) != device) return CUBLAS_STATUS_EXECUTION_FAILED;
  const cudaError_t error = enqueue(stream, "matrix product", [=] {
    for (std::int32_t i = 0; i < product.batch; ++i) {
      const Addresses own = of_batch(product, addresses, i);
      if (is_in_device_memory(product, own)) {
        compute(product, own);
      } else {
        break_device(device, cudaErrorIllegalAddress);
      }
    }
    return true;
  });
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace

const char* cublasLtGetStatusString(cublasStatus_t status) {
  const auto* const found = std::ranges::find(kStatuses, status, &StatusText::status);
  return found == kStatuses.end() ? "unrecognized status" : found->text;
}

std::size_t cublasLtGetVersion() {
  return requested_number<std::size_t>("cublasLtGetVersion", CUBLAS_VERSION);
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const cublasStatus_t wanted = requested_status("cublasLtCreate");
  if (wanted != CUBLAS_STATUS_SUCCESS) return wanted;
  int count = 0, device = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || cudaGetDevice(&device) != cudaSuccess) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  return make<Handle>(handle, device);
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return handle == nullptr ? CUBLAS_STATUS_INVALID_VALUE : destroy<Handle>(handle);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t sums,
                                        cudaDataType_t scale) {
  return make<Description>(made, sums, scale);
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  return destroy<Description>(description);
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t name,
                                              const void* value, std::size_t bytes) {
  return set<Description>(description, name, value, bytes);
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t columns,
                                          std::int64_t stride) {
  return make<Matrix>(made, type, static_cast<std::int64_t>(rows),
                      static_cast<std::int64_t>(columns), stride);
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t matrix) {
  return destroy<Matrix>(matrix);
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t matrix,
                                                cublasLtMatrixLayoutAttribute_t name,
                                                const void* value, std::size_t bytes) {
  return set<Matrix>(matrix, name, value, bytes);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  return make<Preference>(made);
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return destroy<Preference>(preference);
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t name,
                                                    const void* value, std::size_t bytes) {
  return set<Preference>(preference, name, value, bytes);
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle,
                                              cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int most,
                                              cublasLtMatmulHeuristicResult_t found[], int* count) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (description == nullptr || a == nullptr || b == nullptr || c == nullptr || d == nullptr ||
      preference == nullptr || found == nullptr || count == nullptr || most < 1) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const cublasStatus_t wanted = requested_status("cublasLtMatmulAlgoGetHeuristic");
  if (wanted != CUBLAS_STATUS_SUCCESS) return wanted;
  *count = 0;
  const auto product = read_product(of<Description>(description), of<Matrix>(a), of<Matrix>(b),
                                    of<Matrix>(c), of<Matrix>(d));
  if (!product) return CUBLAS_STATUS_NOT_SUPPORTED;
  const AttributeMap& preferred = of<Preference>(preference).attributes;
  const auto room = preferred.get(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{0});
  // The sums are in the workspace if there is space for them.
  const std::size_t workspace = product->sum_bytes() <= room ? product->sum_bytes() : 0;
  found[0] = {};
  found[0].state = CUBLAS_STATUS_SUCCESS;
  found[0].workspaceSize = workspace;
  found[0].wavesCount = 1;
  of<Algorithm>(&found[0].algo) = {kMark, product->key(), workspace, alignment_of(preferred)};
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
                              const void* alpha, const void* a, cublasLtMatrixLayout_t a_matrix,
                              const void* b, cublasLtMatrixLayout_t b_matrix, const void* beta,
                              const void* c, cublasLtMatrixLayout_t c_matrix, void* d,
                              cublasLtMatrixLayout_t d_matrix,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              std::size_t workspace_bytes, cudaStream_t stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const cublasStatus_t wanted = requested_status("cublasLtMatmul");
  if (wanted != CUBLAS_STATUS_SUCCESS) return wanted;
  if (description == nullptr || alpha == nullptr || beta == nullptr || a_matrix == nullptr ||
      b_matrix == nullptr || c_matrix == nullptr || d_matrix == nullptr || algorithm == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  auto product = read_product(of<Description>(description), of<Matrix>(a_matrix),
                              of<Matrix>(b_matrix), of<Matrix>(c_matrix), of<Matrix>(d_matrix));
  const auto& chosen = of<const Algorithm>(algorithm);
  const bool in_place = *static_cast<const float*>(alpha) == 1 && c == d;
  if (!product || !in_place) return CUBLAS_STATUS_NOT_SUPPORTED;
  product->beta = *static_cast<const float*>(beta);
  const Addresses addresses{
      .a = const_cast<void*>(a),
      .b = const_cast<void*>(b),
      .d = d,
      .bias = of<Description>(description)
                  .attributes.get(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<void*>(nullptr)),
      .workspace = chosen.workspace_bytes > 0 ? workspace : nullptr};
  const bool fits = chosen.mark == kMark && chosen.product == product->key() &&
                    workspace_bytes >= chosen.workspace_bytes &&
                    (chosen.workspace_bytes == 0 || workspace != nullptr) &&
                    is_aligned(addresses, chosen.alignment);
  if (!fits) return CUBLAS_STATUS_INVALID_VALUE;
  return launch(*product, addresses, of<Handle>(handle).device, stream);
}

namespace standin::cublaslt {

std::size_t size_of(cublasLtMatmulDescAttributes_t name) {
  switch (name) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
    case CUBLASLT_MATMUL_DESC_TRANSB:
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return sizeof(std::int32_t);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return sizeof(void*);
    default:
      return 0;
  }
}

std::size_t size_of(cublasLtMatmulPreferenceAttributes_t name) {
  switch (name) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return sizeof(std::uint64_t);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return sizeof(std::uint32_t);
    default:
      return 0;
  }
}

std::size_t size_of(cublasLtMatrixLayoutAttribute_t name) {
  switch (name) {
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return sizeof(std::int32_t);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return sizeof(std::int64_t);
    default:
      return 0;
  }
}

}  // namespace standin::cublaslt
