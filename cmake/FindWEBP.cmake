# libwebp with its library for animations: target WEBP::WEBP.
find_path(WEBP_INCLUDE_DIR webp/demux.h)
find_library(WEBP_LIBRARY webp)
find_library(WEBP_DEMUX_LIBRARY webpdemux)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(WEBP REQUIRED_VARS WEBP_DEMUX_LIBRARY WEBP_LIBRARY WEBP_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install libwebp-dev")
if(WEBP_FOUND AND NOT TARGET WEBP::WEBP)
  add_library(WEBP::WEBP UNKNOWN IMPORTED)
  set_target_properties(WEBP::WEBP PROPERTIES IMPORTED_LOCATION ${WEBP_DEMUX_LIBRARY}
    INTERFACE_LINK_LIBRARIES ${WEBP_LIBRARY}
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${WEBP_INCLUDE_DIR})
endif()
