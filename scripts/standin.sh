#!/usr/bin/env bash
# Runs a command with stand-ins of GPUs: the GPU part on the CPU, for tests (tests/standin/README.md). It is
# slow, and says nothing about a GPU's speed.
#
#   scripts/standin.sh [--build DIR] GPUS COMMAND...
#
# GPUS is a number, or a list of kinds: h200,rtx4090 (also a100, rtx5090, t4). DIR is the build whose
# stand-ins are used: by default that of the command (its ../), else build/release. More environment
# variables: failures by STANDIN_FAULTS and STANDIN_ONCE (tests/standin/faults.h), the simulated machine by
# STANDIN_MEMORY_MIB, STANDIN_DRIVER and STANDIN_COMPUTE_MODE (tests/standin/runtime/kinds.h). Timed engines
# are stored in STANDIN_CACHE, by default next to the stand-ins.

set -euo pipefail

usage() {
  sed -n '2,/^$/s/^# \{0,1\}//p' "$0" >&2
  exit 2
}

build=""
if [[ ${1-} == --build ]]; then
  build=${2:?--build requires a folder}
  shift 2
fi
[[ $# -ge 2 && $1 != -* ]] || usage
gpus=$1
shift

# build_of PROGRAM: the build that contains it, in bin/ or elsewhere; "" for none.
build_of() {
  local folder
  folder=$(dirname "$(readlink -f "$(command -v "$1" || echo "$1")")")
  while [[ $folder != / && ! -d $folder/lib/standin ]]; do folder=$(dirname "$folder"); done
  [[ $folder == / ]] || echo "$folder"
}

[[ -n $build ]] || build=$(build_of "$1")
[[ -n $build ]] || build=$(dirname "$(readlink -f "$0")")/../build/release
standin=$(readlink -f "$build")/lib/standin
if [[ ! -e $standin/libtrainyard_cuda_standin.so ]]; then
  echo "${0##*/}: $build has no stand-ins (lib/standin); build it with NVIDIA's headers installed" >&2
  exit 1
fi

# The GPU usage of this machine's processes, as a driver tracks it: an unnamed file that disappears with the
# last of them.
state=$(mktemp)
exec {descriptor}<>"$state"
rm "$state"
export STANDIN_STATE=/proc/$$/fd/$descriptor

export STANDIN_GPUS=$gpus
export TRAINYARD_GPU_PART=$standin/libtrainyard_cuda_standin.so
export TRAINYARD_CUDA_PATH=$standin
# The driver's own libraries have no path of their own.
export LD_LIBRARY_PATH=$standin${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# Keep engines timed here apart from those of a real GPU with the same name.
export XDG_CACHE_HOME=${STANDIN_CACHE:-$standin/cache}
exec "$@"
