#!/usr/bin/env bash
# Event files of TensorBoard: of a run, and of a run that is killed and resumed.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
events=$(realpath "${3:?path of event_lines}")

# A run with curves per step, without gnuplot, which takes longest.
run_curves() { run env PATH=/nonexistent "$train" "$@" --set output.tensorboard=true --set output.steps=true; }

# The points of a folder's curves but those of times.
points() { "$events" "$1" | grep -vE '/(elapsed_s|epoch_s|images_per_s|data_wait_percent) '; }

begin "the curves of TensorBoard are the columns of metrics.csv and steps.csv"
write_tiny_run tiny.yaml
run_curves tiny.yaml --out a
expect_code 0
expect_equal "$(cd a/tensorboard && echo *)" "steps train validation"
"$events" a/tensorboard/train | awk '$2 == "epoch/loss" {print $1, $3}' >loss.txt
tail -n +2 a/metrics.csv | awk -F, '{printf "%s %.9g\n", $1, $4}' >expected.txt
paste -d' ' loss.txt expected.txt | awk '$1 != $3 || ($2 - $4) ^ 2 > 1e-12' >wrong.txt
expect_equal "$(wc -l <loss.txt | tr -d ' ') $(cat wrong.txt)" "3 "
expect_equal "$("$events" a/tensorboard/validation | awk '$2 == "epoch/accuracy" {print $1}' | xargs)" "1 2 3"
expect_equal "$("$events" a/tensorboard/steps | awk '$2 == "step/loss" {print $1}' | xargs)" "$(seq -s' ' 18)"
# The config and sheets of samples.
expect_equal "$(grep -c 'name: tiny' a/tensorboard/train/events.*)" 1
for split in train validation; do expect_equal "$(grep -c $'\x89PNG' a/tensorboard/$split/events.*)" 1; done

begin "event files do not change a run, which has none without the key"
write_tiny_run tiny.yaml
run env PATH=/nonexistent "$train" tiny.yaml --out a --set output.steps=true
run_curves tiny.yaml --out b
expect_code 0
expect_no_path a/tensorboard
for file in weights/last.safetensors weights/best.safetensors; do expect_same_file a/$file b/$file; done
untimed a/metrics.csv >a.csv
untimed b/metrics.csv >b.csv
expect_same_file a.csv b.csv

begin "a run that is killed and resumed has the curves of one that is not, and no point twice"
write_tiny_run tiny.yaml
run_curves tiny.yaml --out a --set epochs=60 --set 'checkpoint.every=4 steps'
expect_code 0
for line in "Epoch 3/" "Epoch 11/" "Epoch 23/"; do
  if [[ -e b ]]; then start=(resume b); else start=(tiny.yaml --out b); fi
  run_until "$line" env PATH=/nonexistent "$train" "${start[@]}" --set epochs=60 --set output.tensorboard=true \
    --set output.steps=true --set 'checkpoint.every=4 steps'
  kill -KILL "$pid"
  wait_for_exit
done
# A write that power loss has torn.
last=$(find b/tensorboard/steps -name 'events.*' | sort | tail -n 1)
printf torn >>"$last"
run env PATH=/nonexistent "$train" resume b
expect_code 0
for folder in train validation steps; do
  points a/tensorboard/$folder >a.$folder
  points b/tensorboard/$folder >b.$folder
  expect_file a.$folder
  expect_same_file a.$folder b.$folder
done

begin "TensorBoard's reader reads the curves, the config and the sheets of a resumed run"
python=${TRAINYARD_JUDGES:-}/bin/python
if [[ -z ${TRAINYARD_JUDGES:-} ]]; then
  skip "TensorBoard comes from pip: scripts/judges.sh"
else
  write_tiny_run tiny.yaml
  run_curves tiny.yaml --out a
  run_curves resume a --set epochs=5
  expect_code 0
  for folder in train validation steps; do
    run "$python" "$source_dir/scripts/tensorboard_judge.py" a/tensorboard/$folder
    expect_code 0
    grep -E ' (epoch|step)/' <<<"$out" | sort >read.txt
    "$events" a/tensorboard/$folder | sort >written.txt
    expect_file read.txt
    expect_same_file read.txt written.txt
    [[ $folder != train ]] || expect_out_match "0 config text"
    [[ $folder == steps ]] || expect_out_match "0 samples [0-9]+x[0-9]+"
  done
fi

finish 4 1
