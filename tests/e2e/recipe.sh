#!/usr/bin/env bash
# The recipe that train init writes for a few images, as drawn: what it gives, and what it costs.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
make_images=$(realpath "${3:?path of make_images}")

begin "300 drawings in five classes are told apart after the recipe's training, within its time"
"$make_images" figures 1 images
run "$train" init images
expect_code 0
TIMEFORMAT=%U
total=0
for seed in 1 2 3; do
  seconds=$({ time PATH=/nonexistent "$train" images.yaml --gpus 0 --threads 1 --seed $seed --out $seed >$seed.txt 2>&1; } 2>&1)
  best=$(sed -n 's/^done: .* best val_accuracy: \([0-9.]*\) .*/\1/p' $seed.txt)
  echo "seed $seed: val_accuracy $best, $seconds s of processor time"
  [[ -n $best ]] || fail "the run of seed $seed did not end: $(tail -n 3 $seed.txt)"
  total=$(awk "BEGIN { print $total + ${best:-0} }")
  awk "BEGIN { exit !($seconds < 360) }" || fail "seed $seed took $seconds s"
done
awk "BEGIN { exit !($total / 3 >= 0.85) }" || fail "a mean accuracy of $total / 3, expected at least 0.85"

finish 1 0
