# oneDNN without its CMake package, which requires OpenCL headers on Debian: target ONEDNN::ONEDNN.
find_path(ONEDNN_INCLUDE_DIR dnnl.hpp)
find_library(ONEDNN_LIBRARY NAMES dnnl)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ONEDNN REQUIRED_VARS ONEDNN_LIBRARY ONEDNN_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install libdnnl-dev")
if(ONEDNN_FOUND AND NOT TARGET ONEDNN::ONEDNN)
  add_library(ONEDNN::ONEDNN UNKNOWN IMPORTED)
  set_target_properties(ONEDNN::ONEDNN PROPERTIES IMPORTED_LOCATION ${ONEDNN_LIBRARY}
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${ONEDNN_INCLUDE_DIR})
endif()
