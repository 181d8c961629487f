# Gloo: target GLOO::GLOO.
find_path(GLOO_INCLUDE_DIR gloo/rendezvous/context.h)
find_library(GLOO_LIBRARY NAMES gloo)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(GLOO REQUIRED_VARS GLOO_LIBRARY GLOO_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install libgloo-dev")
if(GLOO_FOUND AND NOT TARGET GLOO::GLOO)
  add_library(GLOO::GLOO UNKNOWN IMPORTED)
  set_target_properties(GLOO::GLOO PROPERTIES IMPORTED_LOCATION ${GLOO_LIBRARY}
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${GLOO_INCLUDE_DIR})
endif()
