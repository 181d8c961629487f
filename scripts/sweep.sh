#!/usr/bin/env bash
# Trains one config with every combination of some keys' values, a few runs at a time:
#
#   scripts/sweep.sh [--jobs N] [--gpus 0,1,2] [--train PROGRAM] CONFIG KEY=A,B... [-- FLAGS of train]
#   scripts/sweep.sh --jobs 2 configs/quickstart.yaml optimizer.sgd.lr=0.01,0.05 batch.per_gpu=64,128 -- --gpus 0
#
# Each run is named after its values (runs/quickstart_lr=0.01__per_gpu=64/0001), and its output is in runs/NAME.log.
# With --gpus each run gets one of these GPUs, and as many run at a time unless --jobs says otherwise. After a crash
# or Ctrl-C the same command goes on: runs that are done are skipped, those that were begun continue. A run that fails
# does not end the others; the exit code is then that of the first one that failed. At the end train compare prints
# the table and writes it to runs/CONFIG_sweep.csv.
#
# A signal that ends this script ends its runs, which save what they have; of a config only one sweep at a time runs in a
# folder. Values must have no commas or blanks of their own; `train sweep` takes those, random draws and ranges.

# shellcheck disable=SC2317  # `one` is called through xargs
set -uo pipefail

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 2
}

# newest_state NAME: the state of the newest run of a name, "" without one.
newest_state() {
  local status
  status=$(printf '%s\n' runs/"$1"/[0-9]*/status.json | tail -n 1)
  [[ ! -f $status ]] || sed -n 's/^  "state": "\(.*\)",$/\1/p' "$status"
}

# one OVERRIDES: trains one run, given as KEY=VALUE words; called by xargs in slot $SLOT.
one() {
  local word key value flags=() name=$sweep_prefix separator=_
  for word in $1; do
    flags+=(--set "$word")
    key=${word%%=*}
    value=${word#*=}
    name+=$separator${key##*.}=${value//[\/\\]/_}
    separator=__
  done
  flags+=(--name "$name" --skip-done)
  case $(newest_state "$name") in
    "" | completed) ;;
    diverged)
      echo "$name: diverged before; remove runs/$name to train it again"
      echo "5 $name" >>"$sweep_failed"
      return
      ;;
    *) flags+=(--resume) ;;
  esac
  if [[ -n $sweep_gpus ]]; then
    local gpus
    IFS=, read -ra gpus <<<"$sweep_gpus"
    flags+=(--gpus "id:${gpus[SLOT % ${#gpus[@]}]}")
  fi
  local code=0
  # shellcheck disable=SC2086  # words without blanks
  "$sweep_train" train --config "$sweep_config" "${flags[@]}" $sweep_flags >>"runs/$name.log" 2>&1 || code=$?
  if [[ $code -eq 0 ]]; then
    echo "$name: $(tail -n 1 "runs/$name.log")"
  else
    echo "$name: failed with exit code $code: $(tail -n 1 "runs/$name.log") (runs/$name.log)"
    echo "$code $name" >>"$sweep_failed"
  fi
}

# stop SIGNAL: ends the runs, waits until they have saved, and ends as this signal does.
stop() {
  trap '' INT TERM HUP
  kill "-$1" -- "-$all" 2>/dev/null
  exec {lock}>&-
  flock "$sweep_lock" true
  echo "${0##*/}: stopped; the same command goes on" >&2
  exit $((128 + $(kill -l "$1")))
}

# combinations KEY=A,B...: a line of KEY=VALUE words for each.
combinations() {
  local lines=("") longer line axis value values
  for axis in "$@"; do
    IFS=, read -ra values <<<"${axis#*=}"
    longer=()
    for line in "${lines[@]}"; do
      for value in "${values[@]}"; do longer+=("$line${line:+ }${axis%%=*}=$value"); done
    done
    lines=("${longer[@]}")
  done
  printf '%s\n' "${lines[@]}"
}

jobs=
export sweep_gpus='' sweep_train sweep_config sweep_prefix sweep_flags='' sweep_failed
sweep_train=$(command -v train || true)
if [[ -z $sweep_train && -x build/release/bin/train ]]; then sweep_train=build/release/bin/train; fi
if [[ ${1-} == --help || ${1-} == -h ]]; then
  sed -n '2,/^$/s/^# \{0,1\}//p' "$0"
  exit 0
fi
while [[ ${1-} == --* ]]; do
  [[ $# -ge 2 ]] || die "$1 needs a value"
  case $1 in
    --jobs)
      jobs=$2
      [[ $jobs =~ ^[1-9][0-9]{0,3}$ ]] || die "--jobs needs a whole number from 1 to 9999, found '$jobs'"
      ;;
    --gpus) sweep_gpus=$2 ;;
    --train) sweep_train=$2 ;;
    *) die "unknown flag '$1'; the flags are --jobs, --gpus and --train" ;;
  esac
  shift 2
done
[[ $# -ge 2 ]] || die "usage: ${0##*/} [--jobs N] [--gpus 0,1,2] CONFIG KEY=A,B... [-- FLAGS]"
[[ -n $sweep_train ]] || die "train was not found; name it with --train PROGRAM"
sweep_config=$1
sweep_prefix=$(basename "$1" .yaml)
shift
axes=()
while [[ $# -gt 0 && $1 != -- ]]; do
  [[ $1 == ?*=?* && $1 != *[[:space:]]* ]] || die "expected KEY=A,B without blanks, found '$1'"
  axes+=("$1")
  shift
done
sweep_flags=${*:2}
if [[ -z $jobs ]]; then
  jobs=1
  if [[ -n $sweep_gpus ]]; then jobs=$(tr ',' '\n' <<<"$sweep_gpus" | wc -l); fi
fi

# A key that no config has is told before anything starts.
grid=()
for axis in "${axes[@]}"; do grid+=(--grid "$axis"); done
"$sweep_train" sweep "$sweep_config" "${grid[@]}" --dry-run >/dev/null || exit $?

mapfile -t runs < <(combinations "${axes[@]}")
mkdir -p runs
# The runs hold this lock too, so that it is free when the last of them has ended.
sweep_lock=runs/.$sweep_prefix.sweep
exec {lock}>"$sweep_lock"
flock --nonblock "$lock" || die "a sweep of $sweep_prefix is running here; wait until its runs have ended, or end them"
sweep_failed=$(mktemp)
trap 'rm -f -- "$sweep_failed"' EXIT
export -f one newest_state
set -m # a process group of their own
# shellcheck disable=SC2016  # expanded by the inner shell
xargs -0 -n 1 -P "$jobs" --process-slot-var=SLOT -a <(printf '%s\0' "${runs[@]}") bash -c 'one "$1"' sweep &
all=$!
set +m
for signal in INT TERM HUP; do
  # shellcheck disable=SC2064  # the signal of this turn
  trap "stop $signal" "$signal"
done
wait "$all"
"$sweep_train" compare "runs/${sweep_prefix}_*" --csv "runs/${sweep_prefix}_sweep.csv" &&
  echo "runs/${sweep_prefix}_sweep.csv has every column"
[[ -s $sweep_failed ]] || exit 0
echo "${0##*/}: $(wc -l <"$sweep_failed") of ${#runs[@]} runs failed" >&2
exit "$(head -n 1 "$sweep_failed" | cut -d ' ' -f 1)"
