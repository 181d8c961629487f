# libcurl's header; the library itself is opened at run time: target CURL::header.
find_path(CURL_INCLUDE_DIR curl/curl.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CURL REQUIRED_VARS CURL_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install libcurl4-openssl-dev")
if(CURL_FOUND AND NOT TARGET CURL::header)
  add_library(CURL::header INTERFACE IMPORTED)
  target_include_directories(CURL::header INTERFACE ${CURL_INCLUDE_DIR})
endif()
