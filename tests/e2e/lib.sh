# shellcheck shell=bash
# End-to-end cases of the program, in bash. A script is called as
#
#   NAME.sh TRAIN SOURCE_DIR
#
# sources this file, and writes cases:
#
#   begin "a sentence that can be false"    # in an empty folder of its own
#   run "$train" summary --config x.yaml    # fills $code, $out and $err
#   expect_code 3
#   expect_err "unknown key"
#   ...
#   finish 12 2                             # 12 cases were run, at most 2 of them skipped
#
# A case fails if any expectation is unmet; all unmet ones are printed. Nothing waits for time: run_until
# waits for a line of output.

set -uo pipefail

# shellcheck disable=SC2034  # used by the scripts that source this
train=$(realpath "${1:?path of train}")
# shellcheck disable=SC2034
source_dir=$(realpath "${2:?folder of the sources}")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/train-e2e.XXXXXX")
trap 'rm -rf -- "$scratch"' EXIT

# Results must not depend on who runs the suite.
unset TRAINYARD_DATA NO_COLOR CLICOLOR_FORCE
export LC_ALL=C OMP_WAIT_POLICY=passive
# The cases are about the CPU, and about messages without a GPU.
export CUDA_VISIBLE_DEVICES=

cases=0
skipped=0
failures=0
name=
code=0
out=
err=

begin() {
  name=$1
  cases=$((cases + 1))
  mkdir "$scratch/$cases"
  cd "$scratch/$cases" || exit 1
}

skip() {
  skipped=$((skipped + 1))
  printf 'SKIPPED %s: %s\n' "$name" "$1"
}

# fail TEXT: prints the position, TEXT, and the end of the program's output.
fail() {
  failures=$((failures + 1))
  local caller=$((${#BASH_SOURCE[@]} > 2)) # past the expect_ function, if there is one
  printf 'FAILED %s:%s: %s: %s\n' "${BASH_SOURCE[caller + 1]##*/}" "${BASH_LINENO[caller]}" "$name" "$1"
  printf '  exit code %s\n' "$code"
  printf '%s\n' "$out" | tail -n 6 | sed 's/^/  stdout: /'
  printf '%s\n' "$err" | tail -n 6 | sed 's/^/  stderr: /'
}

# run COMMAND...: fills $code, $out and $err. A command that hangs is killed after two minutes.
run() {
  out=$(timeout --kill-after=5 120 "$@" 2>"$scratch/stderr" </dev/null)
  code=$?
  err=$(<"$scratch/stderr")
}

# run_until TEXT COMMAND...: starts a command and returns when it has printed a line with TEXT (on
# either stream). Its process id is in $pid; call wait_for_exit afterwards.
run_until() {
  local text=$1 line
  shift
  rm -f "$scratch/pipe" "$scratch/lines"
  mkfifo "$scratch/pipe"
  # Without job control background jobs ignore SIGINT.
  set -m
  "$@" >"$scratch/pipe" 2>&1 </dev/null &
  pid=$!
  set +m
  exec 7<"$scratch/pipe"
  while IFS= read -r line <&7; do
    printf '%s\n' "$line" >>"$scratch/lines"
    [[ $line != *"$text"* ]] || return 0
  done
  fail "ended without printing '$text'"
  return 1
}

# Waits for the command of run_until; fills $code and $out (both streams).
wait_for_exit() {
  cat <&7 >>"$scratch/lines"
  wait "$pid" 2>/dev/null
  code=$?
  exec 7<&-
  out=$(<"$scratch/lines")
  err=
}

expect_code() { [[ $code -eq $1 ]] || fail "expected exit code $1"; }
expect_out() { [[ $out == *"$1"* ]] || fail "expected in stdout: $1"; }
expect_err() { [[ $err == *"$1"* ]] || fail "expected in stderr: $1"; }
expect_no_out() { [[ $out != *"$1"* ]] || fail "not expected in stdout: $1"; }
expect_no_err() { [[ $err != *"$1"* ]] || fail "not expected in stderr: $1"; }
expect_out_match() { [[ $out =~ $1 ]] || fail "expected stdout to match: $1"; }
expect_err_match() { [[ $err =~ $1 ]] || fail "expected stderr to match: $1"; }
expect_file() { [[ -s $1 ]] || fail "expected a non-empty file: $1"; }
expect_no_path() { [[ ! -e $1 ]] || fail "expected not to exist: $1"; }
expect_equal() { [[ $1 == "$2" ]] || fail "expected '$2', found '$1'"; }
expect_differs() { [[ $1 != "$2" ]] || fail "expected anything but '$1'"; }
expect_same_file() { cmp -s -- "$1" "$2" || fail "expected equal files: $1 $2"; }
expect_other_file() {
  if [[ ! -s $1 || ! -s $2 ]] || cmp -s -- "$1" "$2"; then
    fail "expected different files: $1 $2"
  fi
}

# The only run folder below runs/.
run_folder() { find runs -mindepth 2 -maxdepth 2 -type d | sort | tail -n 1; }

# untimed FILE.csv: all columns but the timing ones, which come last.
untimed() {
  awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "elapsed_s") last = i - 1 }
           { row = $1; for (i = 2; i <= last; ++i) row = row "," $i; print row }' "$1"
}

# A run that takes seconds: synthetic data, a small convolutional network. $1: the file to write.
write_tiny_run() {
  cat >"$1" <<'YAML'
name: tiny
network:
  input: [3, 8, 8]
  layers:
    - conv: {filters: 8, kernel: 3, pad: same_upper}
    - bn
    - relu
    - max_pool: 2
    - dropout: 0.1
    - dense: 4
    - softmax
data:
  train: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 96, learnable: true}
  val: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 40, split: test, learnable: true}
  preprocess: [mean_image: train, scale: $1/255]
  augment:
    - hflip: 0.5
batch: {per_gpu: 16}
loss: cross_entropy
metrics: [accuracy]
optimizer: {sgd: {lr: 0.05, momentum: 0.9}}
schedule: {poly: {power: 1, by: epoch}}
epochs: 3
threads: 1
YAML
}

# A finished run of three epochs in a/, whose best checkpoint is not its last, and how to start others without
# the programs in PATH, which take time.
quick=(env PATH=/nonexistent "$train")
finished_run() {
  write_tiny_run tiny.yaml
  run "${quick[@]}" --config tiny.yaml --out a
  expect_code 0
}

finish() {
  printf '%s cases, %s failed expectations, %s skipped\n' "$cases" "$failures" "$skipped"
  if [[ $cases -ne $1 ]]; then
    echo "expected $1 cases: some were not run, or the number in finish is out of date"
    exit 1
  fi
  if [[ $skipped -gt $2 ]]; then
    echo "expected at most $2 skipped cases"
    exit 1
  fi
  [[ $failures -eq 0 ]]
}
