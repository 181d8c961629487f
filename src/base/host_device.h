// The mark of functions that run on the host and on the device.
#pragma once

#if defined(__CUDACC__)
#define TY_HD __host__ __device__ __forceinline__
#else
#define TY_HD inline __attribute__((always_inline))
#endif
