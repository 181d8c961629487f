# shellcheck shell=bash disable=SC2034,SC2154  # variables are shared with scripts/attack.sh
# Standard input, output and error are each closed, full (/dev/full), a pipe without a reader, or intact: the run
# ends with 0, with 7 or SIGPIPE if its output is lost, corrupts none of its files, and can be resumed.

default_count=200

# run_with INPUT OUTPUT ERRORS FOLDER: sets $code; output to a stream that is not intact is lost.
run_with() {
  code=0
  # shellcheck disable=SC2016  # the inner shell's
  timeout --signal=KILL "$most_seconds" bash -c '
    open() { # open NUMBER KIND
      case $2 in
        closed) eval "exec $1>&-" ;;
        full) eval "exec $1<>/dev/full" ;;
        pipe) # opened while its reader exists: bash sometimes fails to open one without
          eval "exec $1> >(exec cat >/dev/null)"
          kill -KILL $!
          wait $! || true
          ;;
      esac
    }
    open 0 "$1" && open 1 "$2" && open 2 "$3" && shift 3 && exec "$@"' \
    bash "$1" "$2" "$3" "${program[@]}" --config run.yaml "${ranks[@]}" --out "$4" >log 2>&1 </dev/null || code=$?
}

attack() {
  local length kinds kind stream
  train_whole
  while ((count < $1)); do
    tried
    kinds=()
    for stream in 0 1 2; do
      pick whole closed full pipe
      kinds+=("$picked")
    done
    run_with "${kinds[@]}" streams
    judge_code "streams: ${kinds[*]}"
    case $code in
      0 | 7) ;;
      141) [[ ${kinds[*]:1} == *pipe* ]] || finding "SIGPIPE without a pipe: streams: ${kinds[*]}" ;;
      *) finding "exit $code: streams: ${kinds[*]}" ;;
    esac
    ends_equal streams "streams: ${kinds[*]}"
  done
}
