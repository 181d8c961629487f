# shellcheck shell=bash disable=SC2034,SC2154  # variables are shared with scripts/attack.sh
# Every flag that names a file to write is given what is there already: devices, pipes with and without a reader,
# links, folders, read-only files, names that temporary files could have. Nothing is replaced but ordinary files, nothing
# is left behind, every byte arrives or the verb ends with 7 (2 for what is not a place for a file). As root it happens in a
# mount namespace whose /dev is a copy.

default_count=300

# in_own_dev COMMAND...: with a /dev of its own, where that is possible.
in_own_dev() {
  # shellcheck disable=SC2016  # the inner shell's
  unshare --mount bash -c '
    set -e
    mount --make-rprivate /
    mkdir -p own_dev
    mount -t tmpfs tmpfs own_dev
    mknod -m 666 own_dev/null c 1 3 && mknod -m 666 own_dev/full c 1 7 && mknod -m 666 own_dev/urandom c 1 9
    for name in fd:fd stdin:fd/0 stdout:fd/1 stderr:fd/2; do ln -s "/proc/self/${name#*:}" "own_dev/${name%:*}"; done
    if [[ -d /dev/shm ]]; then mkdir own_dev/shm && mount --rbind /dev/shm own_dev/shm; fi
    mount --move own_dev /dev
    "$@" && code=0 || code=$?
    [[ -c /dev/null && -c /dev/full && -L /dev/stdout ]] || code=99
    exit "$code"' bash "$@"
}

# choose_verb: stores a verb up to the name of its output in $command, its flag in $flag and the usual end in $ending.
choose_verb() {
  pick compare export_safetensors export_onnx import summary find_lr browse plot train_plot
  flag=$picked ending=.bin
  case $flag in
    compare) command=(compare whole --csv) ;;
    export_safetensors) command=(export whole --safetensors) ;;
    export_onnx) command=(export whole --onnx) ;;
    import) command=(import whole/weights/last.safetensors --config run.yaml -o) ;;
    summary) command=(summary run.yaml --svg) ending=.svg ;;
    find_lr) command=(find-lr run.yaml --gpus 0 --steps 2 --csv) ;;
    browse) command=(browse run.yaml -o) ;;
    plot) command=(plot whole -o) ending=.png ;;
    train_plot) command=(train run.yaml --gpus 0 --set epochs=1 --out "trained$count" --plot) ending=.png ;;
  esac
}

# make_place KIND: what is at $place, and the exit codes that are right for it in $right.
make_place() {
  place=places/out$ending right=0
  case $1 in
    none | stdout | dash) ;;
    file) echo old >"$place" ;;
    null) mknod "$place" c 1 3 ;;
    full) mknod "$place" c 1 7 && right=7 ;;
    pipe) mkfifo "$place" ;;
    unread) mkfifo "$place" && right='[27]' ;;
    link) echo old >places/target && ln -s target "$place" ;;
    dangling) ln -s target "$place" ;;
    loop) ln -s "out$ending" "$place" && right='[27]' ;;
    folder) mkdir "$place" && right='[27]' ;;
    missing) place=places/none/out$ending right='[27]' ;;
    temporary)
      echo precious >victim
      for name in .tmp-out .tmp-out$ending .tmp- out$ending.tmp out.gp; do ln -s ../victim "places/$name"; done
      ;;
    empty) place='' right=2 ;;
    line) place=$'places/two\nlines'$ending right='[07]' ;;
  esac
  case $1 in dash) place=- ;; stdout) place=/dev/stdout ;; esac
}

is_new() { [[ -s $1 && $(head -c 4 "$1" | tr -d '\0') != old* ]]; }

# judge_place KIND: finds what became of it.
judge_place() {
  local type
  type=$(stat --format %F "$place" 2>/dev/null || true)
  case $1 in
    null | full) [[ $type == "character special file" ]] || finding "the device became '$type': $what" ;;
    unread) [[ $type == fifo ]] || finding "the pipe became '$type': $what" ;;
    pipe) [[ $type == fifo && -s received ]] || finding "the pipe became '$type', or its reader got nothing: $what" ;;
    link | dangling)
      if [[ ! -L $place ]] || ! is_new places/target; then finding "the link's target was not written: $what"; fi
      ;;
    temporary) [[ $(<victim) == precious ]] || finding "a link in place of a temporary file was followed: $what" ;;
    dash | stdout) is_new log.out || finding "nothing arrived: $what" ;;
    none | file) is_new "$place" || finding "nothing was written: $what" ;;
  esac
  [[ -z $(find places -name '.tmp-*' -not -type l) ]] || finding "a temporary file is left behind: $what"
}

attack() {
  local length kinds kind place right flag ending command what reader wrap=() search=/nonexistent most_seconds=60
  kinds=(none file pipe unread link dangling loop folder missing temporary empty line dash stdout)
  train_whole
  if mknod node c 1 3 2>/dev/null && : >node && in_own_dev true 2>/dev/null; then
    # shellcheck disable=SC2016  # the inner shell's
    wrap=(bash -c 'in_own_dev "$@"' bash) kinds+=(null full)
  fi
  export -f in_own_dev
  while ((count < $1)); do
    choose_verb
    if [[ $flag == *plot || $flag == summary ]]; then
      type -P gnuplot dot >/dev/null || continue
      search=$PATH
    else
      search=/nonexistent
    fi
    tried
    pick "${kinds[@]}"
    kind=$picked what="$flag into $picked"
    rm -rf places received victim trained*
    mkdir places
    make_place "$kind"
    reader=
    if [[ $kind == pipe ]]; then
      cat "$place" >received &
      reader=$!
    fi
    code=0
    # shellcheck disable=SC2016  # the inner shell's
    timeout --signal=KILL "$most_seconds" bash -c '"$@" >log.out 2>log' bash \
      "${wrap[@]}" env PATH="$search" "$train" "${command[@]}" "$place" </dev/null || code=$?
    [[ -z $reader ]] || { [[ $code -eq 0 ]] || kill "$reader" 2>/dev/null || true; wait "$reader" 2>/dev/null || true; }
    judge_code "$what"
    [[ $code =~ ^$right$ ]] || finding "exit $code instead of $right: $what"
    judge_place "$kind"
  done
}
