# The find modules of libraries beside the CUDA toolkit.
include_guard()

# The folders of the wheels that this machine's Python holds (nvidia/cudnn, nvidia/nccl).
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
# NAME_LIBRARY and NAME_VERSION (the DEFINES of HEADER), and makes NAME::headers (the program opens
# the library by path) and NAME::NAME (the library too, for tests). Looked for in NAME_ROOT,
# $NAME_HOME, the toolkit, the wheels of Python (CUDA_WHEELS) and the system.
macro(cuda_package name library major header)
  set(places ${CUDA_WHEELS})
  list(TRANSFORM places APPEND /${library})
  set(places ${${name}_ROOT} $ENV{${name}_HOME} ${CUDAToolkit_ROOT} ${CUDAToolkit_LIBRARY_ROOT}
    /usr/local/cuda ${places})
  find_path(${name}_INCLUDE_DIR ${header} HINTS ${places} PATH_SUFFIXES include)
  # Wheels ship the versioned name alone.
  find_library(${name}_LIBRARY NAMES ${library} lib${library}.so.${major} HINTS ${places}
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
