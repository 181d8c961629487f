# NCCL 2: NCCL::headers and NCCL::NCCL, as FindCUDNN.cmake has them (NCCL_ROOT, $NCCL_HOME).
include(CudaPlaces)
cuda_places(NCCL nccl)
find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${NCCL_PLACES} PATH_SUFFIXES include)
find_library(NCCL_LIBRARY NAMES nccl libnccl.so.2 HINTS ${NCCL_PLACES} PATH_SUFFIXES lib lib64)
cuda_header_version(NCCL_VERSION "${NCCL_INCLUDE_DIR}/nccl.h" NCCL_MAJOR NCCL_MINOR NCCL_PATCH)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NCCL REQUIRED_VARS NCCL_LIBRARY NCCL_INCLUDE_DIR
  VERSION_VAR NCCL_VERSION REASON_FAILURE_MESSAGE "install NCCL 2, or set NCCL_ROOT")
if(NCCL_FOUND AND NOT TARGET NCCL::NCCL)
  add_library(NCCL::headers INTERFACE IMPORTED)
  target_include_directories(NCCL::headers SYSTEM INTERFACE ${NCCL_INCLUDE_DIR})
  add_library(NCCL::NCCL UNKNOWN IMPORTED)
  set_target_properties(NCCL::NCCL PROPERTIES IMPORTED_LOCATION ${NCCL_LIBRARY}
    INTERFACE_LINK_LIBRARIES NCCL::headers)
endif()
