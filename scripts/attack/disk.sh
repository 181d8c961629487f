# shellcheck shell=bash disable=SC2034,SC2154  # variables are shared with scripts/attack.sh
# The n-th call that changes the run's folder fails, once or from then on, for every n (a smaller COUNT is spread
# over all of them), and for every second n also a random writing or reading call of the resume: the run ends with
# exit 7 (3 if its config cannot be read, 9 if no checkpoint can), or with 0 if the call did not matter, and can
# be resumed.

default_count=400

attack() {
  local length calls attacked_disk turns i n then_on reads what refused=0
  train_whole
  make_disk
  printf 'disk: %s calls change the folder of a run\n' "$calls"
  turns=$(((${1} + 1) / 2 < calls ? (${1} + 1) / 2 : calls)) # each fails once, and from then on
  for ((i = 0; i < 2 * turns; ++i)); do
    tried
    n=$((i / 2))
    n=$((1 + n * calls / turns))
    then_on=()
    what="call $n of $calls failed"
    if ((i % 2)); then then_on=(ATTACK_FROM_THEN_ON=1) what+=", and all after it"; fi
    on_attacked_disk ATTACK_AT="$n" "${then_on[@]}"
    if [[ $code -ne 0 && $code -ne 7 ]]; then finding "exit $code instead of 7: $what"; fi
    [[ $code -ne 7 ]] || refused=$((refused + 1))
    if ((n % 2)) && [[ $code -eq 7 && -f broken/config.yaml ]]; then
      pick write read
      n=$((1 + RANDOM % (calls / 2))) reads=()
      if [[ $picked == read ]]; then n=$((1 + RANDOM % 40)) reads=(ATTACK_READS=1); fi
      what+=", then $picked $n of the resume"
      on_attacked_disk ATTACK_AT="$n" "${then_on[@]}" "${reads[@]}"
      if [[ ! $code =~ ^[0379]$ ]]; then finding "exit $code instead of 7: $what"; fi
    fi
    ends_equal broken "$what"
  done
  printf 'disk: %s of %s runs ended with exit 7, the others did not need the call\n' "$refused" "$count"
  [[ $refused -gt 0 ]] || finding "no failing call was noticed"
}
