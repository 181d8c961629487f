#!/usr/bin/env bash
# Console output of a run: lines that fit a terminal, the last line, and the events of --log json.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
json_lines=$(realpath "${3:?path of json_lines}")

# Without gnuplot in PATH an epoch takes milliseconds, and its absence is a warning.

# events KEY...: these values of each event in $out, one line per event; fails unless all of $out is events.
events() {
  "$json_lines" "$@" <<<"$out" 2>"$scratch/complaint" || fail "$(<"$scratch/complaint")"
}
# event NAME KEY: the value of KEY in the event NAME.
event() { events event "$2" | sed -n "s/^$1 //p"; }
newest() { echo "a/checkpoints/$(<a/checkpoints/last)"; }

begin "the bar fits a terminal, and the lines of epochs are whole"
write_tiny_run tiny.yaml
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
  # shellcheck disable=SC2016  # expanded by the inner shell
  run env TRAIN="$train" script -qec \
    'stty cols 60; PATH=/nonexistent exec "$TRAIN" --config tiny.yaml --set epochs=12 --out a' \
    /dev/null
  expect_equal "$(grep -c '^.*Epoch' <<<"$out")" 12
  expect_equal "$(tr '\r' '\n' <<<"$out" | sed 's/\x1b\[K//' | grep '^ *[0-9]*/12 ' | awk 'length > 59')" ""
  expect_out_match 'Epoch 12/12 - .* - val_loss: [0-9.e-]+ - val_accuracy: [01]\.[0-9]{4}'
else
  skip "no terminal can be created here"
fi
run "${quick[@]}" --config tiny.yaml --out b
expect_out_match 'Epoch 3/3 - .* - loss: .* - accuracy: .* - val_loss: .* - val_accuracy: .* - lr: .* img/s'

begin "the star is explained once, on the console and in train.log"
write_tiny_run tiny.yaml
run "${quick[@]}" --config tiny.yaml --out a --set epochs=6
expect_equal "$(grep -cF '(*: the best val_accuracy so far)' <<<"$out")" 1
expect_equal "$(grep -cF '(*: the best val_accuracy so far)' a/train.log)" 1

begin "a resume says where it begins, as text and as an event"
write_tiny_run tiny.yaml
run "${quick[@]}" --config tiny.yaml --out a
from=$(newest)
run "${quick[@]}" resume a --set epochs=4
expect_out "resuming after epoch 3/4 (step 18 of the run) from $from"
grep -qF "resuming after epoch 3/4 (step 18 of the run) from $from" a/train.log || fail "not in train.log"
from=$(newest)
run "${quick[@]}" --config tiny.yaml --out a --resume --set epochs=5 --log json
expect_code 0
expect_equal "$(event resume epoch)" 4
expect_equal "$(event resume step)" 24
expect_equal "$(event resume checkpoint)" "$from"

begin "early stop reports itself, what was saved, and a command that trains further"
write_tiny_run tiny.yaml
run "${quick[@]}" --config tiny.yaml --out a --set epochs=9 \
  --set 'early_stop={patience: 1, min_delta: 9}'
expect_code 0
last=$(tail -n 1 <<<"$out")
expect_equal "${last%% - best*}" \
  "stopped early: 1 epoch without a better val_accuracy - after epoch 2/9 (step 12 of the run) - saved: $(newest)"
expect_equal "${last##* - }" "to train further: train resume 'a' --set early_stop.patience=2"
grep -qF -- "$last" a/train.log || fail "the last line is not in train.log"
run "${quick[@]}" resume a --set early_stop.patience=2 --log json
expect_code 0
expect_equal "$(event 'done' reason)" early_stop
expect_equal "$(event 'done' epochs)" 3
expect_equal "$(event 'done' resume)" "train resume 'a' --set early_stop.patience=4"

begin "a time limit reports itself, what was saved and the resume command, also as an event"
write_tiny_run tiny.yaml
run "${quick[@]}" --config tiny.yaml --set epochs=100000 --out a --max-time 0.2 --log json
expect_code 75
kept=$(newest)
expect_equal "$(event stopped reason)" max_time
expect_equal "$(event stopped checkpoint)" "$kept"
expect_equal "$(event stopped resume)" "train resume 'a'"
expect_err_match 'stopped by --max-time 0\.2s - (in|after) epoch [0-9]+/100000 .*\(step [0-9]+ of the run\) - saved: '
expect_err "saved: $kept - "
expect_err "resume with: train resume 'a'"
step=$(event stopped step)
run "${quick[@]}" resume a --max-time 0.2 --log json
expect_equal "$(event resume step)" "$step"
expect_equal "$(event resume checkpoint)" "$kept"

begin "a signal is reported, also as an event"
write_tiny_run tiny.yaml
# shellcheck disable=SC2016  # expanded by the inner shell
run_until '"epoch":2,' env PATH=/nonexistent /bin/bash -c 'exec "$0" "$@" 2>text' "$train" \
  --config tiny.yaml --set epochs=100000 --out a --log json
kill -TERM "$pid"
wait_for_exit
expect_code 143
expect_equal "$(event stopped reason)" signal
expect_equal "$(event stopped signal)" SIGTERM
expect_equal "$(event stopped checkpoint)" "$(newest)"
expect_equal "$(event stopped resume)" "train resume 'a'"
grep -q '^stopped by SIGTERM - .* - saved: .* - resume with: train resume ' text || fail "no last line"

begin "warnings, epochs and the end are events in order, and nothing else is on stdout"
write_tiny_run tiny.yaml
run "${quick[@]}" --config tiny.yaml --out a --set epochs=2 --log json
expect_code 0
expect_equal "$(events event | tr '\n' ' ')" "start warning epoch epoch done "
[[ $(event warning message) == *gnuplot* ]] || fail "it is a different warning"
expect_err "train: warning: "
run "${quick[@]}" resume a --log json
expect_equal "$(event complete run)" a
run "${quick[@]}" --config tiny.yaml --set epochs=2 --log json
run "${quick[@]}" --config tiny.yaml --set epochs=2 --log json --skip-done
expect_equal "$(event skipped run)" runs/tiny/0001

begin "errors of the command line, of a file and of training are events with their exit code"
write_tiny_run tiny.yaml
run "${quick[@]}" --config tiny.yaml --nonsense --log json
expect_code 2
expect_equal "$(event error exit_code)" 2
run "${quick[@]}" --config tiny.yaml --set epoks=2 --log json
expect_code 3
expect_equal "$(event error exit_code)" 3
[[ $(event error message) == *"did you mean 'epochs'"* ]] || fail "it is a different message"
expect_equal "$(event error resume)" null
expect_err "did you mean 'epochs'"
run "${quick[@]}" --config tiny.yaml --out a
run "${quick[@]}" resume a --set epochs=5 --set optimizer.sgd.lr=1e30 --log json
expect_code 5
expect_equal "$(event error exit_code)" 5
expect_equal "$(event error run)" a
expect_equal "$(event error resume)" "train resume 'a'"

begin "only the first of several ranks prints events"
write_tiny_run tiny.yaml
run "${quick[@]}" --config tiny.yaml --set batch.per_gpu=8 --set lr_scaling=none --set epochs=1 \
  --gpus 0 --replicas 2 --out a --log json
expect_code 0
expect_equal "$(events event | tr '\n' ' ')" "start warning epoch done "
run "${quick[@]}" --config tiny.yaml --set batch.per_gpu=8 --set optimizer.sgd.lr=1e30 --gpus 0 \
  --replicas 2 --out b --log json
expect_code 5
expect_equal "$(event error exit_code)" 5

finish 9 1
