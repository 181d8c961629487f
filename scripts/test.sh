#!/usr/bin/env bash
# Installs missing packages, checks formatting, builds, and runs the test suite without its slow
# cases.
#
#   scripts/test.sh [release] [dev] [tsan]     (default: all three)
#
# release: everything. dev: under ASan and UBSan, warnings are errors; without those labelled optimized,
# which train or start the program so often that sanitizers take minutes for code that other tests run too.
# tsan: the code that starts its own threads. Skipped cases must match tests/skipped.txt. The last lines are
# ctest's summary of each preset, and the failures.

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

presets=("$@")
[[ $# -gt 0 ]] || presets=(release dev tsan)
failures=()
summaries=()

check_form() {
  local sources scripts
  mapfile -t sources < <(find src tests -name '*.h' -o -name '*.cpp' -o -name '*.cuh' -o -name '*.cu')
  mapfile -t scripts < <(find scripts tests .ci -name '*.sh' -o -path .ci/run)
  if command -v clang-format >/dev/null; then
    say "clang-format over ${#sources[@]} files"
    clang-format --dry-run --Werror "${sources[@]}" || failures+=("clang-format")
  fi
  if command -v shellcheck >/dev/null; then
    say "shellcheck over ${#scripts[@]} files"
    shellcheck --external-sources "${scripts[@]}" || failures+=("shellcheck")
  fi
}

# suite PRESET EXCLUDED CTEST-ARGUMENTS...: without the tests whose label matches EXCLUDED.
suite() {
  local preset=$1 excluded=$2 log=build/$1/suite.log
  shift 2
  say "testing $preset"
  ctest --preset "$preset" --label-exclude "$excluded" -j "$(nproc)" --no-tests=error "$@" 2>&1 |
    tee "$log" || failures+=("tests of $preset")
  scripts/skips.sh "build/$preset/Testing/Temporary/LastTest.log" ||
    failures+=("skipped cases of $preset")
  summaries+=("$preset: $(grep -E 'tests passed|tests failed' "$log" || echo 'no result')")
}

run_preset() {
  case $1 in
    release)
      build release
      suite release '^slow$'
      ;;
    dev)
      build dev
      suite dev '^(slow|optimized)$'
      ;;
    tsan)
      build tsan tests_of_threads
      suite tsan '^slow$' --label-regex '^threads$'
      ;;
    *) die "no such preset: '$1'; known: release, dev, tsan" ;;
  esac
}

install_missing "${build_packages[@]}" "${run_packages[@]}" procps xz-utils
check_form
for preset in "${presets[@]}"; do
  run_preset "$preset"
done
say "the suite without its slow cases"
printf '%s\n' "${summaries[@]}"
if [[ ${#failures[@]} -gt 0 ]]; then
  printf 'FAILED: %s (see above)\n' "${failures[@]}"
  exit 1
fi
