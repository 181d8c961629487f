# The stand-ins of NVIDIA's libraries, on which tests run the GPU part without a GPU. TRAINYARD_HAS_STANDIN:
# whether they are built. They require NVIDIA's C headers, but neither its compiler nor its libraries. Include
# this from the top-level CMakeLists.txt.

set(TRAINYARD_STANDIN AUTO CACHE STRING
  "Build the stand-ins of NVIDIA's libraries: AUTO (if its headers are found), ON (which requires them), OFF")
set_property(CACHE TRAINYARD_STANDIN PROPERTY STRINGS AUTO ON OFF)
set(TRAINYARD_HAS_STANDIN OFF)
if(TRAINYARD_STANDIN STREQUAL "OFF")
  return()
endif()
# With a sanitizer the GPU part takes minutes to compile: AUTO leaves it out there.
set(TRAINYARD_HAS_STANDIN_PART ON)
if(TRAINYARD_SANITIZE AND TRAINYARD_STANDIN STREQUAL "AUTO")
  set(TRAINYARD_HAS_STANDIN_PART OFF)
endif()

include(CudaPackage)
add_library(standin_headers INTERFACE)
foreach(header cuda_runtime_api.h cublasLt.h cudnn_graph.h nccl.h)
  string(MAKE_C_IDENTIFIER ${header} word)
  set(hints ${CUDA_WHEELS})
  list(TRANSFORM hints APPEND "/*" OUTPUT_VARIABLE wheels)
  file(GLOB wheels LIST_DIRECTORIES ON ${wheels})
  find_path(STANDIN_${word} ${header} HINTS ${CUDNN_ROOT} ${NCCL_ROOT} ${CUDAToolkit_ROOT}
    $ENV{CUDA_HOME} /usr/local/cuda ${wheels} PATH_SUFFIXES include)
  if(NOT STANDIN_${word})
    if(TRAINYARD_STANDIN STREQUAL "ON")
      message(FATAL_ERROR "TRAINYARD_STANDIN=ON, but ${header} was not found: install it, or set "
        "CUDAToolkit_ROOT, CUDNN_ROOT or NCCL_ROOT to its folder")
    endif()
    message(STATUS "No stand-ins of NVIDIA's libraries: ${header} was not found")
    return()
  endif()
  target_include_directories(standin_headers SYSTEM INTERFACE ${STANDIN_${word}})
endforeach()
set(TRAINYARD_HAS_STANDIN ON)
