#!/usr/bin/env bash
# What recipes of today draw and keep between steps: repeated and mixed samples, random augmentations,
# dropped branches, Muon, an average of the weights and slow weights. The results are the same on any
# ranks and after a kill.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/lib_ranks.sh
source "$(dirname "$0")/lib_ranks.sh"

# write_recipe LINE: run.yaml with all of them; LINE is its average or its Lookahead.
write_recipe() {
  cat >run.yaml <<YAML
name: recipe
network:
  input: [3, 8, 8]
  layers:
    - conv: {filters: 8, kernel: 3, pad: same_symmetric}
    - repeat:
        times: 2
        layers: [add: [[bn, relu, conv: {filters: 8, kernel: 3, pad: same_symmetric}, drop_path: 0.3], []]]
    - bn
    - relu
    - global_avg_pool
    - dense: 3
    - softmax
data:
  train: {source: synthetic, shape: [3, 8, 8], classes: 3, size: 64, learnable: true, sampler: {repeats: 2}}
  val: {source: synthetic, shape: [3, 8, 8], classes: 3, size: 30, split: test, learnable: true}
  preprocess: [mean_rgb: train, std_rgb: train]
  augment: [trivial_augment]
  mix: {mixup: 0.4}
batch: {total: 16}
loss: cross_entropy
metrics: [accuracy]
optimizer: {muon: {lr: 0.02, rest: {adamw: {lr: 0.003}}}}
parameters: {dense1.weight: {optimizer: {adamw: {lr: 0.003}}}}
schedule: {cosine: {by: step}}
$1
epochs: 1
YAML
}

# expect_part PART FLAGS...: without PART, which FLAGS take away, a short run has other weights than with/.
expect_part() {
  local part=$1
  shift
  run "${quick[@]}" run.yaml --out "$part" "$@"
  expect_code 0
  expect_other_file "$part/weights/last.safetensors" with/weights/last.safetensors
}

begin "repeats, mixup, TrivialAugment, drop path, Muon and an average have the same bytes on any ranks and after a kill"
write_recipe "average: {ema: 0.95, every: 2}"
expect_same_bytes --set epochs=40
run "${quick[@]}" run.yaml --out with
expect_code 0
expect_part mix --set data.mix=off
expect_part augment --set 'data.augment=[]'
expect_part optimizer --set 'optimizer={adamw: {lr: 0.003}}'
expect_part every --set average.every=1
expect_part average --set average=off
expect_part repeats --set data.train.sampler=off
sed -i 's/, drop_path: 0.3//' run.yaml
expect_part drop_path

begin "the same with Lookahead in place of the average, whose slow weights have the same bytes too"
write_recipe "lookahead: {every: 3, pull: 0.8}"
expect_same_bytes --set epochs=40
run "${quick[@]}" run.yaml --out with
expect_code 0
expect_part lookahead --set lookahead=off

finish 2 0
