# yaml-cpp's static archive (its CMake package provides only the shared library): target YAMLCPP::YAMLCPP.
find_path(YAMLCPP_INCLUDE_DIR yaml-cpp/yaml.h)
find_library(YAMLCPP_LIBRARY NAMES libyaml-cpp.a yaml-cpp)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(YAMLCPP REQUIRED_VARS YAMLCPP_LIBRARY YAMLCPP_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install libyaml-cpp-dev")
if(YAMLCPP_FOUND AND NOT TARGET YAMLCPP::YAMLCPP)
  add_library(YAMLCPP::YAMLCPP UNKNOWN IMPORTED)
  set_target_properties(YAMLCPP::YAMLCPP PROPERTIES IMPORTED_LOCATION ${YAMLCPP_LIBRARY}
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${YAMLCPP_INCLUDE_DIR})
endif()
