# shellcheck shell=bash disable=SC2034,SC2154  # variables are shared with scripts/attack.sh
# SIGTERM or SIGINT at a random moment, every second time once more soon after: the run ends at once with
# 128 and the signal's number (or had ended), and can be gone on with.

default_count=200

attack() {
  local pid length signal what
  train_whole
  while ((count < $1)); do
    tried
    pick TERM INT
    signal=$picked
    what="SIG$signal $count"
    start stopped
    sleep_part 1
    kill "-$signal" "$pid" 2>/dev/null || true
    if ((RANDOM % 2)); then
      what+=", twice"
      sleep_part 0.05
      kill "-$signal" "$pid" 2>/dev/null || true
    fi
    wait_for_end "$what"
    judge_code "$what"
    if [[ $code -ne 0 && $code -ne $((128 + $(kill -l "$signal"))) ]]; then finding "exit $code: $what"; fi
    ends_equal stopped "$what"
  done
}
