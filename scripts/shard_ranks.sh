#!/usr/bin/env bash
# Tests `batch.shards` on real networks and data: 50 steps on 1, 2 and 4 CPU ranks, and on 4 that are killed
# and then resumed on 1, must give the same bytes (weights, optimizer state, statistics, untimed columns);
# another seed must give different ones. Run by hand, some minutes per network.
#
#   DATA=FOLDER scripts/shard_ranks.sh [CONFIG...]   (default: resnet_cifar10 minigooglenet_cifar10)
#
# FOLDER contains CIFAR-10 (cifar-10-batches-bin). The program: $TRAIN, else build/release/bin/train.

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

train=$(realpath "${TRAIN:-build/release/bin/train}")
data=$(realpath "${DATA:?the folder of CIFAR-10}")
configs=("$@")
[[ $# -gt 0 ]] || configs=(resnet_cifar10 minigooglenet_cifar10)
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

# Two epochs of 25 steps, saved every tenth.
flags=(--set 'batch={total: 64, shards: 4}' --set epochs=2 --set data.train.limit=1600
  --set data.val.limit=400 --set "data.train.root=$data" --set "data.val.root=$data"
  --set 'checkpoint.every=10 steps' --set output.steps=true)

# start NAME RANKS FLAGS...: runs $config into the folder NAME.
start() {
  local name=$1 ranks=$2
  shift 2
  "$train" --config "$config" "${flags[@]}" --gpus 0 --replicas "$ranks" --out "$work/$name" "$@" \
    >>"$work/log" 2>&1
}

# compare NAME TEXT: compares with the run on one rank.
compare() {
  fingerprint "$work/$1" >"$work/found"
  cmp -s "$work/expected" "$work/found" ||
    die "$config, $2: $(diff "$work/expected" "$work/found" | grep '^>' | cut -d ' ' -f 2 | xargs) differ"
  say "$config, $2: equal"
}

killed_on_four() {
  start killed 4 &
  local launcher=$!
  while [[ ! -s $work/killed/checkpoints/last ]]; do sleep 0.1; done
  sleep "0.$((RANDOM % 10))"
  kill -KILL "$(pgrep --parent "$launcher" || echo "$launcher")"
  wait "$launcher" 2>/dev/null || true
  [[ ! -s $work/killed/metrics.csv || $(wc -l <"$work/killed/metrics.csv") -lt 3 ]] ||
    die "$config: the run had ended before it was killed"
  "$train" resume "$work/killed" --gpus 0 --replicas 1 >>"$work/log" 2>&1
}

for config in "${configs[@]}"; do
  rm -rf "${work:?}"/*
  start one 1
  fingerprint "$work/one" >"$work/expected"
  [[ $(wc -l <"$work/expected") -ge 4 ]] || die "$config: too little to compare"
  start other 1 --seed 7
  fingerprint "$work/other" >"$work/found"
  [[ -z $(equal_parts "$work/expected" "$work/found") ]] || die "$config: another seed gives the same"
  for ranks in 2 4; do
    start "on$ranks" "$ranks"
    compare "on$ranks" "$ranks ranks"
  done
  killed_on_four
  compare killed "killed on 4 ranks, resumed on 1"
done
