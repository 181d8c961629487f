# shellcheck shell=bash disable=SC2034,SC2154  # variables are shared with scripts/attack.sh
# Drops, doubles, replaces or swaps a letter of one key of a run file: `train` must refuse it with exit 3 and the
# location of the mutant.

default_count=400

# mutate_word WORD: stores the result in $mutant.
mutate_word() {
  local at=$((RANDOM % ${#1})) letters=abcdefghijklmnopqrstuvwxyz_
  local letter=${letters:RANDOM % ${#letters}:1}
  case $((RANDOM % 4)) in
    0) mutant=${1:0:at}${1:at+1} ;;
    1) mutant=${1:0:at}${1:at:1}${1:at} ;;
    2) mutant=${1:0:at}$letter${1:at+1} ;;
    3) mutant=${1:0:at}${1:at+1:1}${1:at:1}${1:at+2} ;;
  esac
}

attack() {
  local positions position line word mutant text
  write_run run.yaml
  # line:word of every key, and all words that are valid keys or names.
  mapfile -t positions < <(awk '{ rest = $0
    while (match(rest, /[a-z_]+:/)) {
      print NR ":" substr(rest, RSTART, RLENGTH - 1)
      rest = substr(rest, RSTART + RLENGTH)
    } }' run.yaml)
  { "$train" schema --reference && "$train" schema --network --reference; } | grep -oE '[a-z_0-9]+' | sort -u >known
  while ((count < $1)); do
    pick "${positions[@]}"
    position=$picked line=${picked%%:*} word=${picked#*:}
    mutate_word "$word"
    if [[ -z $mutant || $mutant == "$word" ]] || grep -qx -- "$mutant" known; then continue; fi
    sed "${line}s/\\b$word:/$mutant:/" run.yaml >mutant.yaml
    tried
    attempt "$train" summary --config mutant.yaml --gpus 0
    text="line $position became '$mutant'"
    if [[ $code -ne 3 ]]; then
      finding "exit $code instead of 3: $text"
    elif ! grep -q "mutant.yaml:[0-9]*:[0-9]*: " log; then
      finding "no location in the message: $text"
    fi
  done
}
