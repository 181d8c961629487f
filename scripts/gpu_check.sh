#!/usr/bin/env bash
# What only a machine with an NVIDIA GPU can show, as one Markdown page.
#
#   scripts/gpu_check.sh [--build DIR] [--output FILE] [PART...]
#
# Parts, all by default, in this order:
#   doctor      what the machine is
#   tests       the tests labelled gpu
#   memcheck    the same under compute-sanitizer's memory checker
#   racecheck   the same under its checker of shared memory
#   initcheck   the same under its checker of memory that nobody wrote
# The build must hold the GPU part (default: build/release). The page goes to FILE, or to the standard
# output. Exit code: 0 if every part passed, 1 if one failed, 2 for a wrong call.

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

all_parts=(doctor tests memcheck racecheck initcheck)
build_dir=build/release
output=/dev/stdout
parts=()

usage() {
  sed -n '2,/^$/s/^# \{0,1\}//p' "$0" >&2
  exit 2
}

while [[ $# -gt 0 ]]; do
  case $1 in
    --build) build_dir=${2:?--build wants a folder} && shift ;;
    --output) output=${2:?--output wants a file} && shift ;;
    -*) usage ;;
    *)
      printf '%s\n' "${all_parts[@]}" | grep -qxF -- "$1" || usage
      parts+=("$1")
      ;;
  esac
  shift
done
[[ ${#parts[@]} -gt 0 ]] || parts=("${all_parts[@]}")
[[ -e $build_dir/lib/trainyard/libtrainyard_cuda.so ]] ||
  die "$build_dir has no GPU part; build it with cmake --preset cuda"

# Test programs with the label gpu, one a line: their paths.
gpu_programs() {
  ctest --test-dir "$build_dir" --label-regex '^gpu$' --show-only=json-v1 |
    grep -oE '"[^"]+/test_[a-z_]+_gpu"' | tr -d '"' | sort -u
}

sanitizer() {
  command -v compute-sanitizer || command -v /usr/local/cuda/bin/compute-sanitizer ||
    die "compute-sanitizer is not there; install the CUDA toolkit's sanitizer"
}

# under_sanitizer TOOL: every gpu test under one tool.
under_sanitizer() {
  local program checker failures=0
  checker=$(sanitizer) || return 1
  while IFS= read -r program; do
    echo "$(basename "$program"):"
    "$checker" --tool "$1" --error-exitcode 99 --launch-timeout 0 "$program" || failures=1
  done < <(gpu_programs)
  return "$failures"
}

run_part() {
  case $1 in
    doctor) "$build_dir/bin/train" doctor ;;
    tests) ctest --test-dir "$build_dir" --label-regex '^gpu$' --no-tests=error --output-on-failure ;;
    *) under_sanitizer "$1" ;;
  esac
}

# section PART: its output and verdict as Markdown; false if it failed or nothing ran.
section() {
  local log seconds=$SECONDS verdict=passed
  log=$(mktemp)
  run_part "$1" >"$log" 2>&1 || verdict=failed
  ! grep -qE '\| +0 passed \| +0 failed \| +[1-9][0-9]* skipped' "$log" || verdict="skipped: no GPU"
  printf '\n## %s: %s (%s s)\n\n```\n' "$1" "$verdict" "$((SECONDS - seconds))"
  tail -n 60 "$log"
  printf '```\n'
  rm -f "$log"
  [[ $verdict == passed ]]
}

report() {
  local part failed=0
  printf '# GPU check of %s\n\n%s, %s\n' "$(git rev-parse --short HEAD)" "$(uname -srm)" \
    "$(date --utc +%Y-%m-%dT%H:%MZ)"
  for part in "${parts[@]}"; do
    say "$part"
    section "$part" || failed=1
  done
  return "$failed"
}

report >"$output"
