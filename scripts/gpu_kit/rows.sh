#!/usr/bin/env bash
# Part `rows` of scripts/gpu_kit.sh: the published rows of docs/recipes.md, trained to the end, seed by seed, until the
# time is over. A row that is in docs/results/gpu_rows.csv or in the output's rows.csv is done; one that was cut off is
# in the output's runs.1 and runs.2, and goes on from there if these are in the kit.

# shellcheck source=scripts/gpu_kit/lib.sh
source "$(dirname "$0")/lib.sh"

# name, precisions, published val_accuracy, seconds a run should take on an H100 (from its rates), config and flags
recipes() {
  cat <<'TABLE'
minigooglenet_256 bf16,tf32 0.8877 50 minigooglenet_cifar10_256
cnn_25_nearest bf16,tf32 0.75 15 scripts/gpu_kit/cnn_nearest.yaml --epochs 25
resnext110_2_epochs bf16 - 40 resnext110_cifar10 --epochs 2
resnet20v1_128 bf16 0.9216 110 resnet20v1_cifar10 --set batch.per_gpu=128
minigooglenet_64 bf16,tf32 0.9065 80 minigooglenet_cifar10
cnn_50_nearest bf16,tf32 0.79 30 scripts/gpu_kit/cnn_nearest.yaml
cnn_25_bilinear bf16 - 15 cnn_cifar10 --epochs 25
cnn_50_bilinear bf16 - 30 cnn_cifar10
resnet20v1_32 bf16 0.9216 400 resnet20v1_cifar10
TABLE
}

done_rows=$KIT_OUTPUT/rows.csv
runs=$KIT_STORE/runs
seeds=(1 2 3)
data=$KIT_STORE/data
deadline=$((SECONDS + KIT_SECONDS - 15))

is_done() { grep -qs "^$1,$2,$3," docs/results/gpu_rows.csv "$done_rows"; }

# best FOLDER: "val_accuracy,epoch" of the best epoch, and the seconds trained.
best() {
  awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
           $at["val_accuracy"] >= most { most = $at["val_accuracy"]; epoch = $1 }
           END { printf "%s,%s,%.0f", most, epoch, $at["elapsed_s"] }' "$1/metrics.csv"
}

# train_row NAME PRECISION SEED PUBLISHED SECONDS CONFIG FLAGS...: 75: cut off, to be continued.
train_row() {
  local folder=$runs/$1-$2-$3 code=0 left=$((deadline - SECONDS)) published=$4 seconds=$5 figures
  local time=(--max-time "${left}s" --gpus 1 --quiet)
  if [[ -f $folder/config.yaml ]]; then
    "$train" resume "$folder" --set "data.train.root=$data" --set "data.val.root=$data" "${time[@]}" || code=$?
  else
    "$train" --config "$6" "${@:7}" --precision "$2" --seed "$3" --set "data.train.root=$data" \
      --set "data.val.root=$data" "${sizes[@]}" --out "$folder" "${time[@]}" || code=$?
  fi
  [[ $code -eq 0 ]] || return "$code"
  figures=$(best "$folder")
  [[ -e $done_rows ]] || echo "row,precision,seed,val_accuracy,epoch,seconds,gpu,commit,date" >"$done_rows"
  echo "$1,$2,$3,$figures,$(gpu_name),$(commit),$(date --utc +%F)" >>"$done_rows"
  finding rows "$1 $2, seed $3: best val_accuracy, its epoch, seconds" "$figures" "$published in about $seconds s" \
    "whether the published row is reproduced"
}

# for_each_row COMMAND: calls it with every row that is not done, seed by seed.
for_each_row() {
  local recipe precision seed
  for seed in "${seeds[@]}"; do
    while read -r -a recipe; do
      for precision in ${recipe[1]//,/ }; do
        is_done "${recipe[0]}" "$precision" "$seed" || "$1" "${recipe[0]}" "$precision" "$seed" "${recipe[@]:2}" || return
      done
    done < <(recipes)
  done
}

next_row() {
  [[ $SECONDS -lt $((deadline - 5)) ]] || return "$left_out"
  train_row "$@"
}

# What comes back in pieces of 16 MiB: rows of what has ended, and all of a run that was cut off.
pack_runs() {
  local folder
  for folder in "$runs"/*/; do
    rm -rf "$folder/plots" "$folder/weights"
    ! grep -q '"state": "completed"' "$folder/status.json" || rm -rf "$folder/checkpoints"
  done
  tar -cJ -C "$runs" . | split -b 16M --numeric-suffixes=1 -a 1 - "$KIT_OUTPUT/runs."
}

[[ -f $data/cifar-10-batches-bin/test_batch.bin ]] || leave_out "CIFAR-10 has not come whole"
sizes=()
if [[ -n $small ]]; then
  recipes() { echo "cnn bf16 - 1 cnn_cifar10 --epochs 1 --no-tune"; }
  sizes=(--set data.train.limit=64 --set data.val.limit=32)
  seeds=(1 2)
fi
mkdir -p "$runs"
code=0
for_each_row next_row || code=$?
pack_runs
case $code in
  0) echo "every row is done" ;;
  75 | "$left_out") echo "the time is over" ;;
  *) exit "$code" ;;
esac
