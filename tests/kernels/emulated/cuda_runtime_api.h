// What kernels/cuda_error.cpp takes from CUDA's header of this name, for kernels that run on the
// host (grid.h).
#pragma once

enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidConfiguration = 9 };

/// The error of the last launch, forgotten by the call.
[[nodiscard]] cudaError_t cudaGetLastError();
[[nodiscard]] const char* cudaGetErrorString(cudaError_t error);
