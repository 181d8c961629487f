#!/usr/bin/env bash
# Words of other programs, parts that are off, and warnings about what is hardly meant.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# write_plain FILE [KEYS]: a run on raw pixels, which KEYS are added to.
write_plain() {
  write_tiny_run "$1"
  printf '%s\n' "${@:2}" >>"$1"
}

begin "a word of Keras, PyTorch, timm or Caffe gets the word that is meant"
while IFS='|' read -r change meant; do
  write_tiny_run tiny.yaml
  if [[ $change == *=* ]]; then
    sed -i "s=$change=" tiny.yaml
  else
    echo "$change" >>tiny.yaml
  fi
  run "$train" summary tiny.yaml
  expect_code 3
  expect_err "$meant"
done <<'END'
early_stopping: {patience: 3}|unknown key 'early_stopping' in 'run'; here it is 'early_stop: {...}'
ema: 0.999|here it is 'average: {ema: 0.999}'
model_ema: true|here it is 'average: {ema: ...}'
weight_decay: 1e-4|here it is 'optimizer: {sgd: {weight_decay: 1e-4}}'
lr: 0.1|here it is 'optimizer: {sgd: {lr: 0.1}}'
batch_size: 64|here it is 'batch: {per_gpu: 64}'
num_epochs: 10|here it is 'epochs: 10'
base_lr: 0.1|here it is 'optimizer: {sgd: {lr: 0.1}}'
max_iter: 1000|here it is counted in epochs, 'epochs'
solver_mode: GPU|here it is the flag '--gpus'
workers: 4|here it is 'data: {workers: 4}'
drop: 0.2|here it is a layer of its own, 'dropout: 0.5'
ReduceLROnPlateau: {factor: 0.1}|here it is 'plateau: {...}'
loss: cross_entropy=loss: categorical_crossentropy|found text 'categorical_crossentropy'; here it is 'cross_entropy'
loss: cross_entropy=loss: nll_loss|here it is 'cross_entropy'
\[accuracy\]=[acc]|found text 'acc'; here it is 'accuracy'
schedule: .*=schedule: StepLR|here it is 'step'
$1/255=1/255|found text '1/255'; an expression begins with '$': $1/255
per_gpu: 16=per_gpu: $32 / 2|'/' gives a real number, '//' a whole one: $32 // 2
per_gpu: 16=size: 16|unknown key 'size' in 'batch'; here it is 'per_gpu'
pad: same_upper=pad: same|found text 'same'; here it is 'same_upper'
pad: same_upper=padding: same|unknown key 'padding' in 'conv'; here it is 'pad'
kernel: 3=kernel_size: 3|here it is 'kernel'
filters: 8=out_channels: 8|here it is 'filters'
pad: same_upper=activation: relu|unknown key 'activation' in 'conv'; here it is a layer of its own, 'relu'
- relu=- ReLU6|unknown layer 'ReLU6'; did you mean 'relu6'?
- bn=- BatchNorm2d|unknown layer 'BatchNorm2d'; here it is 'bn'
- dense: 4=- Linear: 4|unknown layer 'Linear'; here it is 'dense'
END

begin "the flags that are suggested for keys exist"
run "$train" train --help
help=$out
while read -r flag; do
  [[ $help == *"$flag"* ]] || fail "expected in --help: $flag"
done < <(grep -o '"--[a-z-]*"' "$source_dir/src/config/foreign_words.cpp" | tr -d '"' | sort -u)

begin "--set and a flag of the same word have the same suggestion"
write_tiny_run tiny.yaml
run "$train" tiny.yaml --set lr=0.1
expect_code 3
expect_err "unknown key 'lr' in 'run'; did you mean '--set optimizer.sgd.lr=0.1'?"
run "$train" tiny.yaml --lr 0.1
expect_code 2
expect_err "unknown flag '--lr'; did you mean '--set optimizer.sgd.lr=0.1'?"
run "$train" tiny.yaml --set checkpoint.every=5
expect_code 3
expect_err "'every' must be a number of epochs or steps, such as '1 epoch' or '500 steps', found number 5"

begin "an error in a block names the line of the block and that of the call"
cat >run.yaml <<'YAML'
name: blocks
network:
  input: [3, 8, 8]
  blocks:
    unit: {args: [f], layers: [conv: {filters: $f, kernle: 3}, nothing]}
    outer: {layers: [unit: 8]}
  layers:
    - relu
    - outer
    - dense: 4
data:
  train: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 96}
  val: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 96, split: test}
batch: {per_gpu: 16}
loss: cross_entropy
optimizer: sgd
epochs: 1
YAML
run "$train" summary run.yaml
expect_code 3
expect_err "run.yaml:5:64: unknown layer 'nothing'; called from run.yaml:9:7"
expect_err "run.yaml:5:52: layer 'outer1.unit1.conv1': unknown key 'kernle' in 'conv'; did you mean 'kernel'?; called from run.yaml:9:7"

begin "parts that are off: no checkpoints, no plots, no early stop, no augmentation"
write_plain tiny.yaml "checkpoint: false" "early_stop: off" "output: {plot: no}"
sed -i '/hflip/d; s/augment:/augment: off/' tiny.yaml
run "$train" tiny.yaml
expect_code 0
expect_no_err "gnuplot"
folder=$(run_folder)
expect_no_path "$folder/checkpoints/last"
expect_equal "$(ls "$folder/plots")" ""
expect_equal "$(ls "$folder/weights")" "best.safetensors
last.safetensors"
expect_equal "$(grep -c '^checkpoint: false$' "$folder/config.yaml")" 1
best=$(sed -n 's/.*best val_accuracy: \([0-9.]*\).*/\1/p' "$folder/train.log")
run "$train" eval "$folder"
expect_code 0
expect_out "accuracy: $best"
expect_err "has no checkpoints; taken: $folder/weights/best.safetensors"
run "$train" resume "$folder"
expect_code 0
expect_out "is complete: 3 of 3 epochs trained, nothing was changed"
expect_no_out "to add epochs"
run "$train" resume "$folder" --set epochs=5
expect_code 3
expect_err "has nothing to continue from; begin another one with --init $folder"
run "$train" tiny.yaml --set checkpoint.keep=1 --out kept
expect_code 0
expect_file kept/checkpoints/last
run "$train" resume kept --set epochs=5 --set checkpoint=off
expect_code 3
expect_err "the run kept has checkpoints: 'checkpoint' can be turned off for a new run only"
run "$train" tiny.yaml --max-time 1h
expect_code 2
expect_err "--max-time ends a run so that it can be resumed, but 'checkpoint' is off"
run "$train" tiny.yaml --plot a.png
expect_code 2
expect_err "--plot: 'output.plot' is off"

begin "a run without checkpoints that is interrupted says that it begins anew, and does"
write_plain tiny.yaml "checkpoint: no"
run_until "Epoch 2" "$train" tiny.yaml --epochs 100000 --log keras
kill -INT "$pid"
wait_for_exit
expect_code 130
expect_out "no checkpoint was saved ('checkpoint' is off): train resume 'runs/tiny/0001' begins anew"
run "$train" resume runs/tiny/0001 --set epochs=2
expect_code 0
expect_err "no checkpoint was ever written in runs/tiny/0001: starting at step 0"
run "$train" tiny.yaml --epochs 2
expect_same_file runs/tiny/0001/weights/best.safetensors runs/tiny/0002/weights/best.safetensors

begin "check and the start of a run warn of what is hardly meant, once"
write_tiny_run tiny.yaml
sed -i 's/- bn/- softmax/; /preprocess/d; s/schedule: .*/schedule: {cosine: {warmup: {steps: 200}}}/' tiny.yaml
sed -i 's/    - max_pool: 2/    - dense: 8\n    - softmax/; /dropout/d' tiny.yaml
for verb in check train; do
  run "$train" $verb tiny.yaml
  expect_code 0
  for text in "the warm-up takes 200 steps, but the run has 18 steps (3 epochs of 6)" \
    ", which layer 'conv1' (tiny.yaml:5:7) reads as they are; most networks" \
    "layer 'dense2' (tiny.yaml:10:7) reads the softmax 'softmax2' (tiny.yaml:9:7)"; do
    expect_equal "$(grep -cF "$text" <<<"$err")" 1
  done
done
write_tiny_run tiny.yaml
run "$train" check tiny.yaml --set 'schedule={multistep: {at: [10, 100], by: step}}'
expect_err "the last part of schedule 'multistep' begins after 100 steps, but the run has 18 steps"

begin "files in UTF-16 get one message"
write_tiny_run tiny.yaml
{ printf '\xff\xfe' && sed 's/./&\x00/g' tiny.yaml; } >wide.yaml
run "$train" check wide.yaml
expect_code 3
expect_err "wide.yaml: is UTF-16 text; save it as UTF-8"
expect_equal "$(grep -c . <<<"$err")" 1

finish 8 0
