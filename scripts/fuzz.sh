#!/usr/bin/env bash
# Fuzzes the readers of untrusted files (tests/fuzz/targets.cpp) with clang's libFuzzer under ASan and
# UBSan. Run by hand, slow. Requires clang 18 or newer and its runtime:
# apt-get install clang-19 libclang-rt-19-dev
#
#   scripts/fuzz.sh [TARGET...] [--seconds 60]      (default: every target, a minute each)
#
# A target's corpus in build/fuzz/corpus/TARGET grows from run to run. A finding ends its target: the
# input is in build/fuzz/crashes/TARGET, the fuzzer's output in build/fuzz/TARGET.log, and the exit
# code is 1.

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

seconds=60
targets=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --seconds)
      [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || die "--seconds requires a whole number from 1, found '${2:-}'"
      seconds=$2
      shift
      ;;
    -*) die "no such option: '$1'; known: --seconds" ;;
    *)
      [[ -d tests/fuzz/corpus/$1 ]] || die "no such target: '$1'; known: $(ls tests/fuzz/corpus)"
      targets+=("$1")
      ;;
  esac
  shift
done
[[ ${#targets[@]} -gt 0 ]] || mapfile -t targets < <(ls tests/fuzz/corpus)

# Clang 17 and older do not know the x86-64 levels in __builtin_cpu_supports (src/base/parallel.cpp).
CXX=$(command -v clang++-21 clang++-20 clang++-19 clang++-18 | head -n 1 || true)
[[ -n $CXX ]] || die "no clang 18 to 21 found; install clang-19 and libclang-rt-19-dev"
export CXX

# figure NAME LOG: its value in the last progress line ("#8192 pulse cov: 1406 ft: 3017 ...").
figure() { grep -oE "$1: +[0-9]+" "$2" | tail -n 1 | grep -oE '[0-9]+$'; }

# fuzz TARGET: prints its result line; returns 1 on a finding.
fuzz() {
  local target=$1 log=build/fuzz/$1.log dictionary=build/fuzz/$1.words code=0
  local executions options=()
  mkdir -p "build/fuzz/corpus/$target" "build/fuzz/crashes/$target"
  # The words of the corpus, for mutations to insert.
  grep -rohaE '[a-z_]{2,}' "tests/fuzz/corpus/$target" | sort -u | sed 's/.*/"&"/' >"$dictionary"
  [[ ! -s $dictionary ]] || options+=(-dict="$dictionary")
  build/fuzz/tests/fuzz/fuzzer "$target" -max_total_time="$seconds" -timeout=20 \
    -rss_limit_mb=2048 -print_final_stats=1 "${options[@]}" \
    -artifact_prefix="build/fuzz/crashes/$target/" \
    "build/fuzz/corpus/$target" "tests/fuzz/corpus/$target" >"$log" 2>&1 || code=$?
  executions=$(figure 'stat::average_exec_per_sec' "$log")
  printf '%-12s %8s executions/s  %6s edges  %6s features  %s\n' "$target" "${executions:-?}" \
    "$(figure cov "$log")" "$(figure ft "$log")" "$([[ $code -eq 0 ]] && echo ok || echo FINDING)"
  [[ $code -ne 0 ]] || return 0
  grep -E 'ERROR|SUMMARY|runtime error|what\(\)|Test unit written' "$log" | sed 's/^/  /'
  printf '  fix it, then add the input: cp CRASH tests/fuzz/corpus/%s/refused/NAME\n' "$target"
  printf '  (or accepted/ if the file is valid)\n'
  return 1
}

build fuzz fuzzer
findings=0
for target in "${targets[@]}"; do
  fuzz "$target" || findings=$((findings + 1))
done
[[ $findings -eq 0 ]] || die "$findings of ${#targets[@]} targets have findings"
