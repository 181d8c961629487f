// The functions of graphs with the data of edges had names of their own before CUDA 13.
#pragma once

#include <cuda_runtime_api.h>

#if CUDART_VERSION >= 13000
#define STANDIN_EDGE_CALL(name) name
#else
#define STANDIN_EDGE_CALL(name) name##_v2
#endif
