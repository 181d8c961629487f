# The CUDA part: TRAINYARD_HAS_CUDA says whether it is built, and ty_cuda_library makes its libraries.
# Include it from the top CMakeLists.txt.

set(TRAINYARD_CUDA AUTO CACHE STRING
  "Build the CUDA part: AUTO (where the toolkit, cuDNN and NCCL are found), ON, OFF")
set_property(CACHE TRAINYARD_CUDA PROPERTY STRINGS AUTO ON OFF)
set(TRAINYARD_HAS_CUDA OFF)
if(TRAINYARD_CUDA STREQUAL "OFF")
  return()
endif()

# Ends the configuration where the CUDA part is asked for, else says why there is none.
macro(ty_without_cuda reason)
  if(TRAINYARD_CUDA STREQUAL "ON")
    message(FATAL_ERROR "TRAINYARD_CUDA=ON, but ${reason}")
  endif()
  message(STATUS "No CUDA part: ${reason}")
endmacro()

# A shell that no profile has set up lacks the toolkit in its PATH.
find_program(TRAINYARD_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin PATHS /usr/local/cuda/bin)
if(NOT TRAINYARD_NVCC)
  ty_without_cuda("nvcc is neither in PATH nor in /usr/local/cuda/bin; install the CUDA toolkit 12.8 or newer")
  return()
endif()
include(CheckLanguage)
if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  set(ENV{CUDACXX} ${TRAINYARD_NVCC})
endif()
# GPUs that kernels are compiled for; not kept in the cache, so that an older build learns of new ones.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 120-real 90-virtual)
endif()
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  ty_without_cuda("${TRAINYARD_NVCC} compiles nothing here; CMakeFiles/CMakeError.log says why")
  return()
endif()
enable_language(CUDA)
# CMake 3.25 does not know that nvcc takes C++20.
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
message(STATUS "CUDA part: CUDA ${CUDAToolkit_VERSION}, cuDNN ${CUDNN_VERSION}, NCCL "
  "${NCCL_VERSION}, for ${CMAKE_CUDA_ARCHITECTURES}")

# ty_cuda_library(NAME SOURCES files... LINK targets...)
# One static library a folder of the CUDA part. It links none of the other folders: in the plugin
# they are the program's own, in tests the test links them.
function(ty_cuda_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_library(ty_${name} STATIC ${arg_SOURCES})
  set_target_properties(ty_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(ty_${name} PUBLIC trainyard_options CUDA::cudart_static ${arg_LINK})
endfunction()

# ty_serves_plugin(TARGET): a program that loads the plugin. It exports its symbols, and holds all of
# the folders below, used by itself or not; building it builds the plugin.
function(ty_serves_plugin target)
  set_target_properties(${target} PROPERTIES ENABLE_EXPORTS ON)
  set(whole "")
  foreach(folder base tensor ops)
    list(APPEND whole $<TARGET_FILE:ty_${folder}>)
  endforeach()
  target_link_options(${target} PRIVATE LINKER:--whole-archive ${whole} LINKER:--no-whole-archive)
  add_dependencies(${target} trainyard_cuda)
endfunction()

# ty_gpu_test(NAME SOURCES files... LINK targets...)
# A test that needs a GPU. Where there is none all of its cases are skipped, and CTest says so.
function(ty_gpu_test name)
  ty_test(${name} LABELS gpu ${ARGN})
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/device)
  set_tests_properties(${name} PROPERTIES
    SKIP_REGULAR_EXPRESSION "cases: +0 . +0 passed . +0 failed . +[1-9][0-9]* skipped")
endfunction()
