# Whether the GPU part is built: TRAINYARD_HAS_CUDA (TrainyardGpuPart.cmake makes its libraries).
# Include this from the top-level CMakeLists.txt.

set(TRAINYARD_CUDA AUTO CACHE STRING
  "Build the GPU part: AUTO (if the toolkit, cuDNN and NCCL are found), ON, OFF")
set_property(CACHE TRAINYARD_CUDA PROPERTY STRINGS AUTO ON OFF)
set(TRAINYARD_HAS_CUDA OFF)
if(TRAINYARD_CUDA STREQUAL "OFF")
  return()
endif()

# Fails if the GPU part was requested, else reports why it is not built.
macro(ty_without_cuda reason)
  if(TRAINYARD_CUDA STREQUAL "ON")
    message(FATAL_ERROR "TRAINYARD_CUDA=ON, but ${reason}")
  endif()
  message(STATUS "No GPU part: ${reason}")
endmacro()

# The toolkit may be missing from PATH in a shell without a profile.
find_program(TRAINYARD_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin PATHS /usr/local/cuda/bin)
if(NOT TRAINYARD_NVCC)
  ty_without_cuda("nvcc is neither in PATH nor in /usr/local/cuda/bin; install the CUDA toolkit 12.8 or newer")
  return()
endif()
include(CheckLanguage)
if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  set(ENV{CUDACXX} ${TRAINYARD_NVCC})
endif()
# GPUs that kernels are compiled for; not cached, so that an existing build folder picks up new ones.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 120-real 90-virtual)
endif()
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  ty_without_cuda("${TRAINYARD_NVCC} cannot compile here; see CMakeFiles/CMakeError.log")
  return()
endif()
enable_language(CUDA)
# CMake 3.25 does not know that nvcc supports C++20.
foreach(form STANDARD EXTENSION)
  if(NOT CMAKE_CUDA20_${form}_COMPILE_OPTION)
    set(CMAKE_CUDA20_${form}_COMPILE_OPTION -std=c++20)
  endif()
endforeach()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)

include(CudaLibraries)
if(TRAINYARD_CUDA_LACKS)
  ty_without_cuda("${TRAINYARD_CUDA_LACKS}")
  return()
endif()
set(TRAINYARD_HAS_CUDA ON)
message(STATUS "GPU part: CUDA ${CUDAToolkit_VERSION}, cuDNN ${CUDNN_VERSION}, NCCL "
  "${NCCL_VERSION}, for ${CMAKE_CUDA_ARCHITECTURES}")
