// The same calls, valid and invalid, through the stand-in and through the real cuBLASLt, which
// needs no GPU for them.
#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "base/shared_library.h"
#include "compute/matmul/cublaslt/matmul_library.h"

using trainyard::SharedLibrary;
using trainyard::cudnn::MatmulFunctions;
using trainyard::cudnn::MatmulLibrary;

namespace {

constexpr cublasStatus_t kSuccess = CUBLAS_STATUS_SUCCESS;
constexpr cublasStatus_t kInvalid = CUBLAS_STATUS_INVALID_VALUE;
constexpr std::int64_t kLong = 1;
constexpr std::int32_t kInt = 1;

using Calls = const MatmulFunctions&;

struct Call {
  const char* what;
  cublasStatus_t status;
  std::function<cublasStatus_t(Calls)> make;
};

/// One object of each kind that needs no GPU.
struct Objects {
  explicit Objects(Calls functions) : call(functions) {
    REQUIRE(call.create_product(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F) == kSuccess);
    REQUIRE(call.create_matrix(&matrix, CUDA_R_32F, 4, 4, 4) == kSuccess);
    REQUIRE(call.create_preference(&preference) == kSuccess);
  }
  ~Objects() {
    call.destroy_product(product);
    call.destroy_matrix(matrix);
    call.destroy_preference(preference);
  }
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;

  Calls call;
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t matrix = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
};

/// Makes a matrix and destroys it.
Call matrix(const char* what, cudaDataType_t type, std::uint64_t rows, std::int64_t stride) {
  return {what, kSuccess, [=](Calls call) {
            cublasLtMatrixLayout_t made = nullptr;
            const cublasStatus_t status = call.create_matrix(&made, type, rows, 4, stride);
            call.destroy_matrix(made);
            return status;
          }};
}

/// Sets an attribute of a description.
Call describes(const char* what, cublasStatus_t status, cublasLtMatmulDescAttributes_t name,
               const void* value, std::size_t bytes) {
  return {what, status,
          [=](Calls call) { return call.set_product(Objects(call).product, name, value, bytes); }};
}

/// Sets an attribute of a preference.
Call prefers(const char* what, cublasStatus_t status, cublasLtMatmulPreferenceAttributes_t name,
             const void* value, std::size_t bytes) {
  return {what, status, [=](Calls call) {
            return call.set_preference(Objects(call).preference, name, value, bytes);
          }};
}

std::vector<Call> calls_of_objects() {
  return {
      {"create: nowhere", kInvalid, [](Calls call) { return call.create(nullptr); }},
      {"destroy: null", kInvalid, [](Calls call) { return call.destroy(nullptr); }},
      {"description: nowhere", kInvalid,
       [](Calls call) { return call.create_product(nullptr, CUBLAS_COMPUTE_32F, CUDA_R_32F); }},
      {"description: destroy null", kSuccess,
       [](Calls call) { return call.destroy_product(nullptr); }},
      {"description: set null", kInvalid,
       [](Calls call) {
         return call.set_product(nullptr, CUBLASLT_MATMUL_DESC_TRANSA, &kInt, sizeof kInt);
       }},
      {"matrix: nowhere", kInvalid,
       [](Calls call) { return call.create_matrix(nullptr, CUDA_R_32F, 4, 4, 4); }},
      {"matrix: destroy null", kSuccess, [](Calls call) { return call.destroy_matrix(nullptr); }},
      matrix("matrix: 4 by 4", CUDA_R_32F, 4, 4),
      matrix("matrix: columns overlap", CUDA_R_32F, 4, 2),
      matrix("matrix: no rows", CUDA_R_32F, 0, 4),
      matrix("matrix: stride -1", CUDA_R_32F, 4, -1),
      matrix("matrix: type 63", static_cast<cudaDataType_t>(63), 4, 4),
      {"preference: nowhere", kInvalid, [](Calls call) { return call.create_preference(nullptr); }},
      {"preference: destroy null", kSuccess,
       [](Calls call) { return call.destroy_preference(nullptr); }},
      {"heuristic: no handle", CUBLAS_STATUS_NOT_INITIALIZED,
       [](Calls call) {
         const Objects made(call);
         cublasLtMatmulHeuristicResult_t found{};
         int count = 0;
         return call.find_algorithms(nullptr, made.product, made.matrix, made.matrix, made.matrix,
                                     made.matrix, made.preference, 1, &found, &count);
       }},
      {"product: no handle", CUBLAS_STATUS_NOT_INITIALIZED,
       [](Calls call) {
         const Objects made(call);
         const float one = 1;
         return call.multiply(nullptr, made.product, &one, nullptr, made.matrix, nullptr,
                              made.matrix, &one, nullptr, made.matrix, nullptr, made.matrix,
                              nullptr, nullptr, 0, nullptr);
       }},
  };
}

std::vector<Call> calls_of_attributes() {
  constexpr auto kTurn = CUBLASLT_MATMUL_DESC_TRANSA;
  constexpr auto kEpilogue = CUBLASLT_MATMUL_DESC_EPILOGUE;
  constexpr auto kBias = CUBLASLT_MATMUL_DESC_BIAS_POINTER;
  constexpr auto kBytes = CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
  constexpr auto kMask = CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK;
  constexpr auto kAlignment = CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES;
  constexpr std::size_t kOfLong = sizeof kLong, kOfInt = sizeof kInt;
  static constexpr std::int32_t kNone = 77;
  return {
      describes("turn", kSuccess, kTurn, &kInt, kOfInt),
      describes("turn: 8 bytes", kInvalid, kTurn, &kLong, kOfLong),
      describes("turn: 2 bytes", kInvalid, kTurn, &kInt, 2),
      describes("turn: nothing", kInvalid, kTurn, nullptr, kOfInt),
      describes("turn: 77", kSuccess, kTurn, &kNone, kOfInt),
      describes("epilogue: 77", kSuccess, kEpilogue, &kNone, kOfInt),
      describes("epilogue: 8 bytes", kInvalid, kEpilogue, &kLong, kOfLong),
      describes("bias", kSuccess, kBias, &kLong, kOfLong),
      describes("bias: 4 bytes", kInvalid, kBias, &kLong, kOfInt),
      describes("attribute 63", kInvalid, static_cast<cublasLtMatmulDescAttributes_t>(63), &kInt,
                kOfInt),
      prefers("workspace", kSuccess, kBytes, &kLong, kOfLong),
      prefers("workspace: 4 bytes", kInvalid, kBytes, &kLong, kOfInt),
      prefers("reductions", kSuccess, kMask, &kInt, kOfInt),
      prefers("reductions: 8 bytes", kInvalid, kMask, &kLong, kOfLong),
      prefers("alignment: 77", kSuccess, kAlignment, &kNone, kOfInt),
      prefers("alignment: nothing", kInvalid, kAlignment, nullptr, kOfInt),
      prefers("preference 15", kInvalid, static_cast<cublasLtMatmulPreferenceAttributes_t>(15),
              &kInt, kOfInt),
  };
}

void check_answers(const char* library) {
  const MatmulFunctions functions = MatmulLibrary::functions_at(library);
  for (const auto& list : {calls_of_objects(), calls_of_attributes()}) {
    for (const Call& call : list) {
      CAPTURE(call.what);
      CHECK(call.make(functions) == call.status);
    }
  }
}

bool no_cublaslt() {
  static const bool none = !SharedLibrary(TY_CUBLASLT_LIBRARY).is_open();
  return none;
}

}  // namespace

TEST_CASE("the stand-in returns the recorded answers of cuBLASLt") {
  check_answers(TY_STANDIN_CUBLASLT);
}

TEST_CASE("cuBLASLt returns the recorded answers" * doctest::skip(no_cublaslt())) {
  check_answers(TY_CUBLASLT_LIBRARY);
}

TEST_CASE("the texts of statuses are cuBLASLt's" * doctest::skip(no_cublaslt())) {
  const MatmulFunctions stand_in = MatmulLibrary::functions_at(TY_STANDIN_CUBLASLT);
  const MatmulFunctions real = MatmulLibrary::functions_at(TY_CUBLASLT_LIBRARY);
  for (const int status : {0, 1, 3, 7, 8, 11, 13, 14, 15, 31}) {
    const auto value = static_cast<cublasStatus_t>(status);
    CHECK(std::string(stand_in.status_string(value)) == real.status_string(value));
  }
}
