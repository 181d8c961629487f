#!/usr/bin/env bash
# Measures training throughput against PyTorch's, on the same cores, alternately.
#
#   PEER=torch_train_speed.py scripts/speed_table.sh [NET...]
#
# NET: resnet20, minigooglenet, cnn (default: all three); their files are in scripts/bench/.
# PEER prints one JSON line per network when called with: --device cpu --nets N --modes M --batches B --threads T.
#
# ROUNDS   how often both are measured, alternately (default 5)
# THREADS  "2 1"
# BATCH    128
# MODES    of the peer, comma-separated: fp32,fp32nchw (in bf16: ampbf16)
# PRECISIONS  of train: "fp32" (or "fp32 bf16")
# PYTHON   the peer's interpreter, or several: "/usr/bin/python3"
# OUT      docs/results/speed.jsonl; one line per measurement, with round and load average
#
# PyTorch from Debian links a slow BLAS unless libopenblas0-openmp is installed. Keep the machine
# otherwise idle: each line has the load average at its start, which reveals a disturbed measurement.

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

[[ -f ${PEER:-} ]] || die "PEER is not a file: '${PEER:-}'; set it to the path of the peer's script"
rounds=${ROUNDS:-5}
read -ra threads <<<"${THREADS:-2 1}"
batch=${BATCH:-128}
modes=${MODES:-fp32,fp32nchw}
output=${OUT:-docs/results/speed.jsonl}
read -ra pythons <<<"${PYTHON:-/usr/bin/python3}"
read -ra precisions <<<"${PRECISIONS:-fp32}"
nets=("$@")
[[ $# -gt 0 ]] || nets=(resnet20 minigooglenet cnn)

for python in "${pythons[@]}"; do
  "$python" -c 'import torch' || die "$python has no torch; install python3-torch, or set PYTHON"
done
is_installed libopenblas0-openmp || say "libopenblas0-openmp is missing: the peer may be slow"

load_average() { cut -d ' ' -f 1 /proc/loadavg; }

# record ROUND THREADS LOAD: adds these to the JSON lines that contain a throughput.
record() {
  local lines
  lines=$(cat)
  [[ $lines != *'"error"'* ]] || die "the peer failed: $lines"
  sed -n "/images_per_s/ s/^{/{\"round\": $1, \"threads_asked\": $2, \"load_average\": $3, /p" <<<"$lines" |
    tee -a "$output"
}

# Both programs choose how their threads wait.
unset OMP_WAIT_POLICY GOMP_SPINCOUNT OMP_NUM_THREADS

build release train
mkdir -p "$(dirname "$output")"
: >"$output"
for round in $(seq "$rounds"); do
  for net in "${nets[@]}"; do
    for count in "${threads[@]}"; do
      for precision in "${precisions[@]}"; do
        load=$(load_average)
        build/release/bin/train bench --config "scripts/bench/$net.yaml" --batch "$batch" \
          --threads "$count" --precision "$precision" --json |
          sed "s/^{/{\"precision\": \"$precision\", /" | record "$round" "$count" "$load"
      done
      for python in "${pythons[@]}"; do
        load=$(load_average)
        "$python" "$PEER" --device cpu --nets "$net" --batches "$batch" --modes "$modes" \
          --threads "$count" | record "$round" "$count" "$load"
      done
    done
  done
done
python3 scripts/speed_table.py "$output"
