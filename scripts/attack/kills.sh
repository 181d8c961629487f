# shellcheck shell=bash disable=SC2034,SC2154  # variables are shared with scripts/attack.sh
# SIGKILL at a random moment, every second time at a call that changes the run's folder; every third resume is killed
# too. The last resume must end like an uninterrupted run.

default_count=200

# kill_once: starts or resumes broken/ and kills it; appends to $what.
kill_once() {
  if ((RANDOM % 2)); then
    what+=", at call $((1 + RANDOM % calls))"
    start "$PWD/broken" "${attacked_disk[@]}" ATTACK_SIGNAL=9 ATTACK_AT="${what##* }"
  else
    start "$PWD/broken"
    sleep_part 1
    kill -KILL "$pid" 2>/dev/null || true
  fi
  code=0
  wait "$pid" 2>/dev/null || code=$?
  [[ $code -ne 137 ]] || killed=$((killed + 1))
}

attack() {
  local pid length calls attacked_disk what killed=0 again
  train_whole
  make_disk
  while ((count < $1)); do
    what="kill"
    again=0
    while ((count < $1 && again == 0)); do
      tried
      what+=" $count"
      kill_once
      again=$((RANDOM % 3))
    done
    ends_equal broken "$what"
  done
  printf 'kills: %s of %s runs were killed, the others had ended\n' "$killed" "$count"
}
