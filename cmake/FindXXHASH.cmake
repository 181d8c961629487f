# xxHash, used header-only (XXH_INLINE_ALL): target XXHASH::XXHASH.
find_path(XXHASH_INCLUDE_DIR xxhash.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(XXHASH REQUIRED_VARS XXHASH_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install libxxhash-dev")
if(XXHASH_FOUND AND NOT TARGET XXHASH::XXHASH)
  add_library(XXHASH::XXHASH INTERFACE IMPORTED)
  target_include_directories(XXHASH::XXHASH INTERFACE ${XXHASH_INCLUDE_DIR})
endif()
