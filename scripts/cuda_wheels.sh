#!/usr/bin/env bash
# Installs NVIDIA's wheels from PyPI into FOLDER/nvidia, in pinned versions, their hashes checked, without root: for
# CUDA 13 a compiler and the libraries of the GPU part (1.2 GB to download, 3 GB on disk); for CUDA 12, whose compiler is
# not on PyPI, what a toolkit lacks, cuDNN and NCCL.
#
#   scripts/cuda_wheels.sh FOLDER 12|13

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

[[ $# -eq 2 && $2 =~ ^1[23]$ ]] || die "requires a folder, and 12 or 13"
[[ ! -d $1 ]] || exit 0

# CMake and the linker search for names without a version, in lib64.
name_libraries() {
  local file
  ln -s lib "$1/lib64"
  for file in "$1"/lib/lib*.so.*; do
    [[ -e ${file%%.so.*}.so ]] || ln -s "${file##*/}" "${file%%.so.*}.so"
  done
}

python3 -m pip --version >/dev/null 2>&1 || install_missing python3-pip
rm -rf "$1.new"
requirements=(--requirement "scripts/cuda$2.txt")
[[ $2 -ne 13 ]] || requirements+=(--requirement scripts/cuda13_compiler.txt)
say "downloading NVIDIA's wheels for CUDA $2 (scripts/cuda$2.txt) into $1"
python3 -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
  --target "$1.new" "${requirements[@]}"
[[ ! -d $1.new/nvidia/cu13 ]] || name_libraries "$1.new/nvidia/cu13"
mv "$1.new" "$1"
