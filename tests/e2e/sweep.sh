#!/usr/bin/env bash
# train sweep and scripts/sweep.sh: the runs of a grid, their table, and what a kill, a failure and Ctrl-C leave.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/lib_sweep.sh
source "$(dirname "$0")/lib_sweep.sh"

begin "a sweep that is killed and started again gives the table of one left alone"
killed_sweep "1/3" --grid optimizer.sgd.lr=0.01,0.05,0.1 --set epochs=60

begin "a key that no config has is told before anything starts"
write_tiny_run tiny.yaml
run "${quick[@]}" sweep tiny.yaml --grid optimizer.sgd.lrr=1,2
expect_code 3
expect_err "--set optimizer.sgd.lrr:1:1: unknown key 'lrr' in 'sgd'; did you mean 'lr'?"
expect_no_path sweeps
run "${quick[@]}" sweep tiny.yaml --grid epochs=1,0
expect_code 3
expect_err "'epochs' must be"
expect_no_path sweeps
run "${quick[@]}" sweep tiny.yaml --grid optimizer.sgd.lr=0.1,0.10
expect_code 2
expect_err "the runs lr=0.1 and lr=0.10 have the same config"
run "${quick[@]}" sweep tiny.yaml --grid optimizer.sgd.lr=log:1e-4..1e-1
expect_code 2
expect_err "a range needs --random N"
run "${quick[@]}" sweep tiny.yaml
expect_code 2
expect_err "a sweep needs values: --grid KEY=VALUES, or --seeds N for N seeds"
run "${quick[@]}" sweep tiny.yaml --random 3 --grid optimizer.sgd.lr=log:1e-4..1e-1 --dry-run
expect_code 0
expect_out_match '^lr=0.[0-9]+: to start'
expect_equal "$(wc -l <<<"$out")" 3
expect_no_path sweeps

begin "runs that fail or diverge do not end the others, and the exit code says so"
write_tiny_run tiny.yaml
run "${quick[@]}" sweep tiny.yaml --grid data.train.size=96,4 --grid optimizer.sgd.lr=0.05,1e30 --set epochs=1 --jobs 2
expect_code 3
expect_out "4 runs: 1 completed, 1 diverged, 2 failed"
expect_out "the training split has 4 samples, fewer than one global batch of 16"
expect_equal "$(wc -l <sweeps/tiny/table.csv)" 5
expect_equal "$(cut -d , -f 2,3 sweeps/tiny/table.csv | tr '\n' ' ')" "state,exit_code complete,0 diverged,5 failed,3 failed,3 "
run "${quick[@]}" sweep tiny.yaml --grid data.train.size=96 --grid optimizer.sgd.lr=0.05,1e30 --set epochs=1
expect_code 5
expect_out "2 runs, 1 at a time: 2 finished, 0 to resume, 0 new"

begin "another config in a run's folder is refused before anything starts"
write_tiny_run tiny.yaml
run "$train" sweep tiny.yaml --grid optimizer.sgd.lr=0.05 --set epochs=1
expect_code 0
expect_file sweeps/tiny/curves.png
run "${quick[@]}" sweep tiny.yaml --grid optimizer.sgd.lr=0.01,0.05 --set epochs=2
expect_code 2
expect_err "epochs: 1 -> 2"
expect_no_path sweeps/tiny/runs/lr=0.01

begin "Ctrl-C stops the runs with their work saved, and the same command continues"
write_tiny_run tiny.yaml
sweep=("${quick[@]}" sweep tiny.yaml --grid "optimizer.sgd.lr=0.01,0.05" --set epochs=3000 --jobs 1 --out s)
run_until " new | s" "${sweep[@]}"
until grep -q "^2," s/runs/lr=0.01/metrics.csv 2>/dev/null; do kill -0 "$pid" || break; done
kill -INT "$pid"
wait_for_exit
expect_code 130
expect_out "0/2 lr=0.01: stopped after"
expect_out "2 runs: 1 stopped, 1 waiting"
expect_out "stopped; to continue: train sweep tiny.yaml"
expect_file s/runs/lr=0.01/checkpoints/last
run "${quick[@]}" sweep tiny.yaml --grid optimizer.sgd.lr=0.01,0.05 --set epochs=3000 --out s --dry-run
expect_out "lr=0.01: to continue"
expect_out "lr=0.05: to start"

begin "scripts/sweep.sh trains a grid, skips what is done, and fails as its runs do"
write_tiny_run tiny.yaml
script=(env PATH="/usr/bin:/bin" "$source_dir/scripts/sweep.sh" --train "$train" --jobs 2)
run "${script[@]}" tiny.yaml optimizer.sgd.lr=0.05,1e30 batch.per_gpu=16 -- --epochs 1
expect_code 5
expect_file runs/tiny_lr=0.05__per_gpu=16/0001/metrics.csv
expect_out "tiny_lr=1e30__per_gpu=16: failed with exit code 5"
expect_equal "$(wc -l <runs/tiny_sweep.csv)" 3
run "${script[@]}" tiny.yaml optimizer.sgd.lr=0.05,0.01 batch.per_gpu=16 -- --epochs 1
expect_code 0
expect_out "skipped: runs/tiny_lr=0.05__per_gpu=16/0001 is done"
expect_file runs/tiny_lr=0.01__per_gpu=16/0001/metrics.csv
run "$source_dir/scripts/sweep.sh" --help
expect_code 0
expect_out "scripts/sweep.sh [--jobs N] [--gpus 0,1,2]"
run "${script[@]}" tiny.yaml optimizer.sgd.lrr=1,2
expect_code 3
expect_err "unknown key 'lrr'"
for jobs in x 0 -1 ''; do
  run "${script[@]}" --jobs "$jobs" tiny.yaml optimizer.sgd.lr=0.05
  expect_code 2
  expect_err "--jobs needs a whole number from 1 to 9999, found '$jobs'"
done
run "${script[@]}" tiny.yaml output.plot.title=a/b -- --epochs 1
expect_code 0
expect_file runs/tiny_title=a_b/0001/metrics.csv

begin "a signal that ends scripts/sweep.sh ends its runs, a second one waits for the first, and both go on"
write_tiny_run tiny.yaml
script=(env PATH="/usr/bin:/bin" "$source_dir/scripts/sweep.sh" --train "$train" --jobs 2 tiny.yaml "seed=1,2")
"${script[@]}" -- --epochs 100000 >first 2>&1 &
script_process=$!
for seed in 1 2; do
  until [[ -s runs/tiny_seed=$seed/0001/checkpoints/last ]]; do kill -0 "$script_process" || break; done
done
run "${script[@]}"
expect_code 2
expect_err "a sweep of tiny is running here; wait until its runs have ended, or end them"
kill -TERM "$script_process"
wait "$script_process"
expect_equal "$?" 143
expect_equal "$(<first)" "sweep.sh: stopped; the same command goes on"
for seed in 1 2; do
  expect_equal "$(sed -n 's/^  "state": "\(.*\)",$/\1/p' "runs/tiny_seed=$seed/0001/status.json")" interrupted
done

begin "each run with several seeds: their means are a table, and the best is trained again as printed"
write_tiny_run tiny.yaml
run "${quick[@]}" sweep tiny.yaml --grid optimizer.sgd.lr=0.05,0.0001 --seeds 2 --seed 7 --epochs 1
expect_code 0
for run in lr=0.05__seed={7,8} lr=0.0001__seed={7,8}; do expect_file "sweeps/tiny/runs/$run/metrics.csv"; done
expect_out_match "optimizer.sgd.lr +seeds +best val_accuracy .*"$'\n'" +0.05 +2 +[0-9.]+ \+- [0-9.]+"
expect_equal "$(wc -l <sweeps/tiny/means.csv)" 3
again=$(sed -n 's/^\*: the best val_accuracy; to train it again: train //p' <<<"$out")
# shellcheck disable=SC2086 # its words
run "${quick[@]}" $again -q
expect_code 0
expect_file runs/tiny/0001/metrics.csv
run "${quick[@]}" sweep tiny.yaml --seeds 2 --out apart --epochs 1
expect_code 0
expect_out_match "2 runs: 2 completed"
run "${quick[@]}" sweep tiny.yaml --grid seed=1,2 --seeds 2 --dry-run
expect_code 2
expect_err "the key seed is given twice, perhaps by --seeds"
run "${quick[@]}" sweep tiny.yaml --grid optimizer.sgd.lr=0.1 --grid optimizer.adam.lr=0.1 --dry-run
expect_code 2
expect_err "optimizer.sgd.lr and optimizer.adam.lr exclude each other"
run "${quick[@]}" sweep tiny.yaml --grid optimizer.adam.lr=0.1 --dry-run
expect_code 0
expect_err "--set replaces optimizer.sgd with its lr, momentum, of tiny.yaml"
run "${quick[@]}" sweep tiny.yaml --epochs 3 --grid epochs=1,2 --dry-run
expect_code 2
expect_err "--epochs"

begin "a sweep takes --init, which its runs begin with, and --max-time, after which the same command continues"
write_tiny_run tiny.yaml
run "${quick[@]}" tiny.yaml --name first --epochs 1 -q
run "${quick[@]}" sweep tiny.yaml --grid optimizer.sgd.lr=0.05,0.01 --init runs/first --epochs 1
expect_code 0
expect_err "'runs/first': its newest run is runs/first/0001"
expect_equal "$(grep -l '"from": "runs/first/0001"' sweeps/tiny/runs/*/run.json | wc -l)" 2
run "${quick[@]}" sweep tiny.yaml --grid optimizer.sgd.lr=0.05,0.01 --epochs 1
expect_code 2
expect_err "was started with --init runs/first/0001, not without --init; give --out another folder"
run "${quick[@]}" sweep tiny.yaml --grid optimizer.sgd.lr=0.05,0.01 --init nowhere.safetensors --out other
expect_code 9
expect_no_path other
run "${quick[@]}" sweep tiny.yaml --grid optimizer.sgd.lr=0.05,0.01 --epochs 100000 --max-time 2 --out long
expect_code 75
expect_out "2 runs: 1 stopped, 1 waiting"
expect_err "stopped by --max-time; to continue: train sweep"

finish 9 0
