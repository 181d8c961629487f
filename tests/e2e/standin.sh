#!/usr/bin/env bash
# Training on GPUs simulated by stand-ins (scripts/standin.sh): which GPUs a run uses, and the bytes that
# it writes.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/lib_ranks.sh
source "$(dirname "$0")/lib_ranks.sh"
# shellcheck source=tests/e2e/lib_standin.sh
source "$(dirname "$0")/lib_standin.sh"

tiny=(--config tiny.yaml --no-tune)

if begin_on_gpus "each form of --gpus selects its GPUs and trains on them"; then
  while read -r gpus ranks; do
    on 4 "${tiny[@]}" --set epochs=1 --gpus "$gpus" --out "run-$ranks-$gpus"
    expect_code 0
    expect_out "global batch $((16 * ranks)) = 16 x $ranks"
  done <<<"1 1
4 4
0,2,3 3
id:2 1
auto:2 2
all 4"
  on 4 "${tiny[@]}" --set epochs=1 --gpus id:2 --out second
  expect_out "| cuda:2 (NVIDIA H200), "
  on 4 "${tiny[@]}" --set epochs=1 --out unsaid
  expect_out "| cuda:0 (NVIDIA H200), "
fi

if begin_on_gpus "ranks share GPUs if there are more ranks than GPUs"; then
  for gpus in 1 2; do
    on 4 "${tiny[@]}" --set epochs=1 --gpus "$gpus" --replicas 4 --out "$gpus"
    expect_code 0
    expect_out "shared by 4 ranks"
  done
  expect_same_run 1 2
fi

if begin_on_gpus "a captured run is bit-identical to an eager one, in each precision"; then
  for precision in fp32 tf32 bf16 fp16; do
    for way in captured eager; do
      flag=()
      [[ $way == captured ]] || flag=(--eager)
      on 1 "${tiny[@]}" --gpus 1 --precision "$precision" --out "$precision-$way" "${flag[@]}"
      expect_code 0
    done
    expect_same_run "$precision-captured" "$precision-eager"
  done
  expect_other_file fp32-eager/weights/last.safetensors bf16-eager/weights/last.safetensors
fi

if begin_on_gpus "fp16 steps that overflow are skipped until the loss scale fits, on every GPU"; then
  scale=(--precision fp16 --set 'loss_scale={start: 16777216, dynamic: true}')
  for way in captured eager; do
    flag=()
    [[ $way == captured ]] || flag=(--eager)
    on 2 "${tiny[@]}" --gpus 2 "${scale[@]}" --set batch.per_gpu=8 --out "$way" "${flag[@]}"
    expect_code 0
  done
  expect_same_run captured eager
  expect_equal "$(cut -d , -f 4,10 captured/metrics.csv | sed -n 2p)" nan,6
  left_out=$(sed -n 4p captured/metrics.csv | cut -d , -f 10)
  [[ $left_out -lt 6 ]] || fail "expected updates in epoch 3, found $left_out skipped"
fi

if begin_on_gpus "GPU-resident data and transferred data give the same bytes"; then
  # 60 images of 8 x 8 pixels, whose bytes are the digits of numbers.
  { printf '\0\0\10\3\0\0\0\74\0\0\0\10\0\0\0\10' && seq 2000 | head -c 3840; } >images
  { printf '\0\0\10\1\0\0\0\74' && printf '\0\1\2\3%.0s' {1..15}; } >labels
  sed -i -e 's/input: .*/input: [1, 8, 8]/' \
    -e 's/{source: synthetic.*/{source: idx, images: images, labels: labels, classes: 4}/' tiny.yaml
  for resident in always never; do
    on 1 "${tiny[@]}" --gpus 1 --set "data.resident=$resident" --out "$resident" \
      --set 'average={ema: 0.9}' --set 'train_eval={every: 2 epochs, samples: 30}'
    expect_code 0
    text="uploaded as bytes"
    [[ $resident == never ]] || text=resident
    expect_out "$text"
  done
  expect_same_run always never
fi

if begin_on_gpus "with shards one GPU, four GPUs, and four ranks on one GPU give the same bytes"; then
  shards=(--set 'batch={total: 32, shards: 4}')
  on 4 "${tiny[@]}" "${shards[@]}" --gpus 1 --out one
  expect_code 0
  on 4 "${tiny[@]}" "${shards[@]}" --gpus 4 --out four
  expect_code 0
  on 4 "${tiny[@]}" "${shards[@]}" --gpus 1 --replicas 4 --out replicas
  expect_code 0
  expect_same_run one four
  expect_same_run one replicas
fi

if begin_on_gpus "a run is resumed on another number of GPUs, with the same bytes with shards"; then
  # Rounded weights are packed from those of the checkpoint, and from their average.
  shards=(--set 'batch={total: 32, shards: 4}' --precision bf16 --set 'average={ema: 0.9}')
  on 4 "${tiny[@]}" "${shards[@]}" --gpus 4 --set epochs=30 --out whole
  run_until "Epoch 2/" "$source_dir/scripts/standin.sh" --build "$build" 4 "${quick[@]}" "${tiny[@]}" \
    "${shards[@]}" --gpus 4 --set epochs=30 --out parts
  kill -KILL "$pid"
  wait_for_exit
  on 4 resume parts --no-tune --gpus 2
  expect_code 0
  expect_same_run whole parts
fi

if begin_on_gpus "a run computes with the weights of --init before its first step"; then
  sed -i '/- bn$/d' tiny.yaml
  losses_of() { cut -d , -f "$(head -1 "$1/metrics.csv" | tr , '\n' | grep -nx val_loss | cut -d : -f 1)" "$1/metrics.csv"; }
  on 1 "${tiny[@]}" --gpus 1 --precision bf16 --out from
  on 1 "${tiny[@]}" --gpus 1 --precision bf16 --out to --init from/weights/last.safetensors \
    --set epochs=1 --set 'optimizer={sgd: {lr: 1e-30}}'
  expect_code 0
  expect_equal "$(losses_of to | tail -1)" "$(losses_of from | tail -1)"
fi

if begin_on_gpus "accumulation, sync batch norm and 16-bit gradient dtype give the same bytes with --eager"; then
  sed -i 's/- bn$/- bn: {sync: true}/' tiny.yaml
  for set in accumulate=2 ranks.transport=bf16 seed=7; do
    on 2 "${tiny[@]}" --gpus 2 --set "$set" --out "${set%=*}"
    expect_code 0
    on 2 "${tiny[@]}" --gpus 2 --set "$set" --out "${set%=*}-eager" --eager
    expect_code 0
    expect_same_run "${set%=*}" "${set%=*}-eager"
  done
fi

if begin_on_gpus "ranks started by torchrun, mpirun or srun take one GPU each, and train like local ones"; then
  on 2 "${tiny[@]}" --gpus 2 --out local
  expect_code 0
  # variables_of LAUNCHER N: as it sets them for rank N of two on one host.
  variables_of() {
    case $1 in
      torchrun) echo "RANK=$2 WORLD_SIZE=2 LOCAL_RANK=$2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29531" ;;
      mpirun) echo "OMPI_COMM_WORLD_RANK=$2 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK=$2 \
        OMPI_COMM_WORLD_LOCAL_SIZE=2 PMIX_NAMESPACE=$$" ;;
      srun) echo "SLURM_JOB_ID=$$ SLURM_STEP_ID=0 SLURM_PROCID=$2 SLURM_LOCALID=$2 SLURM_NODEID=0 SLURM_NTASKS=2 \
        SLURM_STEP_NUM_TASKS=2 SLURM_STEP_NUM_NODES=1 SLURM_STEP_TASKS_PER_NODE=2 SLURM_STEP_NODELIST=localhost" ;;
    esac
  }
  for launcher in torchrun mpirun srun; do
    on_two 2 "$(variables_of "$launcher" 0)" "$(variables_of "$launcher" 1)" "${tiny[@]}" --out "$launcher"
    expect_code 0
    expect_out "global batch 32 = 16 x 2"
    expect_same_run local "$launcher"
  done
fi

if begin_on_gpus "a rank without a GPU next to one with a GPU is an error before training, exit 8"; then
  torchrun="WORLD_SIZE=2 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=29532"
  on_two 2 "$torchrun RANK=0 CUDA_VISIBLE_DEVICES=0" "$torchrun RANK=1 CUDA_VISIBLE_DEVICES=" "${tiny[@]}"
  expect_code 8
  expect_err "rank 0 ($(uname -n)) has a GPU, and rank 1 ($(uname -n)) has none: "
  expect_no_path runs
fi

if begin_on_gpus "GPUs that are too few, too old, busy or not allowed are refused, exit 8"; then
  refused() {
    local text=$1
    shift
    on "$@"
    expect_code 8
    expect_err "$text"
    expect_equal "$(wc -l <<<"$err")" 1
  }
  refused "--gpus 5: 4 GPUs were found; ask for at most 4" 4 "${tiny[@]}" --gpus 5
  refused "there is no GPU 4" 4 "${tiny[@]}" --gpus id:4
  refused "cuda:1 (Tesla T4) has compute capability 7.5" h200,t4 "${tiny[@]}" --gpus 2
  refused "no CUDA-capable device is detected" 0 "${tiny[@]}" --gpus 1
  STANDIN_DRIVER=12080 refused "the NVIDIA driver is too old: it supports CUDA 12.8" 1 "${tiny[@]}" --gpus 1
  STANDIN_COMPUTE_MODE=2 refused "is in prohibited mode" 1 "${tiny[@]}" --gpus 1
  STANDIN_COMPUTE_MODE=3 refused "is in exclusive mode" 1 "${tiny[@]}" --gpus 1 --replicas 2
  expect_no_path runs
fi

if begin_on_gpus "doctor finds everything that training on a GPU needs"; then
  on h200,h200,rtx4090 doctor
  expect_code 0
  expect_out "cuda:2    NVIDIA GeForce RTX 4090, compute capability 8.9"
  expect_out_match "cuda:0 +- +NVLink +host"
  expect_out "everything that training on a GPU needs was found"
fi

if begin_on_gpus "bench times each node of a step by itself, and when it runs within the step"; then
  # With little memory the product that measures the peak is small.
  export STANDIN_MEMORY_MIB=520
  on 1 bench --config tiny.yaml --no-tune --gpus 1 --batch 16 --windows 1 --seconds 0.01 --json --layers \
    --node-times nodes.jsonl
  unset STANDIN_MEMORY_MIB
  expect_code 0
  rows=$(grep -o '{"step":[^}]*}' <<<"$out")
  for row in '"begin","kind":"batch","functor":"PlaceBatch"' '"conv1 forward_train","kind":"convolution","functor":""' \
    '"bn1 forward_train","kind":"bn","functor":"BatchMoments"' '"bn1 forward_train","kind":"bn","functor":"NormaliseRows"' \
    '"update","kind":"update","functor":"FinishGradients"' '"update","kind":"update","functor":"UpdateSpan"'; do
    expect_equal "$(grep -cF "$row" <<<"$rows")" 1
  done
  expect_equal "$(wc -l <<<"$rows")" "$(grep -cE '"microseconds":[0-9.e-]*[1-9]' <<<"$rows")"
  # One row a launch, and one span a launch of ours.
  nodes=$(grep -o '"nodes":[0-9]*,"own_bytes"' <<<"$out" | grep -o '[0-9]*' | head -n 1)
  expect_equal "$(wc -l <<<"$rows")" "$nodes"
  ours=$(grep -c '"functor":"[A-Z]' <<<"$rows")
  expect_equal "$(grep -c '"node":' nodes.jsonl)" "$ours"
  expect_equal "$(head -n 1 nodes.jsonl | grep -c '"net":"tiny","batch":16,"device":"cuda:0 ')" 1
  expect_equal "$(grep '"node":' nodes.jsonl | grep -o '"functor":"[A-Za-z]*"')" \
    "$(grep -o '"functor":"[A-Z][A-Za-z]*"' <<<"$rows")"
  # A convolution is in the gap between the batch and batch norm.
  expect_equal "$(grep '"functor":"BatchMoments"' nodes.jsonl | grep -c '"gap_us":[0-9.]*,"calls_in_gap":1}')" 1
fi

finish 14 14
