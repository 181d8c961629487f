#!/usr/bin/env bash
# Runs clang-tidy over the sources, with the rules of .clang-tidy. Requires clang-tidy 16 or newer and a
# configured release build.
#
#   scripts/tidy.sh [FILE.cpp...]     (default: every .cpp of src; minutes)

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

tidy=$(command -v clang-tidy-19 clang-tidy-18 clang-tidy-17 clang-tidy-16 | head -n 1 || true)
[[ -n $tidy ]] || die "no clang-tidy 16 to 19 found; install clang-tidy-16"
[[ -f build/release/compile_commands.json ]] || cmake --preset release >/dev/null
files=("$@")
# parallel.cpp is left out: it includes GCC's omp.h and uses GCC's processor names.
[[ $# -gt 0 ]] || mapfile -t files < <(find src -name '*.cpp' ! -path src/base/parallel.cpp | sort)
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "$(job_count)" "$tidy" -p build/release --quiet
