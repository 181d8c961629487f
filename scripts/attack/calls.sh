# shellcheck shell=bash disable=SC2034,SC2154  # variables are shared with scripts/attack.sh
# Every call that changes the folder of a run, in turn: the process is killed there, then the call fails (exit 7, or 0
# if it did not matter). Two runs: one that keeps a single checkpoint and of which every epoch is the best so far,
# and one that writes texts. A smaller COUNT is spread over all calls. Resumed, each must end like an uninterrupted run.

default_count=0 # all

# attack_calls RUN COUNT: of run.yaml, which is called RUN.
attack_calls() {
  local pid length calls attacked_disk what n i turns
  train_whole
  make_disk
  printf 'calls: %s calls change the folder of the run %s\n' "$calls" "$1"
  turns=$(($2 > 0 && $2 < 2 * calls ? ($2 + 1) / 2 : calls)) # turns of two attacks, but for perhaps the last
  for ((i = 0; i < turns; ++i)); do
    n=$((1 + (2 * i + 1) * calls / (2 * turns)))
    tried
    what="killed at call $n of $calls of the run $1"
    start "$PWD/broken" "${attacked_disk[@]}" ATTACK_SIGNAL=9 ATTACK_AT="$n"
    wait "$pid" 2>/dev/null || true
    ends_equal broken "$what"
    ((2 * i + 1 < $2 || $2 == 0)) || break
    tried
    what="call $n of $calls of the run $1 failed"
    on_attacked_disk ATTACK_AT="$n"
    [[ $code -eq 0 || $code -eq 7 ]] || finding "exit $code instead of 7: $what"
    ends_equal broken "$what"
  done
}

attack() {
  write_run run.yaml
  sed -i 's/^checkpoint: .*/checkpoint: {every: 1 epoch, keep: 1, best: {metric: val_loss}}/' run.yaml
  attack_calls best "$((($1 + 1) / 2))"
  rm -rf whole
  write_text_run run.yaml
  attack_calls texts "$((($1 + 1) / 2))"
}
