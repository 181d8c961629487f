# shellcheck shell=bash
# Shared by the scripts: messages, packages, builds, results of runs. Source it; it changes to the project's root.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# shellcheck disable=SC2034  # used by the scripts that source this
build_packages=(g++ cmake ninja-build libyaml-cpp-dev libcli11-dev libfmt-dev libstb-dev
  libdnnl-dev libgloo-dev nlohmann-json3-dev libxxhash-dev libeigen3-dev libjpeg-dev libwebp-dev zlib1g-dev libcurl4-openssl-dev
  doctest-dev fonts-dejavu-core)
# shellcheck disable=SC2034
run_packages=(gnuplot-nox graphviz libcurl4)

say() { printf '== %s\n' "$*" >&2; }
die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

as_root() {
  if [[ $(id -u) -eq 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "packages are missing: $* requires root; run this as root, or install sudo"
  fi
}

is_installed() {
  [[ $(dpkg-query --show --showformat '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# install_missing PACKAGE...: calls apt-get only if something is missing.
install_missing() {
  command -v dpkg-query >/dev/null || die "this script installs with apt-get (Debian 12 or 13, Ubuntu 24.04)"
  local package missing=()
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  [[ ${#missing[@]} -gt 0 ]] || return 0
  say "installing ${missing[*]}"
  as_root apt-get update -q
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# Number of jobs that fit the processors and the memory: compiling this project takes up to 1.5 GiB per job.
# CMake's own variable takes precedence.
job_count() {
  if [[ -n ${CMAKE_BUILD_PARALLEL_LEVEL-} ]]; then
    echo "$CMAKE_BUILD_PARALLEL_LEVEL"
    return
  fi
  local by_memory
  by_memory=$(awk '/^MemAvailable/ {print int($2 / 1572864)}' /proc/meminfo)
  local by_processor
  by_processor=$(nproc)
  local count=$((by_memory < by_processor ? by_memory : by_processor))
  echo $((count < 1 ? 1 : count))
}

# span SECONDS: "0:02:20", as the program writes durations.
span() { printf '%d:%02d:%02d' $(($1 / 3600)) $(($1 / 60 % 60)) $(($1 % 60)); }

# bar DONE ALL: a bar like the program's for an epoch.
bar() {
  local full="#" empty="-" text="" i
  if [[ ${LC_ALL:-${LC_CTYPE:-${LANG-}}} =~ [Uu][Tt][Ff] ]]; then full="━" empty="─"; fi
  for ((i = 0; i < 20; ++i)); do
    if ((i < 20 * $1 / $2)); then text+=$full; else text+=$empty; fi
  done
  printf '%5d/%d %s' "$1" "$2" "$text"
}

# build_bar LOG [terminal]: reads ninja's output ("[93/327] Building X"), stores it in LOG, and shows a bar: on
# a terminal one line that is redrawn, else a line per tenth. Output of failed commands is shown in full.
build_bar() {
  local line failing="" tenth=0 tenths
  local step='^\[([0-9]+)/([1-9][0-9]*)\] '
  : >"$1"
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$1"
    if [[ $line =~ $step ]]; then
      failing=
      tenths=$((10 * BASH_REMATCH[1] / BASH_REMATCH[2]))
      if [[ -n ${2-} ]]; then
        printf '\r%s\033[K' "$(bar "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}")"
      elif ((tenths > tenth)); then
        tenth=$tenths
        printf '%s\n' "$(bar "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}")"
      fi
      continue
    fi
    if [[ $line == "FAILED: "* || $line == "ninja: error"* ]]; then
      failing=yes
      [[ -z ${2-} ]] || printf '\r\033[K'
    fi
    [[ -z $failing ]] || printf '%s\n' "$line"
  done >&2
  [[ -z ${2-} ]] || printf '\r\033[K' >&2
}

# build PRESET [TARGET...]: all targets if none is given. The array configure_options adds options for CMake.
configure_options=()
build() {
  local preset=$1 log=build/$1/configure.log
  shift
  mkdir -p "build/$preset"
  cmake --preset "$preset" "${configure_options[@]}" >"$log" 2>&1 || {
    cat "$log" >&2
    die "cmake --preset $preset failed"
  }
  local targets=()
  [[ $# -eq 0 ]] || targets=(--target "$@")
  say "building $preset${*:+: $*}"
  local terminal=
  if [[ -t 2 ]]; then terminal=yes; fi
  cmake --build "build/$preset" -j "$(job_count)" "${targets[@]}" 2>&1 |
    build_bar "build/$preset/build.log" "$terminal" ||
    die "the build of $preset failed; its full output is in build/$preset/build.log"
}

# untimed FILE.csv: all columns except the timing ones, which are last.
untimed() {
  awk -F, 'NR == 1 { last = NF; for (i = 1; i <= NF; ++i) if ($i == "elapsed_s") last = i - 1 }
           { row = $1; for (i = 2; i <= last; ++i) row = row "," $i; print row }' "$1"
}

# fingerprint FOLDER: one line per compared file, its name and its SHA-256. Files that contain times are
# left out: manifest.json has the hash of state.json, which has the seconds trained.
fingerprint() {
  local folder=$1 last file
  last=$folder/checkpoints/$(<"$folder/checkpoints/last")
  for file in "$last"/*.safetensors; do
    [[ -s $file ]] && echo "${file##*/} $(sha256sum <"$file")"
  done
  for file in "$folder"/metrics.csv "$folder"/steps.csv; do
    if [[ -s $file ]]; then echo "${file##*/} $(untimed "$file" | sha256sum)"; fi
  done
}

# outcome FOLDER: the fingerprint, and whatever else a run leaves, but for what has times in it: pointers, the kept
# checkpoints, final weights, texts, tables and records, the summary, and temporary files that should not be there.
outcome() {
  fingerprint "$1"
  (
    cd "$1"
    grep '"state":' status.json
    for file in checkpoints/last checkpoints/best; do echo "$file $(cat "$file")"; done
    echo "checkpoints $(find checkpoints -mindepth 1 -maxdepth 1 -type d | sort | xargs)"
    for file in weights/* samples/* eval/* samples.json vocabulary.json statistics.safetensors config.yaml network.txt; do
      if [[ -f $file ]]; then echo "$file $(sha256sum <"$file")"; fi
    done
    echo "summary.txt $(grep -v -e '^run: ' -e '^time: ' -e '^warning: ' summary.txt | sha256sum)"
    find . -name '.tmp-*'
  )
}

# equal_parts A B: names common to two files written by fingerprint, one per line.
equal_parts() { comm -12 <(sort "$1") <(sort "$2") | cut -d ' ' -f 1; }

# little_endian NUMBER: four bytes.
little_endian() {
  local bytes
  printf -v bytes '\\x%02x' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24 & 255))
  printf %b "$bytes"
}

# write_images FOLDER EXTENT: four classes of sixteen BMP files of EXTENT x EXTENT pixels, a multiple of 4.
write_images() {
  local class i bytes=$((3 * $2 * $2))
  for class in a b c d; do
    mkdir -p "$1/$class"
    for ((i = 0; i < 16; ++i)); do
      {
        printf BM && little_endian $((54 + bytes)) && little_endian 0 && little_endian 54
        little_endian 40 && little_endian "$2" && little_endian "$2" && printf '\x01\0\x18\0'
        head -c 24 /dev/zero
        head -c "$bytes" /dev/urandom
      } >"$1/$class/$i.bmp"
    done
  done
}

# rank_process FOLDER N: the process of rank N of the run that was started with --out FOLDER.
rank_process() {
  local process
  for process in $(pgrep -f -- "--out $1\b"); do
    if tr '\0' '\n' <"/proc/$process/environ" 2>/dev/null | grep -qx "RANK=$2"; then
      echo "$process"
      return
    fi
  done
}
