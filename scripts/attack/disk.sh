# shellcheck shell=bash disable=SC2034,SC2154  # variables are shared with scripts/attack.sh
# The n-th call that changes the run's folder fails, once or from there on, for every n (COUNT spreads fewer
# over all of them): the run ends with exit 7, or with 0 where the call did not matter, and can be gone on with.

default_count=120

attack() {
  local length calls turns i n then_on what refused=0
  train_whole
  cc -shared -fPIC -O1 -o failing_disk.so "$folder_of_parts/failing_disk.c" -ldl
  # A program under ASan wants to be told that another library may come before its own.
  local failing=(env PATH=/nonexistent ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD="$PWD/failing_disk.so" ATTACK_FOLDER="$PWD/broken")
  attempt "${failing[@]}" ATTACK_COUNT_FILE="$PWD/calls" "$train" --config run.yaml --gpus 0 --out "$PWD/broken"
  rm -rf broken
  calls=$(<calls)
  [[ $calls -ge 50 ]] || die "only $calls calls were seen"
  printf 'disk: %s calls change the folder of a run\n' "$calls"
  turns=$(((${1} + 1) / 2 < calls ? (${1} + 1) / 2 : calls)) # each fails once, and from there on
  for ((i = 0; i < 2 * turns; ++i)); do
    tried
    n=$((i / 2))
    n=$((1 + n * calls / turns))
    then_on=()
    what="call $n of $calls failed"
    if ((i % 2)); then then_on=(ATTACK_FROM_THEN_ON=1) what+=", and all after it"; fi
    attempt "${failing[@]}" ATTACK_FAIL_AT="$n" "${then_on[@]}" "$train" --config run.yaml --gpus 0 --out "$PWD/broken"
    if [[ $code -ne 0 && $code -ne 7 ]]; then finding "exit $code instead of 7: $what"; fi
    [[ $code -ne 7 ]] || refused=$((refused + 1))
    ends_equal broken "$what"
  done
  printf 'disk: %s of %s runs ended with exit 7, the others needed the call not\n' "$refused" "$count"
  [[ $refused -gt 0 ]] || finding "no failing call was noticed"
}
