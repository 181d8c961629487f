#!/usr/bin/env bash
# CMake's requirements, on made-up folders.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

begin "the GPU part requires cuDNN 9.8, and names the version found"
cat >CMakeLists.txt <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(asks CXX)
list(APPEND CMAKE_MODULE_PATH "$source_dir/cmake")
include(CudaLibraries)
message(STATUS "lacks: \${TRAINYARD_CUDA_LACKS}.")
CMAKE
mkdir -p cudnn/include cudnn/lib
touch cudnn/lib/libcudnn.so.9
for minor in 7 8; do
  printf '#define CUDNN_%s\n' 'MAJOR 9' "MINOR $minor" 'PATCHLEVEL 1' >cudnn/include/cudnn_version.h
  run cmake -G Ninja -B "build$minor" -D CUDNN_ROOT="$PWD/cudnn" -D CUDA_WHEELS=
  expect_code 0
  case $minor in
    7) expect_out "lacks: CUDNN 9.8 or newer was not found (found 9.7.1); set CUDNN_ROOT to its folder." ;;
    8) ! grep -q "lacks: CUDNN" <<<"$out" || fail "cuDNN 9.8.1 is not taken: $out" ;;
  esac
done

begin "without NVIDIA's headers stand-ins are left out, or refused if requested"
cat >CMakeLists.txt <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(asks CXX)
list(APPEND CMAKE_MODULE_PATH "$source_dir/cmake")
include(TrainyardStandin)
message(STATUS "stand-ins: \${TRAINYARD_HAS_STANDIN}.")
CMAKE
nothing=(-D CMAKE_FIND_ROOT_PATH=/nonexistent -D CMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY -D CUDA_WHEELS=)
run cmake -G Ninja -B auto "${nothing[@]}"
expect_code 0
expect_out "No stand-ins of NVIDIA's libraries: cuda_runtime_api.h was not found"
expect_out "stand-ins: OFF."
run cmake -G Ninja -B on "${nothing[@]}" -D TRAINYARD_STANDIN=ON
expect_code 1
expect_err "TRAINYARD_STANDIN=ON, but cuda_runtime_api.h was not found: install it"

finish 2 0
