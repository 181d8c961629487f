# How every target of the project is compiled, and the two functions that make them.

add_library(trainyard_options INTERFACE)
target_include_directories(trainyard_options INTERFACE ${PROJECT_SOURCE_DIR}/src)
# The baseline is x86-64-v2; launchers compile their loops for v3 and v4. Contraction is off so that
# every device rounds alike. -Wrestrict is left out: GCC 12 raises it falsely on std::string
# concatenation (GCC bug 105329); missing initializers are the point of designated ones. Clang, which
# builds the fuzzer, lacks -Wrestrict and GCC's pragma for loops.
set(host_options -ffp-contract=off -fno-math-errno -Wall -Wextra -Wpedantic -Wshadow
  -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(APPEND host_options -Wno-unknown-pragmas)
else()
  list(APPEND host_options -Wno-restrict)
endif()
if(TRAINYARD_WARNINGS_AS_ERRORS)
  list(APPEND host_options -Werror)
endif()
if(TRAINYARD_SANITIZE)
  list(APPEND host_options
    -fsanitize=${TRAINYARD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(trainyard_options INTERFACE -fsanitize=${TRAINYARD_SANITIZE})
endif()
# What nvcc writes for the host compiler is neither pedantic nor free of shadows.
set(behind_nvcc ${host_options})
list(REMOVE_ITEM behind_nvcc -Wpedantic -Wshadow)
list(JOIN behind_nvcc , behind_nvcc)
set(nvcc_options -fmad=false -Xcompiler=${behind_nvcc})
if(TRAINYARD_WARNINGS_AS_ERRORS)
  list(APPEND nvcc_options -Werror=all-warnings)
endif()
target_compile_options(trainyard_options INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:${host_options}>" "$<$<COMPILE_LANGUAGE:CUDA>:${nvcc_options}>")

# ty_library(NAME SOURCES files... LINK targets... PRIVATE targets...)
# One static library a folder of src/.
function(ty_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;PRIVATE" ${ARGN})
  add_library(ty_${name} STATIC ${arg_SOURCES})
  target_link_libraries(ty_${name} PUBLIC trainyard_options ${arg_LINK} PRIVATE ${arg_PRIVATE})
endfunction()

# The tests labelled "threads", of what works with threads of its own: those that TSan watches.
add_custom_target(tests_of_threads)

# ty_test(NAME LABELS labels... SOURCES files... LINK targets... [TIMEOUT seconds])
# One doctest program a folder of tests/.
function(ty_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "LABELS;SOURCES;LINK" ${ARGN})
  add_executable(test_${name} ${arg_SOURCES} $<TARGET_OBJECTS:ty_test_main>)
  target_link_libraries(test_${name} PRIVATE ${arg_LINK})
  target_compile_definitions(test_${name} PRIVATE
    TY_SOURCE_DIR="${PROJECT_SOURCE_DIR}" TY_BINARY_DIR="${PROJECT_BINARY_DIR}")
  add_test(NAME ${name} COMMAND test_${name})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}"
    ENVIRONMENT "OMP_WAIT_POLICY=passive;TRAINYARD_DATA=$ENV{TRAINYARD_DATA}")
  if(threads IN_LIST arg_LABELS)
    add_dependencies(tests_of_threads test_${name})
  endif()
  if(arg_TIMEOUT)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT})
  endif()
endfunction()
