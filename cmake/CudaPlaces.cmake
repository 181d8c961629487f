# Where libraries beside the CUDA toolkit lie, and which version their headers state.
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

# cuda_places(NAME FOLDER): NAME_PLACES = the roots to look below, FOLDER being the wheel's.
function(cuda_places name folder)
  set(wheels ${CUDA_WHEELS})
  list(TRANSFORM wheels APPEND /${folder})
  set(${name}_PLACES ${${name}_ROOT} $ENV{${name}_HOME} ${CUDAToolkit_ROOT}
    ${CUDAToolkit_LIBRARY_ROOT} /usr/local/cuda ${wheels} PARENT_SCOPE)
endfunction()

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
