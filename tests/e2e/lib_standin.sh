# shellcheck shell=bash
# For scripts about GPUs simulated by stand-ins, sourced after lib.sh and lib_ranks.sh.
# shellcheck disable=SC2154  # variables of these

# These cases use GPUs, and choose engines afresh.
unset CUDA_VISIBLE_DEVICES
export STANDIN_CACHE=$scratch/cache

build=$(dirname "$(dirname "$train")")

# begin_on_gpus TEXT: a case that needs stand-ins, with its run; false if none were built.
begin_on_gpus() {
  begin "$1"
  write_tiny_run tiny.yaml
  [[ -e $build/lib/standin/libtrainyard_cuda_standin.so ]] ||
    { skip "NVIDIA's headers were missing when this was built" && return 1; }
}

# on GPUS FLAGS...: runs the program's tiny run with FLAGS on a machine with GPUS; fills $code, $out and
# $err.
on() {
  local gpus=$1
  shift
  run "$source_dir/scripts/standin.sh" --build "$build" "$gpus" "${quick[@]}" "$@"
}

# $two_ranks VARIABLES VARIABLES COMMAND...: acts as a launcher that starts ranks 0 and 1 on this machine,
# each with its variables. Keeps the output of rank 0, and its exit code unless that is 0.
two_ranks=(bash "$scratch/two_ranks.sh")
cat >"${two_ranks[1]}" <<'SH'
first=$1 second=$2
shift 2
env $second "$@" >other.log 2>&1 &
env $first "$@" || exit
wait $!
SH

# on_two GPUS VARIABLES VARIABLES FLAGS...: the program's tiny run on two such ranks. (With ASan, leak
# detection is off: its tracer occasionally crashes at the end of such a rank.)
on_two() {
  local gpus=$1 variables=("${@:2:2}")
  shift 3
  run env ASAN_OPTIONS=detect_leaks=0 "$source_dir/scripts/standin.sh" --build "$build" "$gpus" "${two_ranks[@]}" "${variables[@]}" "${quick[@]}" "$@"
}
