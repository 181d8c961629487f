#!/usr/bin/env bash
# Attacks the program as hostile machines, files and users do, and says what fell. A slow test of the suite.
#
#   scripts/attack.sh [--train FILE] [--seed N] [PART[=COUNT]...]
#
# Parts are the files of scripts/attack/; default: each of them, with its own count, within a quarter of an
# hour. The same seed makes the same attacks (moments of signals are as exact as the machine's clock). A part
# is a file that sets `default_count` and defines `attack COUNT`, which calls tried() for every attack and
# finding() where the program fell: where it hung, crashed, called itself wrong (exit 1), or where a run that
# was broken off does not end, resumed, as one that never was. Ends with 1 if there are findings.

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

train=build/release/bin/train
seed=1
parts=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --train) train=$2 && shift ;;
    --seed) seed=$2 && shift ;;
    -*) die "unknown flag '$1'; known: --train FILE, --seed N" ;;
    *) parts+=("$1") ;;
  esac
  shift
done
train=$(realpath "$train")
# shellcheck disable=SC2034  # used by the parts
folder_of_parts=$(realpath scripts/attack)
if [[ ${#parts[@]} -eq 0 ]]; then mapfile -t parts < <(basename -s .sh -a "$folder_of_parts"/*.sh); fi
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd "$scratch"
most_seconds=60
# Plots are no part of what is attacked here, a program that runs itself anew would count its calls twice,
# and what is compared must not depend on who calls.
export GOMP_SPINCOUNT=1000 LC_ALL=C
# A program under ASan wants to be told that another library may come before its own.
export ASAN_OPTIONS=verify_asan_link_order=0
unset TRAINYARD_DATA
search_path=/nonexistent
program=(env PATH=/nonexistent "$train")
ranks=(--gpus 0) # a part may have its own, in a local variable as these all

count=0
findings=0
code=0
tried() { count=$((count + 1)); }

# finding TEXT: one line, and the end of what the program printed.
finding() {
  findings=$((findings + 1))
  printf 'FOUND by %s: %s\n' "$part" "$1"
  tail -n 3 log 2>/dev/null | cut -c 1-300 | sed 's/^/    /'
}

# pick WORD...: one of them, in $picked (a subshell would not move RANDOM on).
pick() {
  local words=("$@")
  # shellcheck disable=SC2034  # used by the parts
  picked=${words[RANDOM % ${#words[@]}]}
}

# attempt COMMAND...: fills $code and the file log. A crash, a hang and a "bug" are findings.
attempt() {
  code=0
  timeout --signal=KILL "$most_seconds" "$@" >log 2>&1 </dev/null || code=$?
  judge_code "$*"
}

# judge_code WHAT: by $code.
judge_code() {
  case $code in
    1) finding "exit 1, which is a bug: $1" ;;
    137) finding "it hung or was killed: $1" ;;
    132 | 134 | 135 | 136 | 139) finding "it crashed with signal $((code - 128)): $1" ;;
  esac
}

# A run of part of a second that carries every kind of state and saves often.
write_run() {
  cat >"$1" <<'YAML'
name: attack
network:
  input: [3, 8, 8]
  layers:
    - conv: {filters: 4, kernel: 3, pad: same_upper}
    - bn
    - relu
    - max_pool: 2
    - dropout: 0.1
    - dense: 4
    - softmax
data:
  train: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 64, learnable: true}
  val: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 16, split: test, learnable: true}
  preprocess: [mean_image: train, scale: $1/255]
  augment:
    - hflip: 0.5
batch: {per_gpu: 16}
loss: cross_entropy
metrics: [accuracy]
optimizer: {sgd: {lr: 0.05, momentum: 0.9}}
epochs: 4
threads: 1
checkpoint: {every: 2 steps, keep: 2}
output: {steps: true}
YAML
}

# Trains run.yaml, or write_run's, without any attack into whole/; its fingerprint is in expected, its time in $length.
train_whole() {
  [[ -f run.yaml ]] || write_run run.yaml
  local begin=$EPOCHREALTIME
  attempt "${program[@]}" --config run.yaml "${ranks[@]}" --out whole
  [[ $code -eq 0 ]] || die "the run without an attack failed: $(tail -n 3 log)"
  length=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
  fingerprint whole >expected
  [[ $(wc -l <expected) -ge 3 ]] || die "too little to compare: $(cat expected)"
}

# ends_equal FOLDER WHAT: a run that was broken off, resumed, must leave what the whole one left. One that
# was broken off before it had a config has lost nothing.
ends_equal() {
  if [[ -f $1/config.yaml ]]; then
    if [[ -f $1/checkpoints/last ]] && fingerprint "$1" 2>/dev/null | cmp -s - expected; then
      rm -rf -- "$1"
      return
    fi
    attempt "${program[@]}" resume "$1" "${ranks[@]}"
    if [[ $code -ne 0 ]]; then
      finding "resume ended with $code: $2"
    elif ! fingerprint "$1" >found || ! cmp -s found expected; then
      finding "after a resume these differ: $(diff expected found | grep '^>' | cut -d ' ' -f 2 | xargs): $2"
    fi
  fi
  rm -rf -- "$1"
}

# choose_command FOLDER: in $command; a run that has left its config there is resumed.
choose_command() {
  command=(--config run.yaml --out "$1")
  [[ ! -f $1/config.yaml ]] || command=(resume "$1")
}

# start FOLDER [VARIABLE=VALUE...]: a run or a resume in the background, with signals of its own; $pid.
start() {
  choose_command "$1"
  set -m
  env PATH="$search_path" "${@:2}" "$train" "${command[@]}" "${ranks[@]}" >log 2>&1 </dev/null &
  pid=$!
  set +m
}

# make_disk: a library that attacks at calls which change the folder broken/, as the variables $attacked_disk; the
# number of a run's calls in $calls.
make_disk() {
  cc -shared -fPIC -O1 -o failing_disk.so "$folder_of_parts/failing_disk.c" -ldl
  attacked_disk=(LD_PRELOAD="$PWD/failing_disk.so" ATTACK_FOLDER="$PWD/broken")
  on_attacked_disk ATTACK_COUNT_FILE="$PWD/calls"
  rm -rf broken
  calls=$(<calls)
  [[ $calls -ge 50 ]] || die "only $calls calls were seen"
}

# on_attacked_disk VARIABLE=VALUE...: a run into broken/, or a resume of the one that is there; fills $code.
on_attacked_disk() {
  choose_command "$PWD/broken"
  attempt env PATH=/nonexistent "${attacked_disk[@]}" "$@" "$train" "${command[@]}" "${ranks[@]}"
}

# await TEST...: up to $most_seconds.
await() {
  local until=$((SECONDS + most_seconds))
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < until)) || return 1
    sleep 0.01
  done
}

# sleep_part FRACTION-OF-THE-RUN: up to so much of the whole run's time, drawn.
sleep_part() { sleep "$(awk -v s="$RANDOM" -v t="$length" -v f="$1" 'BEGIN { print s / 32768 * t * f }')"; }

# wait_for_end WHAT: of $pid; fills $code.
wait_for_end() {
  local until=$((SECONDS + most_seconds))
  while kill -0 "$pid" 2>/dev/null && ((SECONDS < until)); do sleep 0.02; done
  kill -KILL "$pid" 2>/dev/null && finding "it hung: $1"
  code=0
  wait "$pid" 2>/dev/null || code=$?
}

all=0
for part_and_count in "${parts[@]}"; do
  part=${part_and_count%%=*}
  [[ -f $folder_of_parts/$part.sh ]] || die "no part '$part'; known: $(basename -s .sh -a "$folder_of_parts"/*.sh | xargs)"
  RANDOM=$seed count=0 findings=0 default_count=0
  # shellcheck source=/dev/null
  source "$folder_of_parts/$part.sh"
  wanted=$default_count
  [[ $part_and_count != *=* ]] || wanted=${part_and_count#*=}
  begin=$SECONDS
  attack "$wanted"
  printf '%s: %s attacks, %s findings, %s\n' "$part" "$count" "$findings" "$(span $((SECONDS - begin)))"
  [[ $count -gt 0 ]] || finding "no attack was made"
  all=$((all + findings))
  find "$scratch" -mindepth 1 -delete
done
[[ $all -eq 0 ]]
