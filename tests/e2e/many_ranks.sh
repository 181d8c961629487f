#!/usr/bin/env bash
# Many ranks on one machine: 256 processes start, train to the bytes of one, and end together.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# shellcheck source=tests/e2e/lib_ranks.sh
source "$(dirname "$0")/lib_ranks.sh"

ranks=256

# What others use of the machine counts against the time only if they leave less than a core.
idle=$(awk -v cores="$(nproc)" '{ print ($1 < cores / 2) ? 1 : 0 }' /proc/loadavg)

write_many_run() {
  write_tiny_run "$1"
  sed -i 's/size: 96/size: 1024/; s/size: 40/size: 256/; s/^batch: .*/batch: {total: 512, shards: 256}/' "$1"
  sed -i 's/^epochs: .*/epochs: 2/' "$1"
}

# timed COMMAND...: fills $code, $out and $err, and the seconds $wall and those of all processors $cpu.
timed() {
  local times
  TIMEFORMAT='%R %U %S'
  { times=$({ time timeout --kill-after=5 600 "$@" >"$scratch/stdout" 2>"$scratch/stderr" </dev/null; } 2>&1); }
  code=$?
  out=$(<"$scratch/stdout")
  err=$(<"$scratch/stderr")
  read -r wall cpu < <(awk '{ print $1, $2 + $3 }' <<<"$times")
}

begin "256 ranks start and train within a minute on two cores, to the bytes of a single rank"
write_many_run many.yaml
timed "${quick[@]}" --config many.yaml --replicas $ranks --out many
expect_code 0
expect_out "$ranks ranks, each CPU, 1 thread, sums in shared memory, global batch 512 = 2 x $ranks"
expect_equal "$(find many/logs -name 'rank*.log' | wc -l)" $((ranks - 1))
run "${quick[@]}" --config many.yaml --replicas 1 --out one
expect_code 0
expect_same_run many one
printf '%s ranks: %s s, %s s of processors\n' $ranks "$wall" "$cpu"
awk -v cpu="$cpu" 'BEGIN { exit !(cpu < 120) }' || fail "$cpu s of processors are more than two cores have in 60 s"
if [[ $idle -eq 1 ]]; then
  awk -v wall="$wall" 'BEGIN { exit !(wall < 60) }' || fail "$wall s are more than 60 s"
fi

begin "one of 256 ranks that is killed ends all with one message that names it"
write_many_run many.yaml
run_until "Epoch 1/" "${quick[@]}" --config many.yaml --replicas $ranks --set epochs=100000 --out killed
kill -KILL "$(rank_process "--out killed" 100)"
wait_for_exit
expect_code 8
expect_out "rank 100 ("
expect_equal "$(grep -c 'train: error' <<<"$out")" 1
expect_nobody_left "--out killed"

finish 2 0
