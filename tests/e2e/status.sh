#!/usr/bin/env bash
# status.json during a run, and the verdict of `train doctor RUN` on it.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# Without gnuplot in PATH an epoch takes milliseconds.
mkfifo "$scratch/silent"
exec 8<>"$scratch/silent" # no one writes to it: used for short waits

field() { sed -n "s/^  \"$1\": \"*\([^\",]*\)\"*,*\$/\1/p" a/status.json; }

# start FLAGS...: the tiny run in folder a, in the background.
start() {
  write_tiny_run tiny.yaml
  "${quick[@]}" --config tiny.yaml --out a "$@" >lines 2>&1 </dev/null &
  pid=$!
}

# wait_for COMMAND...: waits until it succeeds, as long as the run is alive.
wait_for() {
  until "$@" 2>/dev/null; do
    kill -0 "$pid" 2>/dev/null || {
      fail "the run ended before: $*"
      return 1
    }
    read -r -t 0.2 -u 8 _
  done
}
in_phase() { [[ $(field phase) == "$1" ]]; }
is_past_step() { [[ $(field step) -gt $1 ]]; }
is_later_than() { [[ $(field updated) > $1 ]]; }
is_stopped() { grep -q '^State:.*T' "/proc/$pid/status"; }

# expect_verdict VERDICT CODE: doctor's verdict on folder a.
expect_verdict() {
  run "$train" doctor a
  expect_code "$2"
  expect_out_match "^$1: a"
}

kill_run() {
  kill -KILL "$pid"
  wait "$pid" 2>/dev/null
  code=$?
  expect_code 137
}

begin "status.json is updated within an epoch, and doctor distinguishes working, stopped and dead"
start --set data.train.size=20000000 --set data.train.shuffle=false --set 'data.preprocess=[scale: 1]'
wait_for is_past_step 0
first=$(field step)
expect_equal "$(field state) $(field phase) $(field epoch)" "running training 0"
for name in loss eta_seconds images_per_s; do expect_differs "$(field $name)" null; done
wait_for is_past_step "$first"
expect_verdict working 10
expect_out "a is training"
expect_out_match "epoch 1 of 3, step [0-9]+ of [0-9]+, loss [0-9.e+-]+, [0-9.]+ img/s, [0-9:]+ left"
kill -STOP "$pid"
wait_for is_stopped
expect_verdict hangs 11
expect_out "kill -CONT $pid"
kill -CONT "$pid"
expect_verdict working 10
kill_run
expect_verdict dead 12
expect_out "process $pid on $(uname -n) has ended without saying why"

begin "an evaluation is reported, and shows progress"
start --set data.val.size=20000000
wait_for in_phase evaluating
progressed=$(field progressed)
wait_for is_later_than "$progressed"
expect_verdict working 10
expect_out "a is evaluating"
expect_differs "$(field progressed)" "$progressed"
kill_run

begin "a long read at the start is reported, and if killed leaves a folder that can be reused"
start --set data.train.size=100000000 --set 'data.preprocess=[mean_image: train]'
wait_for in_phase reading_data
expect_equal "$(field state)" starting
expect_verdict working 10
expect_out "a is reading data"
kill_run
expect_verdict dead 12
expect_out "start it again"
run "${quick[@]}" --config tiny.yaml --out a
expect_code 0
expect_verdict complete 0

begin "the verdict on an ended run is how it ended, with its exit code"
write_tiny_run tiny.yaml
run "${quick[@]}" --config tiny.yaml --out a
expect_verdict complete 0
expect_out "epoch 3 of 3, step 18 of 18"
run "$train" doctor a --json
expect_code 0
expect_out_match '^\{"run":"a","verdict":"complete","exit_code":0,.*"phase":"completed",.*\}$'
run "${quick[@]}" resume a --set epochs=100000 --max-time 1
expect_code 75
expect_verdict stopped 75
expect_out "train resume 'a'"
run "${quick[@]}" resume a --set optimizer.sgd.lr=1e30
expect_verdict diverged 5
expect_out "not finite"

begin "a failed attempt to extend a complete run leaves its status"
write_tiny_run tiny.yaml
run "${quick[@]}" --config tiny.yaml --out a
before=$(field step) best=$(grep -A 3 '"best"' a/status.json)
run "${quick[@]}" resume a --set epochs=4 --set data.train.size=8 --changed-data
expect_code 3
expect_equal "$(field state) $(field step)" "completed $before"
expect_equal "$(grep -A 3 '"best"' a/status.json)" "$best"

begin "doctor on a folder that is not a run says so"
mkdir empty
for folder in empty nowhere; do
  run "$train" doctor $folder
  expect_code 2
  expect_err "run folder"
done

finish 6 0
