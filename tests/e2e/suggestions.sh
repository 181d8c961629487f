#!/usr/bin/env bash
# Keys with a letter missing, two letters swapped, one doubled or one replaced: each is found at its own
# position, with the intended key.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

write_run() {
  cat >run.yaml <<'YAML'
name: typos
profile: keras2
network:
  file: net.yaml
  vars:
    width: 8
  defaults:
    conv:
      bias: false
data:
  train:
    source: synthetic
    shape: [3, 8, 8]
    classes: 4
    size: 96
    learnable: true
  val:
    source: cifar10
    root: data
    split: test
    limit: 64
  preprocess:
    - mean_image: train
  augment:
    - shift:
        fill: wrap
        interpolation: nearest
  workers: 1
  resident: auto
  prefetch: 2
batch:
  per_gpu: 16
  remainder: drop
loss: cross_entropy
metrics: [accuracy]
optimizer:
  sgd:
    lr: 0.05
    momentum: 0.9
    nesterov: true
schedule:
  poly:
    power: 1
    by: epoch
epochs: 3
seed: 7
clip_norm: 1
accumulate: 1
threads: 1
deterministic: true
checkpoint:
  every: 1 epoch
  best:
    metric: val_loss
    mode: min
early_stop:
  patience: 3
  min_delta: 0
output:
  plot:
    title: typos
  steps: true
ranks:
  check_weights: 0
  transport: fp32
limits:
  first_step: 600
  step: 60
  silence: 30
YAML
  cat >child.yaml <<'YAML'
extends: run.yaml
YAML
  cat >net.yaml <<'YAML'
input: [3, 8, 8]
vars:
  width: 4
defaults:
  bn:
    momentum: 0.9
blocks:
  unit:
    args: [f]
    layers:
      - conv:
          filters: $f
          kernel: 3
          stride: 1
          pad: same_upper
          dilation: 1
          groups: 1
          init: he_normal
      - bn
      - relu
layers:
  - unit: $width
  - max_pool:
      size: 2
  - dropout: 0.1
  - repeat:
      times: 2
      layers:
        - conv: [4, 1]
  - dense:
      units: 4
      bias: true
  - softmax
YAML
}

# mutants FILE: one line per mutant with the line and column of a key, the key, and its replacement; two
# of five, so that each kind is present.
mutants() {
  awk '
    function mutant(word) {
      if (word != key && word != "" && ++count % 5 < 2) print NR, column, key, word
    }
    match($0, /^ *(- )?[a-z_0-9]+:/) {
      key = substr($0, RSTART, RLENGTH - 1)
      sub(/^ *(- )?/, "", key)
      if (key == "width" || key == "unit") next  # the user chose them
      column = RLENGTH - length(key)
      n = length(key)
      for (i = 1; i <= n; ++i) {
        before = substr(key, 1, i - 1)
        letter = substr(key, i, 1)
        after = substr(key, i + 1)
        mutant(before after)
        mutant(before letter letter after)
        if (i < n) mutant(before substr(after, 1, 1) letter substr(after, 2))
        if (n > 1) mutant(before "q" after)
      }
    }' "$1"
}

begin "98 of 100 misspelt keys are found at their position with the intended key"
write_run
for config in run child; do
  run "$train" summary --config "$config.yaml"
  expect_code 0
done
tried=0 found=0
for file in run net child; do
  config=run
  [[ $file != child ]] || config=child
  cp "$file.yaml" whole.yaml
  mutants whole.yaml >list
  while read -r line column key word; do
    sed "${line}s/\(^ *\(- \)\?\)$key:/\1$word:/" whole.yaml >"$file.yaml"
    if said=$("$train" summary --config "$config.yaml" 2>&1); then
      printf 'accepted: %s for %s (%s.yaml:%s)\n' "$word" "$key" "$file" "$line" >>accepted
      continue
    fi
    tried=$((tried + 1))
    if grep -q "^$file.yaml:$line:$column: .*did you mean '$key'" <<<"$said"; then
      found=$((found + 1))
    else
      printf '%s for %s: %s\n' "$word" "$key" "${said%%$'\n'*}" >>missed
    fi
  done <list
  cp whole.yaml "$file.yaml"
done
printf '%s of %s misspelt keys were answered with the key that was meant\n' "$found" "$tried"
[[ ! -e missed ]] || sed 's/^/  not: /' missed
[[ ! -e accepted ]] || sed 's/^/  /' accepted
expect_found() {
  [[ $tried -ge 800 ]] || fail "expected at least 800 misspelt keys, tried $tried"
  [[ $((100 * found)) -ge $((98 * tried)) ]] || fail "expected 98 of 100 to be found"
}
expect_found

begin "a typo in a deciding key is one message, at its own position"
write_run
sed -i 's/source: synthetic/souce: synthetic/' run.yaml
run "$train" summary --config run.yaml
expect_code 3
expect_equal "$err" "run.yaml:12:5: unknown key 'souce' in 'train'; did you mean 'source'?"
write_run
sed -i 's/file: net.yaml/fil: net.yaml/' run.yaml
run "$train" summary --config run.yaml
expect_code 3
expect_equal "$err" "run.yaml:4:3: unknown key 'fil' in 'network'; did you mean 'file'?"
write_run
sed -i 's/  vars:/  vvars:/' run.yaml
run "$train" summary --config run.yaml
expect_code 3
expect_err "run.yaml:5:3: "
expect_err "did you mean 'vars'?"
write_run
sed -i 's/extends/extnds/' child.yaml
run "$train" summary --config child.yaml
expect_code 3
expect_equal "$err" "child.yaml:1:1: unknown key 'extnds'; did you mean 'extends'?"

begin "names of one or two letters get a suggestion"
write_run
sed -i 's/- bn$/- b/' net.yaml
run "$train" summary --config run.yaml
expect_code 3
expect_err "did you mean 'bn'?"
write_run
sed -i 's/    lr:/    l:/' run.yaml
run "$train" summary --config run.yaml
expect_code 3
expect_err "did you mean 'lr'?"

finish 3 0
