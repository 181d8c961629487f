#!/usr/bin/env bash
# Signals: the run finishes the step, saves its state, prints the resume command, and raises the signal again.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# Without gnuplot in PATH an epoch takes milliseconds.

# interrupted_run SIGNAL: a run of 60 epochs in runs/a, ended by SIGNAL after its second epoch.
interrupted_run() {
  write_tiny_run tiny.yaml
  run_until "Epoch 2/" env PATH=/nonexistent "$train" --config tiny.yaml --set epochs=60 --out a
  kill "-$1" "$pid"
  wait_for_exit
}

expect_resumes_to_the_same() {
  run "${quick[@]}" resume a
  expect_code 0
  run "${quick[@]}" --config tiny.yaml --set epochs=60 --out whole
  expect_code 0
  untimed a/metrics.csv >a.csv
  untimed whole/metrics.csv >whole.csv
  expect_file whole.csv
  expect_equal "$(wc -l <a.csv)" 61
  expect_same_file a.csv whole.csv
  local file last
  last=$(cat whole/checkpoints/last)
  expect_equal "$(cat a/checkpoints/last)" "$last"
  for file in whole/checkpoints/"$last"/*.safetensors; do
    expect_same_file "a/${file#whole/}" "$file"
  done
}

begin "Ctrl-C saves and prints the resume command, and the resumed run ends like one never stopped"
interrupted_run INT
expect_code 130
expect_out "train resume"
expect_file a/checkpoints/last
expect_resumes_to_the_same

begin "a resumed run redraws the file of --plot that the first command named, from any folder"
write_tiny_run tiny.yaml
run_until "Epoch 2/" "$train" --config tiny.yaml --set epochs=6 --out a --plot first.svg
kill -INT "$pid"
wait_for_exit
expect_code 130
rm -f first.svg
mkdir elsewhere
cd elsewhere || exit 1
run "$train" resume ../a
expect_code 0
cd .. || exit 1
expect_same_file first.svg a/plots/curves.svg
expect_no_path elsewhere/first.svg

begin "a resume with another --plot draws there, and one whose first folder is gone draws no copy"
write_tiny_run tiny.yaml
mkdir images
run "$train" --config tiny.yaml --set epochs=1 --out a --plot images/first.svg
expect_code 0
rm images/first.svg
run "$train" resume a --set epochs=2 --plot second.svg
expect_code 0
expect_same_file second.svg a/plots/curves.svg
expect_no_path images/first.svg
rmdir images
run "$train" resume a --set epochs=3
expect_code 0
expect_file a/plots/curves.svg
expect_no_path images

begin "SIGTERM does the same"
interrupted_run TERM
expect_code 143
expect_out "train resume"
expect_resumes_to_the_same

begin "a second Ctrl-C ends immediately and loses nothing that was saved"
write_tiny_run tiny.yaml
run_until "Epoch 2/" env PATH=/nonexistent "$train" --config tiny.yaml --set epochs=60 --out a
kill -INT "$pid"
kill -INT "$pid"
wait_for_exit
expect_code 130
expect_resumes_to_the_same

begin "kill -9 loses nothing that was saved"
interrupted_run KILL
expect_code 137
expect_resumes_to_the_same

begin "Ctrl-C ends a shell loop over runs"
write_tiny_run tiny.yaml
# shellcheck disable=SC2016  # expanded by the inner shell
run_until "Epoch 2/" bash -c 'for i in 1 2; do
    PATH=/nonexistent "$0" --config tiny.yaml --set epochs=60 --out "$i"; echo "after $i"
  done' "$train"
kill -INT -- "-$pid"
wait_for_exit
expect_no_out "after 1"
expect_no_path 2

begin "a time limit saves and ends with exit 75"
write_tiny_run tiny.yaml
run "${quick[@]}" --config tiny.yaml --set epochs=100000 --out a --max-time 1
expect_code 75
expect_file a/checkpoints/last

begin "thousands of signals during matrix products change nothing"
write_tiny_run tiny.yaml
sed -i 's/^    - dense: 4/    - dense: 256\n    - dense: 4/' tiny.yaml
run env PATH=/nonexistent "$train" --config tiny.yaml --set epochs=200 --out quiet
expect_code 0
run_until "Epoch 2/" env PATH=/nonexistent "$train" --config tiny.yaml --set epochs=200 --out loud
for ((sent = 0; sent < 10000; ++sent)); do kill -USR2 "$pid" || break; done
wait_for_exit
expect_code 0
expect_equal "$sent" 10000
untimed quiet/metrics.csv >quiet.csv
untimed loud/metrics.csv >loud.csv
expect_same_file quiet.csv loud.csv
expect_same_file quiet/weights/last.safetensors loud/weights/last.safetensors

# hanging_gnuplot: a gnuplot in bin/ that never ends.
hanging_gnuplot() {
  mkdir bin
  mkfifo gate
  printf '#!/bin/sh\nread line <"%s/gate"\n' "$PWD" >bin/gnuplot
  chmod +x bin/gnuplot
}

begin "a gnuplot that hangs does not keep a run from stopping, and is one warning"
write_tiny_run tiny.yaml
hanging_gnuplot
run_until "Epoch 2/" env PATH="$PWD/bin" "$train" --config tiny.yaml --set epochs=2000 --out a
began=$SECONDS
kill -TERM "$pid"
wait_for_exit
expect_code 143
[[ $((SECONDS - began)) -lt 30 ]] || fail "waited for gnuplot"
expect_equal "$(grep -c "the plots lack the last epochs" "$scratch/lines")" 1
expect_equal "$(grep -c "the plots lack the last epochs" a/summary.txt)" 1
expect_file a/checkpoints/last

begin "a gnuplot that hangs at the end of a run is also killed by a signal"
write_tiny_run tiny.yaml
hanging_gnuplot
run_until "Epoch 2/2" env PATH="$PWD/bin" "$train" --config tiny.yaml --set epochs=2 --out a
until [[ -s a/weights/best.safetensors ]]; do kill -0 "$pid" || break; done # then it waits for gnuplot
began=$SECONDS
kill -TERM "$pid"
wait_for_exit
[[ $((SECONDS - began)) -lt 30 ]] || fail "waited for gnuplot"
expect_out "the plots lack the last epochs"
expect_file a/summary.txt
grep -q '"state": "completed"' a/status.json || fail "the run is not complete"

finish 11 0
