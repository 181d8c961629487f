# shellcheck shell=bash disable=SC2034,SC2154  # variables are shared with scripts/attack.sh
# SIGTERM or SIGINT at a random moment, or at a call that changes the run's folder (mostly during a save), every second
# time repeated soon after: the run ends at once with 128 plus the signal's number (or had ended), and can be resumed.

default_count=200

# start_signalled: starts a run and sends it $signal; appends how to $what.
start_signalled() {
  local twice=$((RANDOM % 2)) then_on=()
  if ((RANDOM % 2)); then
    what+=", call $((1 + RANDOM % calls))"
    if ((twice)); then then_on=(ATTACK_FROM_THEN_ON=1); fi
    start "$PWD/broken" "${attacked_disk[@]}" ATTACK_SIGNAL="$number" ATTACK_AT="${what##* }" "${then_on[@]}"
  else
    start "$PWD/broken"
    sleep_part 1
    kill "-$signal" "$pid" 2>/dev/null || true
    if ((twice)); then
      sleep_part 0.05
      kill "-$signal" "$pid" 2>/dev/null || true
    fi
  fi
  if ((twice)); then what+=", twice"; fi
}

attack() {
  local pid length calls attacked_disk signal number what stopped=0
  train_whole
  make_disk
  while ((count < $1)); do
    tried
    pick TERM INT
    signal=$picked number=$(kill -l "$signal")
    what="SIG$signal $count"
    start_signalled
    wait_for_end "$what"
    judge_code "$what"
    if [[ $code -ne 0 && $code -ne $((128 + number)) ]]; then finding "exit $code: $what"; fi
    [[ $code -eq 0 ]] || stopped=$((stopped + 1))
    ends_equal broken "$what"
  done
  printf 'signals: %s of %s runs were stopped, the others had ended\n' "$stopped" "$count"
}
