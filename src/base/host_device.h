// The mark for functions that run on host and device.
#pragma once

#if defined(__CUDACC__)
#define TY_HD __host__ __device__ __forceinline__
#else
#define TY_HD inline __attribute__((always_inline))
#endif
