#!/usr/bin/env bash
# Runs with incompatible settings: the message says which, and what to change.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# refused CODE TEXT FLAGS...: the tiny run with FLAGS ends with CODE and TEXT before it trains.
refused() {
  local code_expected=$1 text=$2
  shift 2
  [[ -f tiny.yaml ]] || write_tiny_run tiny.yaml
  run "$train" --config tiny.yaml "$@"
  expect_code "$code_expected"
  expect_err "$text"
  expect_no_out "Epoch 1/"
}

begin "a network for images other than the data's is refused"
refused 3 "the network's input is [3, 8, 8], but the data are [3, 6, 6]; change 'input' of the network" \
  --set 'data.train.shape=[3, 6, 6]' --set 'data.val.shape=[3, 6, 6]'

begin "a network for another number of classes is refused"
refused 3 "the network ends in 4 outputs, but the data have 5 classes; change the last layer's units" \
  --set data.train.classes=5 --set data.val.classes=5
refused 3 "the network ends in 4 outputs, but the data have 3 classes; change the last layer's units; if only the highest label is missing, set 'classes: 4'" \
  --set data.train.classes=3 --set data.val.classes=3

refused 3 "the network ends in 1 output, but the data have 4 classes; change the last layer's units" \
  --set 'network.layers=[dense: 1]' --set loss=mse

begin "a loss far above its first value is reported as divergence, with step and learning rate"
refused 5 "training diverged at step" --set optimizer.sgd.lr=1e30
expect_err "learning rate 1e+30; lower the learning rate"

begin "splits of two kinds are refused"
refused 4 "the training split holds images [3, 8, 8] of 5 classes, the validation split [3, 8, 8] of 4" \
  --set data.train.classes=5

begin "fp16 has a loss scale, which the resolved config names"
write_tiny_run tiny.yaml
run "$train" --config tiny.yaml --device reference --precision fp16 --set epochs=1 \
  --set output.steps=true
expect_code 0
expect_equal "$(grep -A1 loss_scale "$(run_folder)/config.yaml" | xargs)" "loss_scale: start: 1024"
expect_equal "$(sed -n 2p "$(run_folder)/steps.csv" | cut -d , -f 6)" 1024

begin "an epoch whose steps were all skipped has no loss, and the run continues, also with --eager"
write_tiny_run tiny.yaml
for flag in "" --eager; do
  # shellcheck disable=SC2086  # none where it is empty
  run "$train" --config tiny.yaml --device reference --precision fp16 --out "run$flag" $flag \
    --set 'loss_scale={start: 16777216, dynamic: true}'
  expect_code 0
  expect_equal "$(cut -d , -f 4,10 "run$flag/metrics.csv" | sed -n 2p)" nan,6
  expect_no_err "nan"
  left_out=$(sed -n 4p "run$flag/metrics.csv" | cut -d , -f 10)
  [[ $left_out -lt 6 ]] || fail "expected updates in epoch 3, found $left_out skipped"
done
expect_same_file run/weights/last.safetensors run--eager/weights/last.safetensors

begin "two metrics of one column are refused, and f1 of a single output is that of class 1"
refused 3 "'metrics' has two of the column 'accuracy'; leave one out" \
  --set 'metrics=[accuracy, accuracy: {threshold: 1}]'
write_tiny_run tiny.yaml
sed -i 's/dense: 4/dense: 1/; s/- softmax/- sigmoid/; s/classes: 4/classes: 2/; s/cross_entropy/binary_cross_entropy/' tiny.yaml
run "$train" --config tiny.yaml --out a --epochs 1 --set 'metrics=[precision, recall, f1, macro_f1]' --set output.classes=True
expect_code 0
columns=$(head -n 1 a/metrics.csv | tr ',' '\n' | grep -n 'val_' | sed 's/:.*//' | tr '\n' ',')
of_run=$(tail -n 1 a/metrics.csv | cut -d, -f "${columns%,}")
read -r precision recall f1 < <(tail -n 1 a/eval/classes.csv | cut -d, -f6-8 | tr ',' ' ')
[[ $of_run == *",$precision,$recall,$f1,"* ]] || fail "classes.csv has $precision $recall $f1 of class 1, metrics.csv $of_run"

begin "a key that is null counts as left out, also to undo what an extended file has"
write_tiny_run tiny.yaml
printf 'extends: tiny.yaml\nclip_norm: 0.01\nearly_stop: {patience: 2}\n' >clipped.yaml
printf 'extends: clipped.yaml\nclip_norm: null\nearly_stop: ~\nschedule: Null\n' >free.yaml
for config in tiny free; do
  run "$train" --config $config.yaml --out $config --epochs 1 --set schedule=constant
  expect_code 0
done
expect_same_file tiny/config.yaml free/config.yaml
run "$train" --config clipped.yaml --out off --epochs 1 --set early_stop=False
expect_code 0
expect_equal "$(grep early_stop off/config.yaml)" "early_stop: false"
refused 3 "'optimizer' must be one of sgd" --set optimizer=null

begin "total_loss has the L2 terms of the weights after the epoch, val_loss has none"
write_tiny_run tiny.yaml
l2='network.defaults={conv: {l2: 0.5}}'
field() { awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) at = i } END { print $at }' "$1/metrics.csv"; }
run "$train" --config tiny.yaml --out a --epochs 1 --set "$l2"
expect_code 0
for out in b c; do # which change no weights, from those of a
  [[ $out == b ]] && set=$l2 || set=seed=42
  run "$train" --config tiny.yaml --out $out --epochs 1 --set "$set" --init a/weights/last.safetensors --set optimizer.sgd.lr=1e-30
  expect_code 0
done
expect_equal "$(field a reg_loss)" "$(field b reg_loss)"
expect_equal "$(field b val_loss)" "$(field c val_loss)"
expect_equal "$(field b loss)" "$(field c loss)"
awk -v l="$(field b loss)" -v r="$(field b reg_loss)" -v t="$(field b total_loss)" \
  'BEGIN { exit !(r > 0.01 && t - l - r < 1e-6 && l + r - t < 1e-6) }' || fail "total_loss is not loss + reg_loss"

finish 9 0
