# shellcheck shell=bash disable=SC2034,SC2154  # variables are shared with scripts/attack.sh
# Limits on memory, file size and descriptors (ulimit -v, -f, -n), in random amounts: a run ends with 0, or with the
# exit code of the exhausted resource, and can be resumed without the limit.

default_count=200

# limited FLAG AMOUNT FOLDER: a run under that limit; sets $code.
limited() {
  code=0
  # The log is written through a pipe: a file would be subject to the limit too.
  # shellcheck disable=SC2016  # the inner shell's
  timeout --signal=KILL "$most_seconds" bash -c 'ulimit "$1" "$2" && shift 2 && exec "$@"' bash "$1" "$2" \
    "${program[@]}" --config run.yaml "${ranks[@]}" --out "$3" 2>&1 </dev/null | cat >log || code=$?
}

attack() {
  local length flags=(-v -f -n) amount meant what stopped=0
  train_whole
  if grep -q __asan_init "$train"; then flags=(-f -n); fi # ASan's own memory exceeds any such limit
  while ((count < $1)); do
    tried
    pick "${flags[@]}"
    case $picked in
      -v) amount=$((50000 + RANDOM * 4)) meant=6 ;; # KiB: from just enough to start the program
      -f) amount=$((RANDOM % 12)) meant=7 ;;        # KiB: from nothing to everything a run writes
      -n) amount=$((3 + RANDOM % 14)) meant=7 ;;
    esac
    what="ulimit $picked $amount"
    limited "$picked" "$amount" limited
    # The dynamic loader fails before the program starts.
    if [[ $code -eq 127 ]] && grep -q 'error while loading shared libraries' log; then code=$meant; fi
    judge_code "$what"
    if [[ $code -ne 0 && $code -ne $meant ]]; then finding "exit $code instead of $meant: $what"; fi
    [[ $code -eq 0 ]] || stopped=$((stopped + 1))
    ends_equal limited "$what"
  done
  printf 'limits: %s of %s runs had too little\n' "$stopped" "$count"
}
