# shellcheck shell=bash
# What the GPU part is built with, for the scripts. Source it after lib.sh.

# Whether prepare_cuda has found what the GPU part needs: yes or empty.
has_gpu_part=

# driver_cuda: the CUDA version, 12 or 13, of NVIDIA's driver; nothing without one.
driver_cuda() {
  local version
  version=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1) || return 0
  [[ ! $version =~ ^[0-9]+ ]] || echo $((BASH_REMATCH[0] >= 580 ? 13 : 12))
}

# architectures: the GPUs of this machine as CMake writes them, 90-real; nothing without a driver.
architectures() {
  local all
  all=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d '. ' | sort -u | sed 's/$/-real/') || return 0
  [[ ! $all =~ ^[0-9] ]] || paste -sd ';' <<<"$all"
}

# cuda_found: the CUDA version of the toolkit with which CMake would build the GPU part; nothing if it lacks something.
cuda_found() {
  cmake --preset release "${configure_options[@]}" >build/cuda.log 2>&1 || {
    cat build/cuda.log >&2
    die "cmake --preset release failed"
  }
  sed -n 's/^-- GPU part: CUDA \([0-9]*\)\..*/\1/p' build/cuda.log
}

# use_wheels CUDA: NVIDIA's wheels for 13 have a compiler too; those for 12 need an installed toolkit.
use_wheels() {
  scripts/cuda_wheels.sh "build/cuda$1" "$1"
  rm -f build/release/CMakeCache.txt # another compiler may be in it
  ln -sfn "cuda$1/nvidia" build/nvidia # where the program looks for libraries
  local wheels=$PWD/build/nvidia
  configure_options+=(-D "CUDA_WHEELS=$wheels")
  [[ $1 -ne 13 ]] || configure_options+=(-D "TRAINYARD_NVCC=$wheels/cu13/bin/nvcc"
    -D "CMAKE_CUDA_COMPILER=$wheels/cu13/bin/nvcc" -D "CUDAToolkit_ROOT=$wheels/cu13")
}

# toolkit_of CUDA: whether a toolkit of that version is installed.
toolkit_of() {
  PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin:/usr/local/cuda/bin nvcc --version 2>/dev/null | grep -q "release $1\."
}

# prepare_cuda CUDA: makes configure_options build the GPU part for a driver of CUDA 12 or 13, and sets has_gpu_part.
prepare_cuda() {
  mkdir -p build
  local chosen
  chosen=$(architectures)
  configure_options=(-D TRAINYARD_CUDA=AUTO ${chosen:+-D "CMAKE_CUDA_ARCHITECTURES=$chosen"})
  local found
  found=$(cuda_found)
  if [[ -z $found ]] && { [[ $1 -eq 13 ]] || toolkit_of 12; }; then
    use_wheels "$1"
    found=$(cuda_found)
    [[ -n $found ]] || die "$(sed -n 's/^-- No GPU part/no GPU part/p' build/cuda.log)"
  fi
  if [[ -n $found && $found -le $1 ]]; then
    say "the GPU part is built with CUDA $found"
    # shellcheck disable=SC2034  # used by the scripts that source this
    has_gpu_part=yes
    return
  fi
  configure_options=(-D TRAINYARD_CUDA=OFF)
  say "the driver supports CUDA $1${found:+, the toolkit is $found}; the CPU trains. For the GPU install a driver from 580" \
    "on, or the CUDA toolkit 12.8 or 12.9 (its compiler is not on PyPI)"
}
