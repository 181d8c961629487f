// Matrix products, with functions that simulate cuBLASLt.
#include "compute/matmul/cublaslt/matmul.h"

#include <doctest/doctest.h>

#include <cstring>
#include <set>
#include <vector>

#include "../base/error_of.h"

using namespace trainyard;
using namespace trainyard::cudnn;

namespace {

/// The fake's answers, and its calls. C functions can only reach statics.
struct Script {
  cublasStatus_t with_bias = CUBLAS_STATUS_SUCCESS, plain = CUBLAS_STATUS_SUCCESS;
  cublasStatus_t state = CUBLAS_STATUS_SUCCESS;  // state of the proposed algorithm
  int proposals = 1;
  std::vector<bool> asked = {};  // for each request of an algorithm: whether it must add a bias
  std::uint64_t cap = 0;
  bool adds_bias = false;  // in the current description
  std::set<void*> alive = {};
  std::vector<std::int32_t> batches = {};  // of matrices that are more than one
};
Script scripted;

template <class T>
cublasStatus_t made(T* to) {
  void* const object = new char;
  scripted.alive.insert(object);
  *to = static_cast<T>(object);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t destroyed(void* object) {
  scripted.alive.erase(object);
  delete static_cast<char*>(object);
  return CUBLAS_STATUS_SUCCESS;
}

const char* text(cublasStatus_t status) {
  return status == CUBLAS_STATUS_INVALID_VALUE ? "INVALID_VALUE" : "NOT_SUPPORTED";
}
cublasStatus_t create(cublasLtHandle_t* handle) { return made(handle); }
cublasStatus_t destroy(cublasLtHandle_t handle) { return destroyed(handle); }
cublasStatus_t create_product(cublasLtMatmulDesc_t* to, cublasComputeType_t, cudaDataType_t) {
  scripted.adds_bias = false;
  return made(to);
}
cublasStatus_t destroy_product(cublasLtMatmulDesc_t product) { return destroyed(product); }
cublasStatus_t set_product(cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t name,
                           const void* value, std::size_t bytes) {
  if (name != CUBLASLT_MATMUL_DESC_EPILOGUE) return CUBLAS_STATUS_SUCCESS;
  cublasLtEpilogue_t epilogue{};
  REQUIRE(bytes == sizeof epilogue);
  std::memcpy(&epilogue, value, bytes);
  scripted.adds_bias = epilogue == CUBLASLT_EPILOGUE_BIAS;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t create_matrix(cublasLtMatrixLayout_t* to, cudaDataType_t, std::uint64_t,
                             std::uint64_t, std::int64_t) {
  return made(to);
}
cublasStatus_t set_matrix(cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t name,
                          const void* value, std::size_t bytes) {
  if (name != CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) return CUBLAS_STATUS_SUCCESS;
  REQUIRE(bytes == sizeof(std::int32_t));
  scripted.batches.push_back(*static_cast<const std::int32_t*>(value));
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t destroy_matrix(cublasLtMatrixLayout_t matrix) { return destroyed(matrix); }
cublasStatus_t create_preference(cublasLtMatmulPreference_t* to) { return made(to); }
cublasStatus_t destroy_preference(cublasLtMatmulPreference_t preference) {
  return destroyed(preference);
}
cublasStatus_t set_preference(cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t name,
                              const void* value, std::size_t bytes) {
  if (name == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) std::memcpy(&scripted.cap, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t find_algorithms(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                               cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                               cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int,
                               cublasLtMatmulHeuristicResult_t* found, int* count) {
  scripted.asked.push_back(scripted.adds_bias);
  *count = scripted.proposals;
  found->workspaceSize = 512;
  found->state = scripted.state;
  return scripted.adds_bias ? scripted.with_bias : scripted.plain;
}

MatmulLibrary fake_library() {
  scripted = {};
  return MatmulLibrary({.status_string = text,
                        .create = create,
                        .destroy = destroy,
                        .create_product = create_product,
                        .destroy_product = destroy_product,
                        .set_product = set_product,
                        .create_matrix = create_matrix,
                        .destroy_matrix = destroy_matrix,
                        .set_matrix = set_matrix,
                        .create_preference = create_preference,
                        .destroy_preference = destroy_preference,
                        .set_preference = set_preference,
                        .find_algorithms = find_algorithms,
                        .multiply = nullptr});
}

MatmulShape shape_of(DType factors, DType result, bool bias) {
  return {.rows = 4, .columns = 2, .depth = 3, .factors = factors, .result = result, .bias = bias};
}

}  // namespace

TEST_CASE("a product in f32 adds the bias if cuBLASLt has an algorithm that does") {
  const MatmulLibrary library = fake_library();
  const Matmul product(library, shape_of(DType::f32, DType::f32, true), 1000);
  CHECK(product.adds_bias());
  CHECK(product.workspace_bytes() == 512);
  CHECK(scripted.asked == std::vector<bool>{true});
  CHECK(scripted.cap == 1000);
}

TEST_CASE("a product whose result has 16 bits is never asked to add a bias in f32") {
  for (const DType type : {DType::bf16, DType::f16}) {
    const MatmulLibrary library = fake_library();
    const Matmul product(library, shape_of(type, type, true), 1000);
    CHECK_FALSE(product.adds_bias());
    CHECK(scripted.asked == std::vector<bool>{false});
  }
}

TEST_CASE("if cuBLASLt refuses the bias with any status, the plain product is used") {
  for (const cublasStatus_t status : {CUBLAS_STATUS_NOT_SUPPORTED, CUBLAS_STATUS_INVALID_VALUE}) {
    const MatmulLibrary library = fake_library();
    scripted.with_bias = status;
    const Matmul product(library, shape_of(DType::f32, DType::f32, true), 1000);
    CHECK_FALSE(product.adds_bias());
    CHECK_FALSE(scripted.adds_bias);
    CHECK(scripted.asked == std::vector<bool>{true, false});
  }
}

TEST_CASE("a product that cuBLASLt has no algorithm for is refused with its shape and the reason") {
  const char* const shape =
      "cuBLASLt has no algorithm for [4, 3] by [3, 2], bf16 to f32, within a workspace of 1000 "
      "bytes: ";
  const auto message = [](const MatmulLibrary& library) {
    return testing::error_of(ErrorKind::device, [&] {
      Matmul(library, shape_of(DType::bf16, DType::f32, false), 1000);
    });
  };
  const MatmulLibrary library = fake_library();
  scripted.plain = CUBLAS_STATUS_INVALID_VALUE;
  CHECK(message(library) == std::string(shape) + "INVALID_VALUE");
  scripted.plain = CUBLAS_STATUS_SUCCESS;
  scripted.state = CUBLAS_STATUS_NOT_SUPPORTED;
  CHECK(message(library) == std::string(shape) + "NOT_SUPPORTED");
  scripted.proposals = 0;
  CHECK(message(library) == std::string(shape) + "it proposes none");
}

TEST_CASE("a batch is said of all three matrices, and one matrix has no attributes") {
  const MatmulLibrary library = fake_library();
  MatmulShape shape = shape_of(DType::f32, DType::f32, false);
  { const Matmul one(library, shape, 1000); }
  CHECK(scripted.batches.empty());
  shape.batch = 7;
  { const Matmul seven(library, shape, 1000); }
  CHECK(scripted.batches == std::vector<std::int32_t>{7, 7, 7});
}

TEST_CASE("a product leaks nothing") {
  {
    const MatmulLibrary library = fake_library();
    const Matmul product(library, shape_of(DType::f32, DType::f32, true), 1000);
    CHECK(scripted.alive.size() == 5);
  }
  CHECK(scripted.alive.empty());
}
