#!/usr/bin/env bash
# Attacks the program as hostile machines, files and users would, and reports failures. A slow test of the suite.
#
#   scripts/attack.sh [--train FILE] [--seed N] [PART[=COUNT]...]
#
# Parts are the files of scripts/attack/; default: all of them, with their default counts, within 15
# minutes. The same seed gives the same attacks (the timing of signals is as exact as the machine's clock). A
# part is a file that sets `default_count` and defines `attack COUNT`, which calls tried() for every attack and
# finding() for every failure: a hang, a crash, a reported bug (exit 1), or an interrupted run that, resumed,
# does not end like an uninterrupted one. Exit code 1 if there are findings.

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
# Plots are not attacked here, a program that re-executes itself would have its calls counted twice, and the
# results compared must not depend on the caller's environment.
export GOMP_SPINCOUNT=1000 LC_ALL=C
# Under ASan another library may be loaded before ASan's only with this option.
export ASAN_OPTIONS=verify_asan_link_order=0
unset TRAINYARD_DATA
search_path=/nonexistent
program=(env PATH=/nonexistent "$train")
ranks=(--gpus 0) # a part may override it, like the variables above, with a local variable

count=0
findings=0
code=0
tried() { count=$((count + 1)); }

# finding TEXT: prints one line, and the end of the program's output.
finding() {
  findings=$((findings + 1))
  printf 'FOUND by %s: %s\n' "$part" "$1"
  tail -n 3 log 2>/dev/null | cut -c 1-300 | sed 's/^/    /'
}

# pick WORD...: stores one of them in $picked (in a subshell RANDOM would not advance).
pick() {
  local words=("$@")
  # shellcheck disable=SC2034  # used by the parts
  picked=${words[RANDOM % ${#words[@]}]}
}

# attempt COMMAND...: sets $code and writes the file log. A crash, a hang and a "bug" are findings.
attempt() {
  code=0
  timeout --signal=KILL "$most_seconds" "$@" >log 2>&1 </dev/null || code=$?
  judge_code "$*"
}

# judge_code WHAT: reports a finding according to $code.
judge_code() {
  case $code in
    1) finding "exit 1 (a bug): $1" ;;
    137) finding "it hung or was killed: $1" ;;
    132 | 134 | 135 | 136 | 139) finding "it crashed with signal $((code - 128)): $1" ;;
  esac
}

# A run that takes a fraction of a second, has every kind of state and saves often.
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

# A model of a text, which writes texts and has a vocabulary.
write_text_run() {
  for _ in {1..80}; do printf 'abcabd'; done >a.txt
  cat >"$1" <<'YAML'
name: text
network:
  input: {tokens: 4, vocabulary: 6}
  layers:
    - embedding: 8
    - flatten
    - dense: 6
    - softmax
data:
  train: {source: text, file: a.txt, vocabulary: 6, length: 4, stride: 1}
  val_fraction: 0.2
batch: {per_gpu: 64}
loss: cross_entropy
metrics: [accuracy]
optimizer: {adam: {lr: 0.05}}
epochs: 2
threads: 1
output: {generate: {temperatures: [1], length: 10}}
YAML
}

# Trains run.yaml, or write_run's, into whole/ without an attack; writes its fingerprint to expected, its outcome to
# expected_outcome and its time to $length.
train_whole() {
  [[ -f run.yaml ]] || write_run run.yaml
  local begin=$EPOCHREALTIME
  attempt "${program[@]}" --config run.yaml "${ranks[@]}" --out whole
  [[ $code -eq 0 ]] || die "the run without an attack failed: $(tail -n 3 log)"
  length=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
  fingerprint whole >expected
  outcome whole >expected_outcome
  [[ $(wc -l <expected) -ge 3 ]] || die "too little to compare: $(cat expected)"
}

# ends_equal FOLDER WHAT: an interrupted run, resumed, must leave the same outcome as the uninterrupted one. A
# run interrupted before it wrote its config has lost nothing.
ends_equal() {
  if [[ -f $1/config.yaml ]]; then
    attempt "${program[@]}" resume "$1" "${ranks[@]}"
    if [[ $code -ne 0 ]]; then
      finding "resume ended with $code: $2"
    elif ! outcome "$1" >found 2>>log || ! cmp -s found expected_outcome; then
      finding "after a resume these differ: $(diff expected_outcome found | grep '^[<>]' | cut -d ' ' -f 2 | sort -u | xargs): $2"
    fi
  fi
  rm -rf -- "$1"
}

# choose_command FOLDER: sets $command; resumes a run that has written its config there.
choose_command() {
  command=(--config run.yaml --out "$1")
  [[ ! -f $1/config.yaml ]] || command=(resume "$1")
}

# start FOLDER [VARIABLE=VALUE...]: a run or a resume in the background, in its own process group; sets $pid.
start() {
  choose_command "$1"
  set -m
  env PATH="$search_path" "${@:2}" "$train" "${command[@]}" "${ranks[@]}" >log 2>&1 </dev/null &
  pid=$!
  set +m
}

# make_disk: builds the library that attacks calls which change the folder broken/, sets $attacked_disk to its
# variables, and $calls to the number of such calls in a run.
make_disk() {
  cc -shared -fPIC -O1 -o failing_disk.so "$folder_of_parts/failing_disk.c" -ldl
  attacked_disk=(LD_PRELOAD="$PWD/failing_disk.so" ATTACK_FOLDER="$PWD/broken")
  on_attacked_disk ATTACK_COUNT_FILE="$PWD/calls"
  rm -rf broken
  calls=$(<calls)
  [[ $calls -ge 50 ]] || die "only $calls calls were seen"
}

# on_attacked_disk VARIABLE=VALUE...: a run into broken/, or a resume of the one there; sets $code.
on_attacked_disk() {
  choose_command "$PWD/broken"
  attempt env PATH=/nonexistent "${attacked_disk[@]}" "$@" "$train" "${command[@]}" "${ranks[@]}"
}

# await TEST...: waits until TEST succeeds, at most $most_seconds.
await() {
  local until=$((SECONDS + most_seconds))
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < until)) || return 1
    sleep 0.01
  done
}

# sleep_part FRACTION: sleeps a random time, at most that fraction of the uninterrupted run's time.
sleep_part() { sleep "$(awk -v s="$RANDOM" -v t="$length" -v f="$1" 'BEGIN { print s / 32768 * t * f }')"; }

# wait_for_end WHAT: waits for $pid; sets $code.
wait_for_end() {
  local until=$((SECONDS + most_seconds))
  while kill -0 "$pid" 2>/dev/null && ((SECONDS < until)); do sleep 0.02; done
  kill -KILL "$pid" 2>/dev/null && finding "it hung: $1"
  code=0
  wait "$pid" 2>/dev/null || code=$?
}

all=0 attacks=0
for part_and_count in "${parts[@]}"; do
  part=${part_and_count%%=*}
  [[ -f $folder_of_parts/$part.sh ]] || die "no part '$part'; known: $(basename -s .sh -a "$folder_of_parts"/*.sh | xargs)"
  RANDOM=$seed count=0 findings=0 default_count=0
  # shellcheck source=/dev/null
  source "$folder_of_parts/$part.sh"
  requested=$default_count
  [[ $part_and_count != *=* ]] || requested=${part_and_count#*=}
  begin=$SECONDS
  attack "$requested"
  printf '%s: %s attacks, %s findings, %s\n' "$part" "$count" "$findings" "$(span $((SECONDS - begin)))"
  [[ $count -gt 0 ]] || finding "no attack was made"
  all=$((all + findings)) attacks=$((attacks + count))
  find "$scratch" -mindepth 1 -delete
done
printf '%s cases, %s failed, 0 skipped\n' "$attacks" "$all" # for scripts/skips.sh
[[ $all -eq 0 ]]
