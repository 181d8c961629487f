# Helpers for the find modules of NVIDIA libraries outside the CUDA toolkit.
include_guard()

# The folders of the wheels installed in this machine's Python (nvidia/cudnn, nvidia/nccl).
if(NOT DEFINED CUDA_WHEELS)
  execute_process(COMMAND python3 -c "import nvidia; print(*nvidia.__path__, sep=';')"
    OUTPUT_VARIABLE wheels OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(wheels "")
  endif()
  set(CUDA_WHEELS "${wheels}" CACHE STRING "Folders 'nvidia' of Python's site-packages")
endif()

# cuda_header_version(RESULT HEADER DEFINES...): "9.19.0" from the three defines, or "".
function(cuda_header_version result header)
  set(version "")
  if(EXISTS ${header})
    foreach(define IN LISTS ARGN)
      file(STRINGS ${header} line REGEX "^#define ${define} +[0-9]+" LIMIT_COUNT 1)
      string(REGEX MATCH "[0-9]+$" number "${line}")
      list(APPEND version ${number})
    endforeach()
  endif()
  list(JOIN version . version)
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

# cuda_package(NAME LIBRARY MAJOR HEADER DEFINES...): the body of a find module. Sets NAME_FOUND,
# NAME_LIBRARY and NAME_VERSION (from the DEFINES of HEADER), and creates NAME::headers (the program opens
# the library by path) and NAME::NAME (with the library, for tests). Searches NAME_ROOT, $NAME_HOME, the
# toolkit, Python wheels (CUDA_WHEELS) and the system.
macro(cuda_package name library major header)
  set(hints ${CUDA_WHEELS})
  list(TRANSFORM hints APPEND /${library})
  set(hints ${${name}_ROOT} $ENV{${name}_HOME} ${CUDAToolkit_ROOT} ${CUDAToolkit_LIBRARY_ROOT}
    /usr/local/cuda ${hints})
  find_path(${name}_INCLUDE_DIR ${header} HINTS ${hints} PATH_SUFFIXES include)
  # Wheels contain only the versioned name.
  find_library(${name}_LIBRARY NAMES ${library} lib${library}.so.${major} HINTS ${hints}
    PATH_SUFFIXES lib lib64)
  cuda_header_version(${name}_VERSION "${${name}_INCLUDE_DIR}/${header}" ${ARGN})
  include(FindPackageHandleStandardArgs)
  find_package_handle_standard_args(${name} REQUIRED_VARS ${name}_LIBRARY ${name}_INCLUDE_DIR
    VERSION_VAR ${name}_VERSION
    REASON_FAILURE_MESSAGE "install ${name} ${major}, or set ${name}_ROOT")
  if(${name}_FOUND AND NOT TARGET ${name}::${name})
    add_library(${name}::headers INTERFACE IMPORTED)
    target_include_directories(${name}::headers SYSTEM INTERFACE ${${name}_INCLUDE_DIR})
    add_library(${name}::${name} UNKNOWN IMPORTED)
    set_target_properties(${name}::${name} PROPERTIES IMPORTED_LOCATION ${${name}_LIBRARY}
      INTERFACE_LINK_LIBRARIES ${name}::headers)
  endif()
endmacro()
