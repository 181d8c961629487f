# shellcheck shell=bash disable=SC2034,SC2154  # variables are shared with scripts/attack.sh
# SIGSTOP of a rank or of the launcher at a random moment: if it continues soon, nothing happens; if a rank does not,
# the run ends with 8 within its limits, names the rank, leaves no process, and can be resumed. Only rank 0, after all
# others have left, has no limit: it may be saving, and then behaves like a single-process run.

default_count=40 # each rank that is stopped for good takes 20 seconds

ranks_of() { pgrep -f -- "--out $PWD/still( |\$)"; }
none_is_left() { ! ranks_of; }

# stop_one: stops one of the run's processes, stored in $victim, unless all have ended.
stop_one() {
  local processes
  mapfile -t processes < <(ranks_of)
  [[ ${#processes[@]} -gt 0 ]] || return 1
  pick "${processes[@]}"
  victim=$picked
  kill -STOP "$victim" 2>/dev/null
}

is_rank_0() { tr '\0' '\n' 2>/dev/null <"/proc/$1/environ" | grep -qx RANK=0; }

attack() {
  local pid length what victim kind began waker ranks=(--replicas 3) most_seconds=90 ended=0
  write_run run.yaml
  sed -i -E 's/per_gpu: 16/per_gpu: 4/; s/every: 2 steps/every: 4 steps/; s/^epochs: .*/epochs: 16/' run.yaml
  echo 'limits: {first_step: 10, step: 5, silence: 2}' >>run.yaml
  train_whole
  while ((count < $1)); do
    tried
    start "$PWD/still"
    sleep_part 1
    pick "for good" "for a moment"
    kind=$picked
    what="SIGSTOP $count $kind"
    began=$SECONDS waker=
    if stop_one; then
      if [[ $victim -eq $pid ]]; then what+=" of the launcher" kind="for a moment"; fi
      if [[ $kind == "for a moment" ]]; then
        sleep_part 0.5
        kill -CONT "$victim" 2>/dev/null || true
      elif is_rank_0 "$victim"; then
        { sleep 45 && kill -CONT "$victim"; } 2>/dev/null &
        waker=$!
      fi
    fi
    wait_for_end "$what"
    [[ -z $waker ]] || kill "$waker" 2>/dev/null || true
    judge_code "$what"
    if [[ $code -eq 8 && $kind == "for good" ]]; then
      ended=$((ended + 1))
      grep -q 'rank [0-2] (' log || finding "the message names no rank: $what"
      ((SECONDS - began <= 40)) || finding "it took $((SECONDS - began)) s: $what"
    elif [[ $code -ne 0 ]]; then
      finding "exit $code: $what"
    fi
    await none_is_left || finding "a rank is left: $what"
    ends_equal "$PWD/still" "$what"
  done
  printf 'still: %s of %s runs ended with exit 8, the others normally\n' "$ended" "$count"
}
