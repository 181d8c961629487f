#include "compute/matmul/cublaslt/matmul.h"

#include <fmt/format.h>

#include "base/error.h"

namespace trainyard::cudnn {
namespace {

cudaDataType_t cuda_type(DType type) {
  switch (type) {
    case DType::f16:
      return CUDA_R_16F;
    case DType::bf16:
      return CUDA_R_16BF;
    default:
      TY_CHECK(type == DType::f32, "matrix products on GPUs are of f32, f16 or bf16");
      return CUDA_R_32F;
  }
}

cublasLtMatmulDesc_t new_product(const MatmulLibrary& library, const MatmulShape& shape) {
  const bool rounds = shape.factors == DType::f32 && shape.tf32;
  cublasLtMatmulDesc_t product = nullptr;
  library.check(
      library.call().create_product(
          &product, rounds ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F),
      "describing a product");
  return product;
}

/// Row-major matrices [rows, columns], one after the other, which cuBLASLt reads as transposes.
cublasLtMatrixLayout_t new_matrix(const MatmulLibrary& library, DType type, std::int64_t rows,
                                  std::int64_t columns, std::int32_t batch) {
  cublasLtMatrixLayout_t matrix = nullptr;
  library.check(
      library.call().create_matrix(&matrix, cuda_type(type), static_cast<std::uint64_t>(columns),
                                   static_cast<std::uint64_t>(rows), columns),
      "describing a matrix");
  if (batch == 1) return matrix;
  const auto set = [&](cublasLtMatrixLayoutAttribute_t name, const auto& value) {
    library.check(library.call().set_matrix(matrix, name, &value, sizeof value),
                  "describing a batch of matrices");
  };
  set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, batch);
  set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, rows * columns);
  return matrix;
}

cublasLtMatrixLayout_t new_factor(const MatmulLibrary& library, DType type, std::int64_t rows,
                                  std::int64_t columns, std::int32_t batch, bool transposed) {
  return transposed ? new_matrix(library, type, columns, rows, batch)
                    : new_matrix(library, type, rows, columns, batch);
}

}  // namespace

MatmulFunctions MatmulLibrary::functions_at(const fs::path& path) {
  MatmulFunctions all{};
  open_library(required(), path,
               {{"cublasLtGetStatusString", all.status_string},
                {"cublasLtCreate", all.create},
                {"cublasLtDestroy", all.destroy},
                {"cublasLtMatmulDescCreate", all.create_product},
                {"cublasLtMatmulDescDestroy", all.destroy_product},
                {"cublasLtMatmulDescSetAttribute", all.set_product},
                {"cublasLtMatrixLayoutCreate", all.create_matrix},
                {"cublasLtMatrixLayoutDestroy", all.destroy_matrix},
                {"cublasLtMatrixLayoutSetAttribute", all.set_matrix},
                {"cublasLtMatmulPreferenceCreate", all.create_preference},
                {"cublasLtMatmulPreferenceDestroy", all.destroy_preference},
                {"cublasLtMatmulPreferenceSetAttribute", all.set_preference},
                {"cublasLtMatmulAlgoGetHeuristic", all.find_algorithms},
                {"cublasLtMatmul", all.multiply}});
  return all;
}

MatmulLibrary::MatmulLibrary(const fs::path& path) : MatmulLibrary(functions_at(path)) {}

MatmulLibrary::MatmulLibrary(const MatmulFunctions& functions) : functions_(functions) {
  check(functions_.create(&handle_), "making a handle");
}

MatmulLibrary::~MatmulLibrary() { functions_.destroy(handle_); }

void MatmulLibrary::check(cublasStatus_t status, const char* doing) const {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  cuda::throw_library_error(
      fmt::format("cuBLASLt: {}: {}", doing, functions_.status_string(status)),
      functions_.device_fault());
}

Matmul::Matmul(const MatmulLibrary& library, const MatmulShape& shape, std::size_t workspace_cap)
    : library_(&library),
      product_(new_product(library, shape), library.call().destroy_product),
      left_(new_factor(library, shape.factors, shape.depth, shape.columns, shape.batch,
                       shape.b_transposed),
            library.call().destroy_matrix),
      right_(new_factor(library, shape.factors, shape.rows, shape.depth, shape.batch,
                        shape.a_transposed),
             library.call().destroy_matrix),
      result_(new_matrix(library, shape.result, shape.rows, shape.columns, shape.batch),
              library.call().destroy_matrix),
      adds_(shape.adds) {
  const cublasOperation_t turn = CUBLAS_OP_T;
  if (shape.b_transposed) set(CUBLASLT_MATMUL_DESC_TRANSA, turn);
  if (shape.a_transposed) set(CUBLASLT_MATMUL_DESC_TRANSB, turn);
  if (shape.bias && shape.result == DType::f32) {
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    adds_bias_ = choose(workspace_cap, shape.alignment).empty();
    if (adds_bias_) return;
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DEFAULT);
  }
  const std::string problem = choose(workspace_cap, shape.alignment);
  if (problem.empty()) return;
  throw device_error(
      fmt::format("cuBLASLt has no algorithm for [{}, {}] by [{}, {}], {} to {}, within a "
                  "workspace of {} bytes: {}",
                  shape.rows, shape.depth, shape.depth, shape.columns, name_of(shape.factors),
                  name_of(shape.result), workspace_cap, problem));
}

template <class T>
void Matmul::set(cublasLtMatmulDescAttributes_t name, const T& value) {
  library_->check(library_->call().set_product(product_.get(), name, &value, sizeof value),
                  "describing a product");
}

std::string Matmul::choose(std::size_t workspace_cap, std::uint32_t alignment) {
  const MatmulFunctions& call = library_->call();
  cublasLtMatmulPreference_t raw = nullptr;
  library_->check(call.create_preference(&raw), "choosing an algorithm");
  const Owned<cublasLtMatmulPreference_t> preference(raw, call.destroy_preference);
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t name, const auto& value) {
    library_->check(call.set_preference(raw, name, &value, sizeof value), "choosing an algorithm");
  };
  const std::uint64_t most = workspace_cap;
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, most);
  // The other schemes add partial sums in the result's type.
  const std::uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, reductions);
  for (const auto name :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    prefer(name, alignment);
  }
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  const cublasStatus_t status =
      call.find_algorithms(library_->handle(), product_.get(), left_.get(), right_.get(),
                           result_.get(), result_.get(), raw, 1, &found, &count);
  if (status != CUBLAS_STATUS_SUCCESS) return call.status_string(status);
  if (count == 0) return "it proposes none";
  if (found.state != CUBLAS_STATUS_SUCCESS) return call.status_string(found.state);
  algorithm_ = found.algo;
  workspace_bytes_ = found.workspaceSize;
  return "";
}

void Matmul::bind_bias(const float* bias) { set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias); }

void Matmul::run(cudaStream_t stream, const void* a, const void* b, void* d,
                 void* workspace) const {
  const float one = 1, beta = adds_ ? 1 : 0;
  library_->check(
      library_->call().multiply(library_->handle(), product_.get(), &one, b, left_.get(), a,
                                right_.get(), &beta, d, result_.get(), d, result_.get(),
                                &algorithm_, workspace, workspace_bytes_, stream),
      "multiplying matrices");
}

}  // namespace trainyard::cudnn
