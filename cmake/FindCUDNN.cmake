# cuDNN 9: CUDNN::headers (the CUDA part opens it by path) and
# CUDNN::CUDNN (the library too, for tests). Looked for in CUDNN_ROOT, $CUDNN_HOME, the toolkit, the
# wheels of Python (CUDA_WHEELS) and the system. Wheels ship the versioned name alone.
include(CudaPlaces)
cuda_places(CUDNN cudnn)
find_path(CUDNN_INCLUDE_DIR cudnn_version.h HINTS ${CUDNN_PLACES} PATH_SUFFIXES include)
find_library(CUDNN_LIBRARY NAMES cudnn libcudnn.so.9 HINTS ${CUDNN_PLACES} PATH_SUFFIXES lib lib64)
cuda_header_version(CUDNN_VERSION "${CUDNN_INCLUDE_DIR}/cudnn_version.h"
  CUDNN_MAJOR CUDNN_MINOR CUDNN_PATCHLEVEL)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CUDNN REQUIRED_VARS CUDNN_LIBRARY CUDNN_INCLUDE_DIR
  VERSION_VAR CUDNN_VERSION REASON_FAILURE_MESSAGE "install cuDNN 9, or set CUDNN_ROOT")
if(CUDNN_FOUND AND NOT TARGET CUDNN::CUDNN)
  add_library(CUDNN::headers INTERFACE IMPORTED)
  target_include_directories(CUDNN::headers SYSTEM INTERFACE ${CUDNN_INCLUDE_DIR})
  add_library(CUDNN::CUDNN UNKNOWN IMPORTED)
  set_target_properties(CUDNN::CUDNN PROPERTIES IMPORTED_LOCATION ${CUDNN_LIBRARY}
    INTERFACE_LINK_LIBRARIES CUDNN::headers)
endif()
