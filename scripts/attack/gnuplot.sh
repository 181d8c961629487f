# shellcheck shell=bash disable=SC2034,SC2154  # variables are shared with scripts/attack.sh
# The first gnuplot in PATH hangs, floods its output or an image, crashes, or writes an invalid image: the run
# behaves like one without plots, ends with 0, ends at once when stopped, does not fill the disk, and leaves no process.

default_count=60
most_mib=150 # limit of a run's folder, whatever gnuplot writes

# make_gnuplot KIND: bin/gnuplot.
# shellcheck disable=SC2016  # the fake's variables
make_gnuplot() {
  mkdir -p bin
  {
    echo '#!/bin/bash'
    cat <<'SH'
prefix=${3#*\'} prefix=${prefix%\'}
SH
    case $1 in
      hang) echo 'while :; do /bin/sleep 1000; done' ;;
      flood) echo 'exec /usr/bin/yes "curves.gp line 1: flood"' ;;
      fill) echo 'exec /usr/bin/yes >"$prefix"curves.png' ;;
      crash) echo 'kill -SEGV $$' ;;
      refuse) echo 'echo "curves.gp line 1: no"; exit 3' ;;
      nothing) ;;
      empty) echo ': >"$prefix"curves.png' ;;
      folder) echo '/bin/mkdir -p "$prefix"curves.png/within' ;;
      fifo) echo '/usr/bin/mkfifo "$prefix"curves.png' ;;
      link) echo '/bin/ln -s nowhere "$prefix"curves.png' ;;
      device) echo '/bin/ln -s /dev/zero "$prefix"curves.png' ;;
    esac
  } >bin/gnuplot
  chmod +x bin/gnuplot
}

has_no_child() { ! pgrep -f "$PWD/bin/gnuplot"; }

attack() {
  local pid length kind what ended search_path=$PWD/bin most_seconds=90
  train_whole
  while ((count < $1)); do
    tried
    pick hang flood fill crash refuse nothing empty folder fifo link device
    kind=$picked
    what="a gnuplot of kind $kind"
    make_gnuplot "$kind"
    rm -rf image
    start drawn
    # A hanging gnuplot is given a minute; most of these runs are stopped within it.
    if [[ $kind == hang ]] && ((RANDOM % 8)); then
      sleep_part 2
      kill -TERM "$pid" 2>/dev/null || true
      ended=$SECONDS
      wait_for_end "$what, stopped"
      ((SECONDS - ended <= 10)) || finding "it took $((SECONDS - ended)) s to stop: $what"
    else
      wait_for_end "$what"
      [[ $code -ne 143 ]] || finding "exit 143: $what"
    fi
    judge_code "$what"
    [[ $code -eq 0 || $code -eq 143 ]] || finding "exit $code: $what"
    await has_no_child || finding "a gnuplot process is left: $what"
    if [[ -d drawn && $(du -sm drawn | cut -f 1) -gt $most_mib ]]; then
      finding "$(du -sm drawn | cut -f 1) MiB in the folder: $what"
    fi
    ends_equal drawn "$what"
  done
}
