#!/usr/bin/env bash
# Tests of the tests: changes one operator or constant of a functor at a time, rebuilds the ops
# tests, and expects them to fail. By hand, slow (a build a change, in build/mutate).
#
#   scripts/mutate.sh [FILE...]        (default: the headers of src/ops with functors)
#
# Only lines inside operator() and formula functions (those marked TY_HD) are changed. Changes that
# the suite lets pass are listed at the end; the exit code is 1 if there are any.

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

files=("$@")
[[ $# -gt 0 ]] || mapfile -t files < <(grep -l TY_HD src/ops/*.h)
[[ -z $(git status --porcelain -- "${files[@]}") ]] || die "commit or stash changes of src/ops first"
trap 'git checkout --quiet -- "${files[@]}"' EXIT

# sites FILE: "line<TAB>sed command", one a change, for lines of code within TY_HD functions.
sites() {
  awk '
    /TY_HD/ { inside = 1; depth = 0; opened = 0 }
    inside {
      code = $0
      sub(/\/\/.*/, "", code)
      body = opened
      for (i = 1; i <= length(code); ++i) {
        c = substr(code, i, 1)
        if (c == "{") { ++depth; opened = 1; body = 1 }
        if (c == "}") --depth
      }
      if (body && code !~ /for \(/ && code !~ /template/) {
        if (code ~ / \+ /) print NR "\ts/ + / - /"
        if (code ~ / - /)  print NR "\ts/ - / + /"
        if (code ~ / \* /) print NR "\ts/ \\* / \\/ /"
        if (code ~ / \/ /) print NR "\ts/ \\/ / * /"
        if (code ~ / > /)  print NR "\ts/ > / < /"
        if (code ~ / < /)  print NR "\ts/ < / > /"
        if (code ~ / \+= /) print NR "\ts/ += / -= /"
        if (code ~ /[^A-Za-z0-9_.]1([^0-9.]|$)/) print NR "\ts/\\([^A-Za-z0-9_.]\\)1\\([^0-9.]\\|$\\)/\\13\\2/"
        if (code ~ /T\(0\)|T\{0\}/) print NR "\ts/T\\([({]\\)0\\([)}]\\)/T\\11\\2/"
        if (code ~ /[0-9]\.[0-9]/) print NR "\ts/\\([0-9]\\.\\)\\([0-9]\\)/\\19\\2/"
      }
      if (opened && depth == 0) inside = 0
    }' "$1"
}

# The suite is red if it does not build or does not pass.
suite_is_red() {
  cmake --build build/mutate --target test_ops -j "$(job_count)" >build/mutate/log 2>&1 || return 0
  ! timeout 600 build/mutate/tests/ops/test_ops >build/mutate/log 2>&1
}

mkdir -p build/mutate
cmake --preset release -B build/mutate >build/mutate/log
suite_is_red && die "the ops tests fail before any change: $(tail -n 3 build/mutate/log)"

changes=0
passed=()
for file in "${files[@]}"; do
  while IFS=$'\t' read -r line command; do
    sed -i "$line$command" "$file"
    if git diff --quiet -- "$file"; then continue; fi
    changes=$((changes + 1))
    text="$file:$line: $(sed -n "${line}p" "$file" | sed 's/^ *//')"
    if suite_is_red; then
      echo "caught  $text"
    else
      echo "PASSED  $text"
      passed+=("$text")
    fi
    git checkout --quiet -- "$file"
  done < <(sites "$file")
done
echo "$changes changes, $((changes - ${#passed[@]})) caught"
[[ ${#passed[@]} -eq 0 ]] || printf 'not caught: %s\n' "${passed[@]}"
[[ $changes -gt 0 && ${#passed[@]} -eq 0 ]]
