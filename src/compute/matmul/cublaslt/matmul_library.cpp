#include "compute/matmul/cublaslt/matmul_library.h"

#include <fmt/format.h>

namespace trainyard::cudnn {

MatmulFunctions MatmulLibrary::functions_at(const std::filesystem::path& path) {
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
                {"cublasLtMatmulPreferenceCreate", all.create_preference},
                {"cublasLtMatmulPreferenceDestroy", all.destroy_preference},
                {"cublasLtMatmulPreferenceSetAttribute", all.set_preference},
                {"cublasLtMatmulAlgoGetHeuristic", all.find_algorithms},
                {"cublasLtMatmul", all.multiply}});
  return all;
}

MatmulLibrary::MatmulLibrary(const std::filesystem::path& path)
    : MatmulLibrary(functions_at(path)) {}

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

}  // namespace trainyard::cudnn
