#!/usr/bin/env bash
# Numbers that a run prints and decides by: learning rates, batches without samples, values that are none.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# column NAME FILE.csv: its values, joined by blanks.
column() {
  awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) at = i; next }
                        { print at ? $at : "no column" }' "$2" | xargs
}

# write_labels FILE.safetensors LABEL...: images [1, 2, 3] of these labels, as the source 'tensors' reads them.
write_labels() {
  local file=$1 n=$(($# - 1)) pixels=() header label i
  shift
  header="{\"images\":{\"dtype\":\"U8\",\"shape\":[$n,1,2,3],\"data_offsets\":[0,$((6 * n))]},"
  header+="\"labels\":{\"dtype\":\"I32\",\"shape\":[$n],\"data_offsets\":[$((6 * n)),$((10 * n))]}}"
  while (((${#header} + 6 * n) % 8)); do header+=" "; done
  {
    printf '%b' "\\x$(printf %02x $((${#header} % 256)))\\x$(printf %02x $((${#header} / 256)))\\0\\0\\0\\0\\0\\0"
    printf %s "$header"
    for ((i = 0; i < 6 * n; ++i)); do pixels+=("$((i * 37 % 251))"); done
    printf '%b' "$(printf '\\x%02x' "${pixels[@]}")"
    for label; do
      printf '%b' "$(printf '\\x%02x' $((label & 255)) $((label >> 8 & 255)) $((label >> 16 & 255)) $((label >> 24 & 255)))"
    done
  } >"$file"
}

# write_run FILE.yaml: three classes of train.safetensors and val.safetensors, a sample a step.
write_run() {
  cat >"$1" <<'YAML'
name: few
network: {input: [1, 2, 3], layers: [conv: {filters: 4, kernel: 1}, bn, relu, dense: 3, softmax]}
data:
  train: {source: tensors, file: train.safetensors, classes: 3}
  val: {source: tensors, file: val.safetensors, classes: 3}
  preprocess: [scale: $1/255]
batch: {per_gpu: 1}
loss: cross_entropy
metrics: [accuracy]
optimizer: {sgd: {lr: 0.05, momentum: 0.9, weight_decay: 1e-3}}
epochs: 3
YAML
}

begin "a formula that ends at 0, or has no value after the last step, trains to the end and resumes"
write_tiny_run tiny.yaml
# shellcheck disable=SC2016  # names in formulas
for formula in '$base * (1 - step / steps)' '$base / (steps - step)' '$base * (steps - 1 - step)**0.5'; do
  rm -rf out
  run "${quick[@]}" tiny.yaml --set "schedule={expression: {lr: '$formula'}}" --set epochs=3 --out out
  expect_code 0
  expect_equal "$(column step out/metrics.csv)" "6 12 18"
done
run "${quick[@]}" resume out --set epochs=4
expect_code 0

begin "Keras's decay is in every column of the learning rate, and in the curve of the schedule"
write_tiny_run tiny.yaml
decay=(--set 'optimizer={sgd: {lr: 0.01, decay: 0.1}}' --set output.steps=true --set schedule=constant)
formula=(--set 'optimizer={sgd: {lr: 0.01}}' --set output.steps=true
  --set "schedule={expression: {lr: '\$base / (1 + 0.1 * step)'}}")
run "${quick[@]}" tiny.yaml --set epochs=2 "${decay[@]}" --out decay
expect_code 0
expect_out_match "Epoch 1/2 .*lr: 6.667e-03"
run "${quick[@]}" tiny.yaml --set epochs=2 "${formula[@]}" --out formula
expect_same_file decay/weights/last.safetensors formula/weights/last.safetensors
expect_equal "$(column lr decay/metrics.csv)" "$(column lr formula/metrics.csv)"
expect_equal "$(column lr decay/steps.csv)" "$(column lr formula/steps.csv)"
for run in decay formula; do
  run "$train" plot --schedule "$run/config.yaml" -o "$run.svg"
  expect_code 0
done
expect_same_file decay.svg formula.svg

begin "a batch whose samples are all ignored is a step without an update, and the schedule goes on"
write_labels train.safetensors 0 2 1 1 2 0 1 0
write_labels val.safetensors 0 1 2
write_run few.yaml
run "${quick[@]}" few.yaml --set ignore_label=1 --set output.steps=true \
  --set 'schedule={step: {every: 1, gamma: 0.5, by: step}}' --out with
expect_code 0
expect_equal "$(column skipped_steps with/metrics.csv)" "3 3 3"
expect_equal "$(column loss with/steps.csv | wc -w)" 15
expect_equal "$(cut -d, -f 4 with/steps.csv | sed -n 2,6p | xargs)" "0.05 0.025 0.0125 0.00625 0.003125"
expect_no_out nan
run "${quick[@]}" few.yaml --eager --set ignore_label=1 --set 'schedule={step: {every: 1, gamma: 0.5, by: step}}' --out eager
expect_code 0
expect_same_file with/weights/last.safetensors eager/weights/last.safetensors
write_labels train.safetensors 0 2 1 0 2 0 2 0
run "${quick[@]}" few.yaml --set ignore_label=1 --set accumulate=2 --out half
expect_code 0
expect_equal "$(column skipped_steps half/metrics.csv)" "0 0 0"

begin "such a run, killed between its steps and resumed, ends with the same files"
write_labels train.safetensors 0 2 1 1 2 0 1 0
write_labels val.safetensors 0 1 2
write_run few.yaml
flags=(--set ignore_label=1 --set epochs=40 --set 'optimizer={adam: {lr: 0.01}}' --set 'checkpoint={every: 3 steps}')
run "${quick[@]}" few.yaml "${flags[@]}" --out whole
expect_code 0
run_until "Epoch 7/40" "${quick[@]}" few.yaml "${flags[@]}" --out killed
kill -KILL "$pid"
wait_for_exit
run "${quick[@]}" resume killed
expect_code 0
expect_same_file whole/weights/last.safetensors killed/weights/last.safetensors
expect_equal "$(untimed whole/metrics.csv)" "$(untimed killed/metrics.csv)"

begin "a split of which no sample counts is no divergence, and is named; check ends with exit 5"
write_labels train.safetensors 1 1 1 1
write_labels val.safetensors 1 1 1
write_run few.yaml
run "${quick[@]}" check few.yaml --set ignore_label=1
expect_code 5
expect_err "every sample of the first 4 batches is ignored: its label is 'ignore_label' or its weight is 0"
expect_no_out "no problems found"
run "${quick[@]}" few.yaml --set ignore_label=1 --set early_stop.patience=1 \
  --set 'plateau={monitor: val_loss, patience: 1}' --out none
expect_code 0
expect_err "epoch 1: not a number: loss, accuracy, val_loss, val_accuracy: no sample counts"
expect_equal "$(column lr none/metrics.csv)" "0.05 0.05 0.05"
expect_equal "$(column skipped_steps none/metrics.csv)" "4 4 4"

begin "check looks for a batch with a sample that counts"
write_labels train.safetensors 1 1 1 1 0 2
write_labels val.safetensors 0 1 2
write_run few.yaml
run "${quick[@]}" check few.yaml --set ignore_label=1
expect_code 0
expect_out_match "one batch forward and backward: loss [0-9.]+"

begin "an area under a curve of one class stops nothing, and says why it is not a number"
write_labels train.safetensors 0 1 1 0
write_labels val.safetensors 1 1 1
write_run few.yaml
run "${quick[@]}" few.yaml --set 'metrics=[accuracy, auc]' --set 'checkpoint={best: {metric: val_auc}}' \
  --set data.train.classes=2 --set data.val.classes=2 --set early_stop.patience=1 --set epochs=4 \
  --set 'network.layers=[dense: 2, softmax]' --set 'plateau={monitor: val_auc, patience: 1}' --out auc
expect_code 0
expect_err "epoch 1: not a number: val_auc: all samples are of class 1, and it takes two"
run "${quick[@]}" eval auc
expect_code 0
expect_err "not a number: auc: all samples are of class 1, and it takes two"
expect_equal "$(column lr auc/metrics.csv)" "0.05 0.05 0.05 0.05"

begin "batch norm over one value per channel is an error in check and in training"
write_labels train.safetensors 0 1 2 0
write_labels val.safetensors 0 1 2
write_run few.yaml
sed -i 's/conv: {filters: 4, kernel: 1}/dense: 5/' few.yaml
run "${quick[@]}" check few.yaml --set batch.per_gpu=2
expect_code 0
for verb in check ''; do
  # shellcheck disable=SC2086  # no verb is training
  run "${quick[@]}" $verb few.yaml
  expect_code 3
  expect_err "few.yaml:2:48: bn 'bn1' has one value per channel"
  expect_no_path runs
done

begin "nothing is learnt if the training loss is constant too, and the numbers are printed"
write_labels train.safetensors 0 1 2 0
write_labels val.safetensors 0 1 2
write_run few.yaml
run "${quick[@]}" few.yaml --set epochs=6 --set optimizer.sgd.lr=0
expect_err_match "nothing is learnt: loss [0-9.]+, accuracy [0-9.]+, val_accuracy [0-9.]+ have not changed for 3 epochs"
run "${quick[@]}" few.yaml --set epochs=6 --set optimizer.sgd.lr=0.001
expect_no_err "nothing is learnt"

finish 9 0
