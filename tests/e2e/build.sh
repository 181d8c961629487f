#!/usr/bin/env bash
# What CMake asks of a machine, on folders that are made up.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

begin "the GPU part wants cuDNN 9.8, and says which one it found"
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
    7) expect_out "lacks: CUDNN 9.8 or newer was not found (9.7.1 was); set CUDNN_ROOT to its folder." ;;
    8) ! grep -q "lacks: CUDNN" <<<"$out" || fail "cuDNN 9.8.1 is not taken: $out" ;;
  esac
done

finish 1 0
