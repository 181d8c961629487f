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

# $two_ranks VARIABLES VARIABLES COMMAND...: what a launcher does that starts ranks 0 and 1 on this machine,
# each with its variables. What rank 0 prints is kept, and its code unless that is 0.
two_ranks=(bash "$scratch/two_ranks.sh")
cat >"${two_ranks[1]}" <<'SH'
first=$1 second=$2
shift 2
env $second "$@" >other.log 2>&1 &
env $first "$@" || exit
wait $!
SH

# on_two GPUS VARIABLES VARIABLES FLAGS...: the program's tiny run by two such ranks. (In a build with ASan no
# leaks are looked for: its tracer crashes now and then at the end of such a rank.)
on_two() {
  local gpus=$1 variables=("${@:2:2}")
  shift 3
  run env ASAN_OPTIONS=detect_leaks=0 "$source_dir/scripts/standin.sh" --build "$build" "$gpus" "${two_ranks[@]}" "${variables[@]}" "${quick[@]}" "$@"
}
