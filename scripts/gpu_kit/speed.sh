#!/usr/bin/env bash
# Parts of scripts/gpu_kit.sh that measure speed, on images made up here: speed.sh PART
#   speed       train bench of three networks in fp32, tf32 and bf16 at batch 128
#   layers      every node of their steps in bf16, timed alone in a captured graph, and the fitted rates
#   nodes       nodes and gaps inside the real step, by a GPU part that records them (TRAINYARD_NODE_TIMES)
#   probe       what launches, copies, sums and overlap cost on this GPU (tests/probe)
#   steps       a step with weight gradients left out or elsewhere, and two runs at once (tests/probe)
#   suite       rows of Keras-MXNet's benchmark on one GPU
#   resnet50    ResNet-50 at batch 256 in bf16 and fp16: images/s, memory, the first step
#   pictures    the same network fed from 10,000 JPEG files, and from a pack
#   peer        PyTorch's fastest forms ($PEER, scripts/gpu_kit/peer.py)

# shellcheck source=scripts/gpu_kit/lib.sh
source "$(dirname "$0")/lib.sh"

windows=(--windows 5 --seconds 0.4)
batch=128
# A ResNet-50 of one unit, for stand-ins.
small_resnet=(--set network.vars.size=32 --set 'network.vars.stages=[{f: 8, n: 1, s: 1}]' --set network.vars.classes=10)
if [[ -n $small ]]; then
  windows=(--windows 1 --seconds 0.01)
  batch=2
fi

# bench NETWORK PRECISION FLAGS...: a row of results.
bench() {
  "$train" bench --config "scripts/bench/$1.yaml" --gpus 1 --precision "$2" "${windows[@]}" --json "${@:3}"
}

# forecast NETWORK PRECISION BATCH: predicted images/s on this kind of GPU, from the step's nodes.
forecast() {
  local kind=H100
  [[ $(gpu_name) != *H200* ]] || kind=H200
  "$train" summary --plan --target cuda --config "scripts/bench/$1.yaml" --precision "$2" \
    --set "batch.per_gpu=$3" --json | tr -d '\n' | sed "s/.*\"gpu\": *\"$kind\",//" | number ms_per_step |
    awk -v batch="$3" '{ print 1000 * batch / $1 }'
}

# Networks and precisions with the images/s of an H100 on 2026-11-26 (docs/results).
speed() {
  local network precision before row
  while read -r network precision before; do
    [[ -z $small || $network-$precision == cnn-bf16 ]] || continue
    row=$(bench "$network" "$precision" --batch "$batch")
    echo "$row" | tee -a "$results"
    finding speed "$network $precision, batch $batch, images/s" "$(number images_per_s <<<"$row" | rounded 0)" \
      "$before on an H100, 2026-11-26" "whether speed has been lost since"
  done <<'BEFORE'
resnet20 bf16 98780
minigooglenet bf16 60545
cnn bf16 331980
resnet20 tf32 69767
minigooglenet tf32 37882
cnn tf32 214012
resnet20 fp32 18868
minigooglenet fp32 10723
cnn fp32 -
BEFORE
}

layers() {
  local network
  for network in resnet20 minigooglenet cnn; do
    [[ -z $small || $network == cnn ]] || continue
    bench "$network" bf16 --batch "$batch" --layers >>"$KIT_OUTPUT/layers.jsonl"
  done
  echo "$(wc -l <"$KIT_OUTPUT/layers.jsonl") networks in layers.jsonl"
  echo "the table of src/bench/counted_step.cpp, fitted to them:"
  scripts/gpu_kit/fit_rates.sh "$KIT_OUTPUT/layers.jsonl"
}

# The GPU part in lib/node_times is built with TRAINYARD_NODE_TIMES; stand-ins always record.
nodes() {
  local part spans network
  part=${TRAINYARD_GPU_PART:-$(compgen -G "$KIT_BUILD/lib/node_times/libtrainyard_cuda*.so" || true)}
  [[ -n $part ]] || leave_out "the GPU part that records nodes was not packed"
  spans=$(mktemp)
  for network in resnet20 minigooglenet cnn; do
    [[ -z $small || $network == cnn ]] || continue
    TRAINYARD_GPU_PART=$part bench "$network" bf16 --batch "$batch" --node-times "$spans" >/dev/null
    cat "$spans" >>"$KIT_OUTPUT/nodes.jsonl"
  done
  rm -f "$spans"
  echo "$(grep -c '"node":' "$KIT_OUTPUT/nodes.jsonl") launches of ours in nodes.jsonl"
}

# The rows whose data are made up, or can be: each trains with its augmentation, as the suite does.
suite() {
  local config batch published row flags images="source: synthetic, shape: [3, 32, 32], classes: 10"
  while read -r config batch published; do
    [[ -z $small || $config == lstm_synthetic ]] || continue
    flags=()
    [[ $config != *_cifar10 ]] ||
      flags=(--set "data.train={$images, size: 8192}" --set "data.val={$images, size: 128, split: test}")
    # Its table and, with gnuplot, its plot are written to the current folder.
    row=$(
      file=$PWD/configs/$config.yaml
      cd "$KIT_STORE"
      "$train" bench --config "$file" --gpus 1 --scaling 1 --batch "$batch" --rounds 1 --windows 1 --seconds 0.2 \
        --json "${flags[@]}"
    )
    echo "$row" | tee -a "$results"
    finding suite "$config, batch $batch, samples/s" "$(number images_per_s <<<"$row" | rounded 0)" "$published" \
      "the GPU rows of docs/recipes.md"
  done <<'PUBLISHED'
resnet50_synthetic 32 194 on a V100
resnet56v1_cifar10 32 831 on a V100
resnet56_256_synthetic 32 135 on a V100
lstm_synthetic 128 3846 on a V100
PUBLISHED
}

resnet50() {
  local precision size=256 flags=() row
  [[ -z $small ]] || { size=2 && flags=("${small_resnet[@]}" --set 'data.train.shape=[3, 32, 32]' --set 'data.val.shape=[3, 32, 32]' --set data.train.classes=10 --set data.val.classes=10); }
  for precision in bf16 fp16; do
    row=$(bench resnet50 "$precision" --batch "$size" "${flags[@]}")
    echo "$row" | tee -a "$results"
    finding resnet50 "ResNet-50 $precision, batch $size, images/s" "$(number images_per_s <<<"$row" | rounded 0)" \
      "$(forecast resnet50 "$precision" "$size" | rounded 0)" "whether the aim of 5,000 is met"
    finding resnet50 "ResNet-50 $precision, seconds to the first step" "$(number first_step_s <<<"$row" | rounded 1)" "-" \
      "whether choosing engines takes too long"
    peer resnet50 "$size" "amp${precision/fp16/16}" eager 60
  done
}

# JPEG files of 330x210 pixels, of one picture: the work of decoding is the same for each.
write_jpegs() {
  local class i
  for ((class = 0; class < 10; ++class)); do
    mkdir -p "$1/$class"
    for ((i = 0; i < $2 / 10; ++i)); do cp tests/data/images/large.jpg "$1/$class/$i.jpg"; done
  done
}

# trained NAME SOURCE: two epochs of ResNet-50 from pictures; rate and memory of the second.
trained() {
  local name=$1
  printf 'extends: %s\ndata: {train: {%s}, val: {%s, limit: 256}}\n' "$PWD/scripts/gpu_kit/pictures.yaml" "$2" "$2" >"$work/run.yaml"
  "$train" --config "$work/run.yaml" --gpus 1 --precision bf16 --out "$work/$name" --quiet "${flags[@]}"
  column() { awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) at = i } END { print $at }' "$work/$name/metrics.csv"; }
  finding pictures "ResNet-50 bf16 from $name, images/s" "$(column images_per_s | rounded 0)" "-" \
    "whether reading pictures keeps up (data wait $(column data_wait_percent) %)"
  finding pictures "ResNet-50 bf16 from $name, MiB of GPU memory in use" "$(column gpu_mem_mib | rounded 0)" \
    "$("$train" summary --plan --target cuda --config "$work/run.yaml" --precision bf16 "${flags[@]}" |
      sed -n 's/^memory: \([0-9.]*\) MiB.*/\1 and the driver/p')" "whether the forecast of memory holds"
}

pictures() {
  local work flags=() count=10000
  work=$(mktemp -d)
  if [[ -n $small ]]; then
    count=20
    flags=("${small_resnet[@]}" --set 'data.augment=[random_resized_crop: {size: 32}]' --set batch.per_gpu=2)
  fi
  write_jpegs "$work/pictures" "$count"
  trained "JPEG files" "source: image_folder, root: $work/pictures, size: 256"
  "$train" data pack "$work/pictures" size=256 "$work/pictures.pack"
  trained "a pack" "source: pack, file: $work/pictures.pack"
  rm -rf "$work"
}

# peer NETWORK BATCH MODE FORM SECONDS: a row of PyTorch's, if it ends in time.
peer() {
  local row
  [[ -n ${PEER-} ]] || { echo "no PyTorch: PEER is not set" && return; }
  if ! row=$(timeout "$5" python3 scripts/gpu_kit/peer.py "$PEER" --net "$1" --batch "$2" --mode "$3" --form "$4"); then
    finding peer "PyTorch, $1, batch $2, $3, $4, images/s" "none within $5 s" "-" "-"
    return
  fi
  echo "$row" | tee -a "$results"
  finding peer "PyTorch, $1, batch $2, $3, $4, images/s" "$(number images_per_s <<<"$row" | rounded 0)" "-" \
    "the fastest form is what the README compares with"
}

peers() {
  local network size began=$SECONDS
  [[ -n ${PEER-} ]] || leave_out "PEER, the file torch_train_speed.py, is not set"
  for form in eager graph reduce-overhead; do
    while read -r network size; do
      peer "$network" "$size" ampbf16 "$form" "$([[ $form == reduce-overhead ]] && echo 150 || echo 30)"
    done <<<$'resnet20 128\nminigooglenet 128\nresnet50 256'
  done
  peer resnet20 128 ampbf16 max-autotune $((KIT_SECONDS - SECONDS + began - 5))
}

case $1 in
  speed | layers | nodes | suite | resnet50 | pictures) "$1" ;;
  probe)
    with_own_libraries
    "$KIT_BUILD/bin/probe" --seconds $((KIT_SECONDS - 5)) --output "$KIT_OUTPUT/probe.jsonl"
    ;;
  steps)
    with_own_libraries
    flags=(--config scripts/bench/resnet20.yaml --batch 128)
    [[ -z $small ]] || flags=(--config scripts/kill_resume.yaml --batch 4 --steps 2)
    "$KIT_BUILD/bin/probe_step" "${flags[@]}" --precision bf16 --seconds $((KIT_SECONDS - 5)) --output "$KIT_OUTPUT/steps.jsonl"
    ;;
  peer) peers ;;
  *) die "no part '$1'" ;;
esac
