# The libraries that the GPU part is built with. TRAINYARD_CUDA_LACKS describes what is missing; "" if
# nothing is.

# Since 9.8 a GPU can be described to cuDNN as data, which the tests do.
set(least_CUDNN 9.8)
set(least_NCCL 2)
set(least_CUDAToolkit 12.8)

# The other packages are searched for in the toolkit first.
find_package(CUDAToolkit QUIET)
set(TRAINYARD_CUDA_LACKS "")
foreach(package CUDNN NCCL CUDAToolkit)
  find_package(${package} ${least_${package}} QUIET)
  if(NOT ${package}_FOUND)
    set(found "")
    if(${package}_VERSION)
      set(found " (found ${${package}_VERSION})")
    endif()
    set(TRAINYARD_CUDA_LACKS
      "${package} ${least_${package}} or newer was not found${found}; set ${package}_ROOT to its folder")
    return()
  endif()
endforeach()
