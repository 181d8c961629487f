#!/usr/bin/env bash
# Injects faults into every rank in every phase of a job of three ranks, on CPUs or on one GPU each: kill -9,
# SIGSTOP, SIGTERM, vanishing data, a full disk. Each must end all ranks within its limit, with the right
# exit code, one message that names the rank, and a last checkpoint from which the run can be resumed. A slow
# test of the suite: about 10 minutes.
#
#   scripts/fault_drill.sh [--gpus] [TRAIN [PATTERN]]   (default: build/release/bin/train and all cases)
#
# Without GPUs, on simulated ones: scripts/standin.sh --build build/release 3 scripts/fault_drill.sh --gpus
# Prints one line per case, then "N of M". The phase is where the rank spends nearly all of its time in that
# case's run; the message says where it actually was.

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

# Device flags for the whole job, and for each rank if started by hand.
devices=(--gpus 0 --replicas 3)
own_device=(--gpus 0)
if [[ ${1-} == --gpus ]]; then
  devices=(--gpus 3 --no-tune)
  own_device=(--no-tune)
  shift
fi
train=$(realpath "${1:-build/release/bin/train}")
only=${2:-.}
note=
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
limits=(--set limits.first_step=30 --set limits.step=20 --set limits.silence=2)
most_seconds=30
good=0
cases=0

# write_run FILE HIDDEN TRAIN VAL EVERY: a run; the numbers decide which phase takes most of the time.
write_run() {
  cat >"$1" <<YAML
name: drill
network:
  input: [3, 16, 16]
  layers:
    - conv: {filters: 16, kernel: 3, pad: same_upper}
    - bn
    - relu
    - dense: $2
    - dense: 4
    - softmax
data:
  train: {source: synthetic, shape: [3, 16, 16], classes: 4, size: $3, learnable: true}
  val: {source: synthetic, shape: [3, 16, 16], classes: 4, size: $4, split: test, learnable: true}
batch: {per_gpu: 16}
loss: cross_entropy
metrics: [accuracy]
optimizer: {sgd: {lr: 0.001, momentum: 0.9}}
epochs: 100000
threads: 1
checkpoint: {every: $5, keep: 2}
YAML
}

write_run step.yaml 16 4800 48 "1 epoch"
write_run all_reduce.yaml 1024 480 48 "1 epoch"
write_run evaluation.yaml 16 48 48000 "1 epoch"
write_run save.yaml 1024 48 48 "1 steps"
cp step.yaml start.yaml

# await TEST...: waits until TEST succeeds, at most 30 s.
await() {
  local i
  for ((i = 0; i < 600; ++i)); do
    if "$@" >/dev/null 2>&1; then return 0; fi
    sleep 0.05
  done
  return 1
}
is_there() { [[ -n $(rank_process "$1" "$2") ]]; }
has_saved() { [[ -s $1/checkpoints/last ]]; }
has_left() { ! pgrep -f -- "--out $1\b"; }

# judge NAME OUT CODE EXPECTED TEXT SECONDS
judge() {
  local name=$1 out=$2 code=$3 expected=$4 text=$5 seconds=$6 fault=""
  [[ $code -eq $expected ]] || fault+=" exit code $code instead of $expected;"
  grep -q -- "$text" "$out.log" || fault+=" no message with '$text';"
  # The launcher quotes a rank's log after its own message.
  [[ $(sed '/the end of its output/q' "$out.log" | grep -c 'train: error') -le 1 ]] ||
    fault+=" more than one message;"
  awk -v s="$seconds" -v most="$most_seconds" 'BEGIN { exit !(s <= most) }' || fault+=" took too long;"
  await has_left "$out" || fault+=" ranks are left;"
  if has_saved "$out"; then
    local again=0
    "$train" resume "$out" "${devices[@]}" --max-time 0.5 "${limits[@]}" >"$out.again" 2>&1 || again=$?
    [[ $again -eq 75 ]] || fault+=" resume ended with $again;"
  fi
  cases=$((cases + 1))
  if [[ -z $fault ]]; then good=$((good + 1)); fi
  printf '%-28s %5.1f s  exit %3d  %s\n' "$name" "$seconds" "$code" "${fault:-ok}"
  [[ -z $fault ]] || sed 's/^/    /' "$out.log" | tail -n 5
}

# drill SIGNAL RANK PHASE CODE TEXT
drill() {
  local signal=$1 rank=$2 phase=$3 code=0 begin seconds
  local name="$signal rank $rank $phase$note"
  local out=${name// /_}
  [[ $name =~ $only ]] || return 0
  set -m
  env PATH=/nonexistent "$train" --config "$phase.yaml" "${devices[@]}" --out "$out" \
    "${limits[@]}" >"$out.log" 2>&1 </dev/null &
  local launcher=$!
  set +m
  await is_there "$out" "$rank" || say "rank $rank did not appear"
  if [[ $phase != start ]]; then
    await has_saved "$out" || say "nothing was saved"
    sleep "0.$((RANDOM % 10))"
  fi
  begin=$EPOCHREALTIME
  kill "-$signal" "$(rank_process "$out" "$rank")"
  wait "$launcher" 2>/dev/null || code=$?
  seconds=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
  judge "$name" "$out" "$code" "$4" "$5" "$seconds"
}

# vanish RANK: the images of one rank are deleted while it reads them; each rank has a folder of its own,
# and the ranks are started by hand.
vanish() {
  local rank=$1 other out="$scratch/vanish_$1$note" code=0 begin seconds pids=()
  out=${out// /_}
  [[ "data vanish rank $rank$note" =~ $only ]] || return 0
  write_images "$out.data" 16
  sed 's/train: {source: synthetic.*/train: {source: image_folder, root: data, memory_mib: 0}/
       s/val: {source: synthetic.*/val: {source: image_folder, root: data, memory_mib: 0}/' step.yaml >images.yaml
  for other in 0 1 2; do
    mkdir -p "$out.$other"
    cp -r "$out.data" "$out.$other/data"
    (cd "$out.$other" && exec env PATH=/nonexistent RANK="$other" LOCAL_RANK="$other" WORLD_SIZE=3 \
      LOCAL_WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT="$((29600 + rank))" TRAINYARD_TOKEN=drill \
      "$train" --config "$scratch/images.yaml" --set data.train.root=data --set data.val.root=data \
      "${own_device[@]}" --out "$out" "${limits[@]}") \
      >"$out.$other.log" 2>&1 </dev/null &
    pids+=($!)
  done
  await has_saved "$out" || say "nothing was saved"
  begin=$EPOCHREALTIME
  rm -r "$out.$rank/data"
  wait "${pids[0]}" || code=$?
  wait || true
  seconds=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
  mv "$out.0.log" "$out.log"
  rm -r "$out/checkpoints" # without data the run cannot be resumed
  judge "data vanish rank $rank$note" "$out" "$code" 4 "data/" "$seconds"
}

# full_disk KIBIBYTES: the run's folder is on a file system of that size.
full_disk() {
  local out="full_$1${note// /_}" code=0 begin=$EPOCHREALTIME seconds
  [[ "full disk of $1 KiB$note" =~ $only ]] || return 0
  mkdir -p "$out.disk"
  unshare --mount --map-root-user bash -c "mount -t tmpfs -o size=$1k tmpfs '$out.disk' &&
    exec env PATH=/nonexistent '$train' --config save.yaml ${devices[*]} --out '$out.disk/run' ${limits[*]}" \
    >"$out.log" 2>&1 </dev/null || code=$?
  seconds=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
  judge "full disk of $1 KiB$note" "$out" "$code" 7 "full_$1" "$seconds"
}

for phase in start step all_reduce evaluation save; do
  for rank in 0 1 2; do
    drill KILL "$rank" "$phase" 8 "rank $rank ("
    drill STOP "$rank" "$phase" 8 "rank $rank ("
    if [[ $phase == start ]]; then
      drill TERM "$rank" "$phase" 143 ""
    else
      drill TERM "$rank" "$phase" 143 "resume with: train resume"
    fi
  done
done
for rank in 0 1 2; do vanish "$rank"; done
for size in 64 2048 9000; do full_disk "$size"; done

# One case of each fault with the default limits: 30 seconds of silence, and up to 15 until a stopped
# process is killed.
limits=()
note=" at defaults"
most_seconds=60
drill KILL 1 step 8 "rank 1 ("
drill STOP 1 step 8 "rank 1 ("
drill TERM 1 step 143 "resume with: train resume"
vanish 1
full_disk 2048
say "$good of $cases"
[[ $good -eq $cases ]]
