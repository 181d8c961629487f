// The parts of CUDA's header of this name that launcher/cuda_launch.cuh uses, for kernels that run
// on the host (grid.h): one block at a time, so that variables of the host's thread can be its
// shared memory.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "cuda_runtime_api.h"
#include "grid.h"

#define __global__
#define __device__
#define __shared__ static thread_local
#define __grid_constant__
#define __launch_bounds__(...)

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  dim3(unsigned size = 1) : x(size) {}  // from a number too, as in CUDA
};

enum cudaLaunchAttributeID { cudaLaunchAttributeProgrammaticStreamSerialization };
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  struct {
    int programmaticStreamSerializationAllowed;
  } val;
};

/// CUDA's own.
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
  cudaLaunchAttribute* attrs = nullptr;
  unsigned numAttrs = 0;
};

inline void __syncthreads() { trainyard::emulated::wait_for_block(); }
inline void __threadfence() { trainyard::emulated::fence(); }
inline unsigned atomicInc(unsigned* number, unsigned most) {
  return trainyard::emulated::count_up(number, most);
}
inline void atomicMin(unsigned long long* least, unsigned long long value) {
  trainyard::emulated::lower_to(least, value);
}
inline void atomicMax(unsigned long long* most, unsigned long long value) {
  trainyard::emulated::raise_to(most, value);
}

/// The value of the lane `delta` further on in the warp; the last lanes get their own.
template <class T>
requires(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8)) T
    __shfl_down_sync(unsigned mask, T value, unsigned delta) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const std::uint64_t found =
      trainyard::emulated::shuffle_down(mask, std::bit_cast<Bits>(value), delta);
  return std::bit_cast<T>(static_cast<Bits>(found));
}

/// The value of the lane whose number differs in the bits of `difference`.
inline std::uint32_t __shfl_xor_sync(unsigned mask, std::uint32_t value, unsigned difference) {
  return static_cast<std::uint32_t>(trainyard::emulated::shuffle_xor(mask, value, difference));
}

/// The parameters of the kernel whose launch has this name in GCC's and Clang's words: its functor.
[[nodiscard]] inline std::string parameters_of(std::string_view function) {
  const std::size_t begin = function.find('{', function.find("Parameters = ")) + 1;
  return std::string(function.substr(begin, function.find("}; Arguments", begin) - begin));
}

/// As in CUDA: each thread gets copies of the arguments, converted to the kernel's parameters. The
/// work is done when the call returns.
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               const Arguments&... arguments) {
  // The copies are not the kernel's accesses, also where this would be part of a function with
  // hooks.
  const auto thread = [&]() __attribute__((noinline, no_sanitize("thread"))) {
    kernel(static_cast<Parameters>(arguments)...);
  };
  return trainyard::emulated::launch(config->gridDim.x, config->blockDim.x, thread,
                                     parameters_of(__PRETTY_FUNCTION__), config->numAttrs > 0);
}
