# shellcheck shell=bash
# For the scripts about GPUs that stand-ins play, behind lib.sh and lib_ranks.sh.
# shellcheck disable=SC2154  # variables of these

# These cases are about GPUs, and choose engines anew.
unset CUDA_VISIBLE_DEVICES
export STANDIN_CACHE=$scratch/cache

build=$(dirname "$(dirname "$train")")

# begin_on_gpus TEXT: a case that wants stand-ins, with its run; false where none were built.
begin_on_gpus() {
  begin "$1"
  write_tiny_run tiny.yaml
  [[ -e $build/lib/standin/libtrainyard_cuda_standin.so ]] ||
    { skip "NVIDIA's headers were not there when this was built" && return 1; }
}

# on GPUS FLAGS...: runs the program's tiny run with these on a machine with those GPUs, into $code, $out and
# $err.
on() {
  local gpus=$1
  shift
  run "$source_dir/scripts/standin.sh" --build "$build" "$gpus" "${quick[@]}" "$@"
}
