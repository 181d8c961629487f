// Results of the runtime: its errors by name, and the last one of each thread.
#pragma once

#include <cuda_runtime_api.h>

#include <exception>
#include <string_view>

namespace standin {

/// Ends a call of the runtime with an error.
struct Refused : std::exception {
  explicit Refused(cudaError_t answer) : error(answer) {}
  cudaError_t error;
};

/// "cudaErrorMemoryAllocation" as a number; ends the program for an unknown name.
[[nodiscard]] cudaError_t error_named(std::string_view name);
/// Whether a device that had this error returns it forever (the guide's "sticky" errors: those
/// after which "the process must be terminated and relaunched").
[[nodiscard]] bool is_sticky(cudaError_t error);

/// Stores an error for this thread's next cudaGetLastError; success keeps the previous one.
cudaError_t answered(cudaError_t error);

}  // namespace standin
