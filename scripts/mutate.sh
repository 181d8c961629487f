#!/usr/bin/env bash
# Mutation testing: changes one operator, sign or number of the arithmetic at a time and expects
# the family's test program to fail. Run by hand on an idle machine, slow (hours on two cores).
#
#   scripts/mutate.sh [--all] [FAMILY...]     (default: ops optim data; two changes per function)
#
# One build contains every change, each enabled by its number in an environment variable
# (scripts/mutate/mutant.h); it is made from a copy of the sources in build/mutate, so the working
# tree is only read. Changes that cannot affect a result are listed in scripts/mutate/equivalent.txt with
# the reason. Changes that the tests do not catch are listed, and the exit code is then 1.

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

# The sources of a family that contain arithmetic.
shopt -s extglob
files_of() {
  case $1 in
    ops) echo src/ops/*.{h,cpp} src/compute/elementwise/!(functor_executor).h src/compute/recurrent/{cell,factors,gru}.h src/compute/walk.{h,cpp} ;;
    optim) echo src/optim/*.h src/optim/*.cpp ;;
    data) echo src/data/augment/*.{h,cpp} src/data/feed/gather.h \
      src/data/sets/{epoch_order,synthetic,shapes_draw}.cpp ;;
    *) die "no such family: '$1'; known: ops, optim, data" ;;
  esac
}

ulimit -c 0
work=$PWD/build/mutate tree=$PWD/build/mutate/tree
all=no
[[ ${1-} != --all ]] || { all=yes && shift; }
families=("$@")
[[ $# -gt 0 ]] || families=(ops optim data)

# Copies the sources and applies the changes; writes number, family, function and text to work/changes.
make_tree() {
  rm -rf "$tree"
  mkdir -p "$tree"
  git ls-files -z CMakeLists.txt cmake src tests configs models docs/language docs/architecture.md |
    xargs -0 cp --parents --target-directory "$tree"
  : >"$work/changes"
  local family files first
  for family in "${families[@]}"; do
    read -ra files <<<"$(files_of "$family")"
    first=$(($(wc -l <"$work/changes") + 1))
    (cd "$tree" && python3 "$OLDPWD/scripts/mutate/rewrite.py" "$first" "${files[@]}") |
      sed "s/\t/\t$family\t/" >>"$work/changes"
  done
}

build_tree() {
  {
    cmake -G Ninja -S "$tree" -B "$work/build" -DCMAKE_BUILD_TYPE=None \
      -DCMAKE_CXX_FLAGS="-std=c++20 -O1 -include $PWD/scripts/mutate/mutant.h" &&
      cmake --build "$work/build" -j "$(job_count)" --target "${families[@]/#/test_}"
  } >"$work/log" 2>&1 || die "the copy does not build: see $work/log"
}

# ops: all devices compared; data: batches of all devices, ranks and shards, and files of all kinds.
slow_tests='*/device_test.cpp,*/gather_test.cpp,*/feeder_test.cpp,*/pack_test.cpp,*/bad_images_test.cpp,*/jpeg_test.cpp'

# run_tests FAMILY NUMBER SECONDS DOCTEST-ARGUMENT: true if the cases do not detect the change. An
# endless loop ends after SECONDS; the shell's own message on a crash is discarded.
run_tests() {
  {
    TRAINYARD_MUTANT=$2 OMP_WAIT_POLICY=passive timeout "$3" \
      "$work/build/tests/$1/test_$1" --abort-after=1 "$4" >"$work/log.$2" 2>&1
  } 2>/dev/null
}

# passes FAMILY NUMBER; 0: no change. The tests that take most of the time run last.
passes() {
  run_tests "$1" "$2" 300 --source-file-exclude="$slow_tests" &&
    run_tests "$1" "$2" 600 --source-file="$slow_tests"
}

# try_change NUMBER: prints the change if the tests do not catch it.
try_change() {
  local family text
  IFS=$'\t' read -r _ family _ text < <(sed -n "$1p" "$work/changes")
  ! passes "$family" "$1" || echo "not caught: $text"
  rm -f "$work/log.$1"
}
export -f run_tests passes try_change
export work slow_tests

# The numbers of all changes, or of the first and the last of each function.
chosen() {
  if [[ $all == yes ]]; then
    cut -f 1 "$work/changes"
  else
    awk -F '\t' '$3 != name { print number; print $1 } { name = $3; number = $1 }
      END { print number }' "$work/changes" | sort --numeric-sort --unique | grep .
  fi
}

# equivalent TEXT
equivalent() { grep --quiet --fixed-strings --line-regexp -- "$1" scripts/mutate/equivalent.txt; }

# A list entry that no longer matches a change could hide a future one.
check_equivalents() {
  local text
  while IFS= read -r text; do
    [[ -z $text || $text == '#'* ]] && continue
    grep --quiet --fixed-strings --line-regexp -- "$text" <(cut -f 4 "$work/changes") ||
      die "scripts/mutate/equivalent.txt: no such change: $text"
  done <scripts/mutate/equivalent.txt
}

make_tree
[[ ${#families[@]} -lt 3 ]] || check_equivalents
say "building with $(wc -l <"$work/changes") changes"
build_tree

for family in "${families[@]}"; do
  passes "$family" 0 || die "test_$family fails before any change: see $work/log.0"
done

mapfile -t numbers < <(chosen)
tried=()
for number in "${numbers[@]}"; do
  equivalent "$(sed -n "${number}p" "$work/changes" | cut -f 4)" || tried+=("$number")
done
say "${#tried[@]} changes, one run of a test program each"
printf '%s\n' "${tried[@]}" |
  xargs --max-procs "$(job_count)" -I {} bash -c 'try_change {}' | tee "$work/not_caught"
not_caught=$(wc -l <"$work/not_caught")
echo "${#tried[@]} changes, $((${#tried[@]} - not_caught)) caught, $((${#numbers[@]} - ${#tried[@]})) equivalent," \
  "$((SECONDS / 60)) minutes"
[[ ${#tried[@]} -gt 0 && $not_caught -eq 0 ]]
