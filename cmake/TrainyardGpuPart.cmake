# Functions that build the GPU part. Their arguments are also stored as global properties, so that it can be
# built again on another runtime: ty_cuda_folders and ty_cuda_sources, ty_plugin_sources and
# ty_plugin_definitions, ty_gpu_tests and for each of these ty_gpu_test_NAME.

# ty_absolute(RESULT files...): absolute paths of the files.
function(ty_absolute result)
  set(paths ${ARGN})
  list(TRANSFORM paths PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set(${result} ${paths} PARENT_SCOPE)
endfunction()

# ty_cuda_library(NAME [SOURCES patterns...] LINK targets...)
# One static library per folder of the GPU part, by default of all its .cpp files. It links none of the other folders: the plugin uses the
# program's symbols, and a test links them itself.
function(ty_cuda_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  if(NOT arg_SOURCES)
    set(arg_SOURCES *.cpp)
  endif()
  ty_sources(arg_SOURCES ${arg_SOURCES})
  ty_absolute(sources ${arg_SOURCES})
  set_property(GLOBAL APPEND PROPERTY ty_cuda_folders ty_${name})
  set_property(GLOBAL APPEND PROPERTY ty_cuda_sources ${sources})
  if(NOT TRAINYARD_HAS_CUDA)
    return()
  endif()
  add_library(ty_${name} STATIC ${arg_SOURCES})
  set_target_properties(ty_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(ty_${name} PUBLIC trainyard_options CUDA::cudart_static ${arg_LINK})
  # The compiler's report on registers, spills and shared memory, for a test (tests/launcher/resources_test.cpp).
  target_compile_options(ty_${name} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xptxas=-v>)
  set(launcher ${PROJECT_SOURCE_DIR}/cmake/keep_report.sh ${CMAKE_CUDA_COMPILER_LAUNCHER})
  set_target_properties(ty_${name} PROPERTIES CUDA_COMPILER_LAUNCHER "${launcher}")
  foreach(option TRAINYARD_NODE_TIMES TRAINYARD_CHAOS)
    if(${option})
      target_compile_definitions(ty_${name} PUBLIC ${option})
    endif()
  endforeach()
endfunction()

# ty_plugin(NAME SOURCES files... DEFINITIONS definitions... LINK targets...)
# The plugin. It uses the program's symbols for the other folders, and links no CUDA library except the
# static runtime: it opens them at the paths where they are found. It exports only the symbol in plugin.map.
function(ty_plugin name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEFINITIONS;LINK" ${ARGN})
  ty_absolute(sources ${arg_SOURCES})
  set_property(GLOBAL PROPERTY ty_plugin_sources ${sources})
  set_property(GLOBAL PROPERTY ty_plugin_definitions ${arg_DEFINITIONS})
  set_property(GLOBAL PROPERTY ty_plugin_map ${CMAKE_CURRENT_SOURCE_DIR}/plugin.map)
  if(TRAINYARD_HAS_CUDA)
    ty_make_plugin(${name} ${sources})
    target_compile_definitions(${name} PRIVATE ${arg_DEFINITIONS})
    target_link_libraries(${name} PRIVATE ${arg_LINK})
  endif()
endfunction()
function(ty_make_plugin name)
  get_property(map GLOBAL PROPERTY ty_plugin_map)
  add_library(${name} MODULE ${ARGN})
  target_link_options(${name} PRIVATE -Wl,--version-script=${map})
  set_target_properties(${name} PROPERTIES LINK_DEPENDS ${map})
endfunction()

# ty_serves_plugin(TARGET): a program that loads the plugin. It exports its symbols, and contains all of the
# folders below, whether it uses them or not; building it builds the plugin.
function(ty_serves_plugin target)
  set_target_properties(${target} PROPERTIES ENABLE_EXPORTS ON)
  set(whole "")
  foreach(folder base tensor ops compute_shared)
    list(APPEND whole $<TARGET_FILE:ty_${folder}>)
  endforeach()
  target_link_options(${target} PRIVATE LINKER:--whole-archive ${whole} LINKER:--no-whole-archive)
  target_link_libraries(${target} PRIVATE ty_compute_shared)
  if(TRAINYARD_HAS_CUDA)
    add_dependencies(${target} trainyard_cuda)
  endif()
endfunction()

# ty_gpu_test(NAME SOURCES files... LINK targets... INCLUDE folders...)
# A test that needs a GPU. Without one all of its cases are skipped, and CTest reports that. NVIDIA's libraries are
# TY_CUDNN_LIBRARY, TY_CUBLASLT_LIBRARY and TY_NCCL_LIBRARY: names, as the program may run on another machine than the
# one that built it. CTest adds the folders of this machine to where the loader looks.
function(ty_gpu_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;INCLUDE" ${ARGN})
  ty_absolute(sources ${arg_SOURCES})
  set_property(GLOBAL APPEND PROPERTY ty_gpu_tests ${name})
  set_property(GLOBAL PROPERTY ty_gpu_test_${name}_sources ${sources})
  set_property(GLOBAL PROPERTY ty_gpu_test_${name}_link ${arg_LINK})
  set(folders ${PROJECT_SOURCE_DIR}/tests/device ${CMAKE_CURRENT_SOURCE_DIR} ${arg_INCLUDE})
  set_property(GLOBAL PROPERTY ty_gpu_test_${name}_include ${folders})
  if(NOT TRAINYARD_HAS_CUDA)
    return()
  endif()
  ty_test(${name} LABELS gpu SOURCES ${arg_SOURCES} LINK ${arg_LINK})
  target_include_directories(test_${name} PRIVATE ${folders})
  target_compile_definitions(test_${name} PRIVATE TY_CUDNN_LIBRARY="libcudnn.so.9"
    TY_CUBLASLT_LIBRARY="libcublasLt.so.${CUDAToolkit_VERSION_MAJOR}" TY_NCCL_LIBRARY="libnccl.so.2")
  set(folders "")
  foreach(library ${CUDNN_LIBRARY} ${CUDA_cublasLt_LIBRARY} ${NCCL_LIBRARY})
    cmake_path(GET library PARENT_PATH folder)
    list(APPEND folders "LD_LIBRARY_PATH=path_list_append:${folder}")
  endforeach()
  list(REMOVE_DUPLICATES folders)
  set_tests_properties(${name} PROPERTIES ENVIRONMENT_MODIFICATION "${folders}"
    SKIP_REGULAR_EXPRESSION "cases: +0 . +0 passed . +0 failed . +[1-9][0-9]* skipped")
endfunction()

# ty_gpu_test_on(PART NAME PROGRAM LABELS labels...): builds such a test again, as PROGRAM, on a library that
# replaces the GPU part. Files that end in .cu are C++ there.
function(ty_gpu_test_on part name program)
  cmake_parse_arguments(arg "" "" "LABELS" ${ARGN})
  foreach(what sources link include)
    get_property(${what} GLOBAL PROPERTY ty_gpu_test_${name}_${what})
  endforeach()
  get_property(folders GLOBAL PROPERTY ty_cuda_folders)
  list(REMOVE_ITEM link ${folders})
  set(kernels ${sources})
  list(FILTER kernels INCLUDE REGEX "\\.cu$")
  if(kernels)
    set_source_files_properties(${kernels} PROPERTIES LANGUAGE CXX)
  endif()
  ty_test(${program} LABELS ${arg_LABELS} SOURCES ${sources} LINK ${part} ty_ops ${link})
  target_include_directories(test_${program} PRIVATE ${include})
endfunction()
