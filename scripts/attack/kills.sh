# shellcheck shell=bash disable=SC2034,SC2154  # variables are shared with scripts/attack.sh
# SIGKILL at a random moment; the run is resumed and must end as one that never stopped.

default_count=200

attack() {
  local pid length
  train_whole
  while ((count < $1)); do
    tried
    start killed
    sleep_part 1
    kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
    ends_equal killed "kill $count"
  done
}
