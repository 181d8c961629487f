// The parts of CUDA's header of this name that launcher/cuda_error.cpp and the interfaces of the
// GPU part use, for kernels that run on the host (grid.h).
#pragma once

enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidConfiguration = 9 };

using cudaStream_t = struct CUstream_st*;
using cudaGraph_t = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;
using cudaEvent_t = struct CUevent_st*;

enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive };
/// Always: so launches have the attributes of recorded ones.
inline cudaError_t cudaStreamIsCapturing(cudaStream_t /*stream*/, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusActive;
  return cudaSuccess;
}
/// The first fields of CUDA's own that are read.
struct cudaFuncAttributes {
  int ptxVersion = 0, binaryVersion = 0;
};
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* code, const void* kernel);

/// The error of the last launch, cleared by the call.
[[nodiscard]] cudaError_t cudaGetLastError();
[[nodiscard]] const char* cudaGetErrorName(cudaError_t error);
[[nodiscard]] const char* cudaGetErrorString(cudaError_t error);
