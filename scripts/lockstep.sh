#!/usr/bin/env bash
# Measures how much faster than one rank two could be on this machine if all-reduce took no time. ResNet-20,
# 64 images per step, one thread each: one run alone; two independent runs at once, each on its core; the same
# two as if each step waited for the slower of them; two ranks. Takes some minutes.
#
#   DATA=FOLDER scripts/lockstep.sh
#
# FOLDER contains CIFAR-10 (cifar-10-batches-bin). ROUNDS: default 5. The program: $TRAIN, else
# build/release/bin/train. Keep the machine otherwise idle.

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

train=$(realpath "${TRAIN:-build/release/bin/train}")
data=$(realpath "${DATA:?the folder of CIFAR-10}")
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

# start NAME SAMPLES COMMAND...: trains one epoch into the folder NAME.
start() {
  local name=$1 samples=$2
  shift 2
  "$@" --config resnet_cifar10 --gpus 0 --threads 1 --set batch.per_gpu=64 --set epochs=1 \
    --set data.train.limit="$samples" --set data.val.limit=100 --set "data.train.root=$data" \
    --set "data.val.root=$data" --set output.steps=true --set lr_scaling=none \
    --out "$work/$name" >"$work/$name.log" 2>&1 || die "$(cat "$work/$name.log")"
}

# Milliseconds of each step except the first ones.
steps_of() {
  awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "elapsed_s") column = i; next }
           NR > 6 { print 1e3 * ($column - before) } { before = $column }' "$work/$1/steps.csv"
}

printf '| alone, ms per step | deviation | two at once, speed-up | in lockstep, speed-up | two ranks, speed-up |\n'
printf '|---|---|---|---|---|\n'
for ((round = 0; round < ${ROUNDS:-5}; ++round)); do
  rm -rf "${work:?}"/*
  start alone 7680 "$train"
  start left 7680 taskset -c 0 "$train" &
  start right 7680 taskset -c 1 "$train"
  wait "$!"
  start ranks 15360 "$train" --replicas 2
  paste <(steps_of alone) <(steps_of left) <(steps_of right) <(steps_of ranks) |
    awk 'NF == 4 { ++n; alone += $1; squares += $1 * $1; both += ($2 + $3) / 2
                   slower += $2 > $3 ? $2 : $3; ranks += $4 }
         END { printf "| %.1f | %.1f | %.2f | %.2f | %.2f |\n", alone / n,
                 sqrt(squares / n - (alone / n) ^ 2), 2 * alone / both, 2 * alone / slower,
                 2 * alone / ranks }'
done
