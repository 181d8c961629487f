#!/usr/bin/env bash
# Several ranks with NCCL on one GPU: four processes, each a host of its own (own_host.c), train with captured steps.
# They must end with the bytes of one rank: undisturbed, killed and resumed on one rank, interrupted and resumed on
# four, and killed and restarted by --max-restarts. A rank that is killed must end all within 10 seconds, with exit
# code 8 and its name.
#
#   scripts/gpu_kit/ranks.sh [--kills N] TRAIN CONFIG [FLAGS...]      (default: 10 kills)
#
# CONFIG needs `batch.shards: 4`, by FLAGS or its own, and a run long enough to be killed. Prints a JSON line for each
# attempt; exit code 0 if all went as they must. On stand-ins: scripts/standin.sh 1 scripts/gpu_kit/ranks.sh ...

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/../lib.sh"

kills=10
if [[ ${1-} == --kills ]]; then
  kills=${2:?--kills needs a number}
  shift 2
fi
[[ $# -ge 2 ]] || die "usage: scripts/gpu_kit/ranks.sh [--kills N] TRAIN CONFIG [FLAGS...]"
train=$(realpath "$1")
config=$2
flags=("${@:3}" --set 'checkpoint.every=5 steps')
most_seconds=10
work=$(mktemp -d)
launcher=
trap '[[ -z $launcher ]] || kill -KILL "$launcher" 2>/dev/null || true; rm -rf -- "$work"' EXIT
failed=0

# The library travels beside the program where there is no compiler.
own_host=$(dirname "$train")/../lib/own_host.so
if [[ ! -e $own_host ]]; then
  own_host=$work/own_host.so
  cc -shared -fPIC -o "$own_host" scripts/gpu_kit/own_host.c || die "a C compiler is needed for own_host.c"
fi
four=(env LD_PRELOAD="$own_host" "$train")
on_four=(--gpus 1 --replicas 4)

# verdict NAME SECONDS PROBLEM: a JSON line; an empty problem is a success.
verdict() {
  printf '{"part": "ranks", "name": "%s", "seconds": %.2f, "ok": %s, "problem": "%s"}\n' "$1" "$2" \
    "$([[ -z $3 ]] && echo true || echo false)" "${3//[\"\\]/\'}"
  [[ -z $3 ]] || failed=1
}

since() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }'; }

# difference FOLDER: what differs from the run on one rank; "" if nothing does.
difference() {
  fingerprint "$1" >"$work/found" 2>/dev/null
  cmp -s "$work/expected" "$work/found" ||
    echo "other bytes than one rank: $(diff "$work/expected" "$work/found" | grep -oE '^[<>] [^ ]+' | cut -c 3- | sort -u | xargs)"
}

# start_four NAME FLAGS...: in the background; sets $launcher.
start_four() {
  set -m # or the launcher would ignore Ctrl-C
  "${four[@]}" --config "$config" "${flags[@]}" "${on_four[@]}" --out "$work/$1" "${@:2}" >"$work/$1.log" 2>&1 </dev/null &
  launcher=$!
  set +m
}

# await_step NAME: until the run there has saved and, at random, a little longer.
await_step() {
  local i
  for ((i = 0; i < 600; ++i)); do
    [[ ! -s $work/$1/checkpoints/last ]] || break
    sleep 0.1
  done
  sleep "0.$((RANDOM % 10))"
}

# kill_one NAME RANK: kills that rank; its launcher must end in time, with exit code 8 and the rank's name.
kill_one() {
  local name=$1 rank=$2 code=0 problem="" began seconds
  start_four "$name"
  await_step "$name"
  began=$EPOCHREALTIME
  kill -KILL "$(rank_process "$work/$name" "$rank")" 2>/dev/null || problem="rank $rank had ended before it was killed"
  wait "$launcher" || code=$?
  seconds=$(since "$began")
  [[ $code -eq 8 ]] || problem+=" exit code $code instead of 8"
  grep -q "rank $rank (" "$work/$name.log" || problem+=" no message names rank $rank"
  awk -v s="$seconds" -v most="$most_seconds" 'BEGIN { exit !(s <= most) }' || problem+=" took too long"
  [[ -z $(pgrep -f -- "--out $work/$name\b") ]] || problem+=" ranks are left"
  verdict "$name: kill of rank $rank" "$seconds" "$problem"
}

# resumed NAME WHAT FLAGS...: the run there is resumed with FLAGS and must end with the bytes of one rank.
resumed() {
  local name=$1 what=$2 began=$EPOCHREALTIME problem
  shift 2
  "$@" resume "$work/$name" "${devices[@]}" >>"$work/$name.log" 2>&1 || true
  problem=$(difference "$work/$name")
  verdict "$what" "$(since "$began")" "$problem"
}

on_one_rank() {
  local began=$EPOCHREALTIME
  "$train" --config "$config" "${flags[@]}" --gpus 1 --out "$work/one" >"$work/one.log" 2>&1 ||
    die "the run on one rank failed: $(tail -n 3 "$work/one.log")"
  fingerprint "$work/one" >"$work/expected"
  verdict "one rank" "$(since "$began")" ""
}

on_four_ranks() {
  local began=$EPOCHREALTIME problem
  start_four four
  wait "$launcher" || true
  problem=$(difference "$work/four")
  grep -q "4 ranks, each a GPU" "$work/four.log" || problem+=" not a GPU each: $(head -n 1 "$work/four.log")"
  verdict "four ranks, the bytes of one" "$(since "$began")" "$problem"
}

killed() {
  local i devices
  for ((i = 1; i <= kills; ++i)); do
    kill_one "kill$i" $((RANDOM % 4))
    [[ $i -gt 1 ]] || { devices=(--gpus 1) && resumed kill1 "killed, resumed on one rank" "$train"; }
    rm -rf "$work/kill$i"
  done
}

interrupted() {
  local code=0 devices=("${on_four[@]}") began
  start_four interrupted
  await_step interrupted
  began=$EPOCHREALTIME
  kill -INT "$launcher"
  wait "$launcher" || code=$?
  verdict "Ctrl-C" "$(since "$began")" "$([[ $code -eq 130 ]] || echo "exit code $code instead of 130")"
  resumed interrupted "interrupted, resumed on four ranks" "${four[@]}"
}

restarted() {
  local code=0 problem="" began=$EPOCHREALTIME
  start_four restarted --max-restarts 1
  await_step restarted
  kill -KILL "$(rank_process "$work/restarted" 2)" 2>/dev/null || problem="rank 2 had ended before it was killed "
  wait "$launcher" || code=$?
  [[ $code -eq 0 ]] || problem+="exit code $code instead of 0 "
  problem+=$(difference "$work/restarted")
  verdict "killed with --max-restarts 1" "$(since "$began")" "$problem"
}

on_one_rank
on_four_ranks
killed
interrupted
restarted
exit "$failed"
