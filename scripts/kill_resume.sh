#!/usr/bin/env bash
# Kills a run at random moments, resumes it, and compares its results with those of an uninterrupted run.
#
#   scripts/kill_resume.sh CONFIG [KILLS] [-- TRAIN-FLAGS...]      (default: 25 kills)
#
# Each trial starts CONFIG from scratch, sends SIGKILL after a random part of the uninterrupted run's time,
# and resumes until the run ends. Its newest checkpoint (weights, optimizer state)
# and the untimed columns of its metrics.csv and steps.csv must then equal the uninterrupted run's byte
# for byte. A run from another seed must differ in each of them. Choose a CONFIG of some
# ten seconds that saves often, such as `checkpoint: {every: 20 steps}`.

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

[[ $# -ge 1 ]] || die "usage: scripts/kill_resume.sh CONFIG [KILLS] [-- TRAIN-FLAGS...]"
config=$1
kills=25
shift
if [[ ${1:-} =~ ^[0-9]+$ ]]; then
  kills=$1
  shift
fi
[[ ${1:-} != -- ]] || shift
flags=("$@")
# Flags that are not keys of the run, and must be given to a resume again.
ranks=()
for ((i = 0; i < $#; ++i)); do
  case ${flags[i]} in --gpus | --replicas) ranks+=("${flags[i]}" "${flags[i + 1]}") ;; esac
done
train=${TRAIN:-build/release/bin/train}
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

start() {
  local folder=$1
  shift
  "$train" --config "$config" --out "$folder" "${flags[@]}" "$@" >>"$work/log" 2>&1
}

seconds() { date +%s.%N; }

say "the uninterrupted run"
began=$(seconds)
start "$work/whole" || die "the uninterrupted run failed: $(tail -n 3 "$work/log")"
length=$(awk -v a="$began" -v b="$(seconds)" 'BEGIN { print b - a }')
fingerprint "$work/whole" >"$work/expected"
lines=$(wc -l <"$work/expected")
[[ $lines -ge 3 ]] || die "too little to compare: $(cat "$work/expected")"

say "another seed"
start "$work/other" --set seed=12345
fingerprint "$work/other" >"$work/found"
while read -r name hash _; do
  grep -q "^$name $hash" "$work/found" && die "another seed gives the same $name"
done <"$work/expected"

equal=0
killed=0
for trial in $(seq "$kills"); do
  folder=$work/$trial
  # Not through start(): the signal must reach the program, not a shell around it.
  "$train" --config "$config" --out "$folder" "${flags[@]}" >>"$work/log" 2>&1 &
  pid=$!
  delay=$(awk -v s="$RANDOM" -v t="$length" 'BEGIN { print s / 32768 * t }')
  sleep "$delay"
  if kill -KILL "$pid" 2>/dev/null; then killed=$((killed + 1)); fi
  wait "$pid" 2>/dev/null || true
  # A run killed before it made its folder is started again; resuming one that had ended has no effect.
  if [[ -f $folder/config.yaml ]]; then
    "$train" resume "$folder" "${ranks[@]}" >>"$work/log" 2>&1 || die "resume failed: $(tail -n 3 "$work/log")"
  else
    rm -rf "$folder"
    start "$folder" || die "a new start failed: $(tail -n 3 "$work/log")"
  fi
  fingerprint "$folder" >"$work/found"
  if cmp -s "$work/expected" "$work/found"; then
    equal=$((equal + 1))
    result=equal
  else
    result="DIFFERENT: $(sort "$work/expected" "$work/found" | uniq -u | cut -d ' ' -f 1 | sort -u | xargs)"
  fi
  printf 'kill %s of %s after %.2f s of %.2f s: %s\n' "$trial" "$kills" "$delay" "$length" "$result"
  # A gnuplot of the killed run may still write there; what is left goes at the exit.
  rm -rf "$folder" 2>/dev/null || true
done
printf '%s of %s equal (%s were running when killed); compared: %s\n' "$equal" "$kills" "$killed" \
  "$(cut -d ' ' -f 1 "$work/expected" | xargs)"
[[ $equal -eq $kills ]]
