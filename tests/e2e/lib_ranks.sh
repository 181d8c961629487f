# shellcheck shell=bash
# For scripts about ranks, sourced after lib.sh: a clean environment, quick runs and their comparison.
# shellcheck disable=SC2154  # variables of that

# The environment of the shell that runs the suite must not define ranks; root may use mpirun.
for variable in $(compgen -e | grep -E '^(RANK|WORLD_SIZE|LOCAL_|MASTER_|OMPI_|PMI|SLURM_|TRAINYARD_)'); do
  unset "$variable"
done
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

has_open_mpi() { command -v ssh >/dev/null && mpirun --version 2>/dev/null | grep "Open MPI" >/dev/null; }

# Without gnuplot in PATH an epoch takes milliseconds.
# shellcheck disable=SC2034  # used by the scripts that source this
quick=(env PATH=/nonexistent "$train")

# wait_for_line TEXT: after run_until, returns when the command has printed a line with TEXT.
wait_for_line() {
  local line
  while IFS= read -r line <&7; do
    printf '%s\n' "$line" >>"$scratch/lines"
    [[ $line != *"$1"* ]] || return 0
  done
  fail "ended without printing '$1'"
}

# expect_same_run A B: equal columns except times, and bit-identical arrays in the last checkpoint.
expect_same_run() {
  untimed "$1/metrics.csv" >a.csv
  untimed "$2/metrics.csv" >b.csv
  expect_file b.csv
  expect_same_file a.csv b.csv
  local file last
  last=$(cat "$2/checkpoints/last")
  expect_equal "$(cat "$1/checkpoints/last")" "$last"
  for file in "$2/checkpoints/$last"/*.safetensors; do
    expect_file "$file"
    expect_same_file "$1/${file#"$2"/}" "$file"
  done
}

# expect_same_bytes FLAGS...: run.yaml on one, two and four ranks, and killed in the second epoch and resumed.
expect_same_bytes() {
  local ranks
  for ranks in 1 2 4; do
    run "${quick[@]}" run.yaml --out "on$ranks" --replicas "$ranks" --set batch.shards=4 "$@"
    expect_code 0
    expect_same_run "on$ranks" on1
  done
  run_until "Epoch 2/" "${quick[@]}" run.yaml --out killed --replicas 2 --set batch.shards=4 "$@"
  kill -KILL -- "-$pid"
  wait_for_exit
  run "${quick[@]}" resume killed --replicas 4
  expect_code 0
  expect_same_run killed on1
  rm -r on1 on2 on4 killed
}

# processes_of TEXT: processes with TEXT on their command line that run in this case's folder, not in that
# of another script running at the same time.
processes_of() {
  local process
  for process in $(pgrep -f -- "$1\b"); do
    if [[ /proc/$process/cwd -ef . ]]; then echo "$process"; fi
  done
}

# rank_process TEXT N: the process of rank N among them.
rank_process() {
  local process
  for process in $(processes_of "$1"); do
    if tr '\0' '\n' <"/proc/$process/environ" 2>/dev/null | grep -qx "RANK=$2"; then echo "$process"; fi
  done
}

expect_nobody_left() { expect_equal "$(processes_of "$1" | wc -l)" 0; }
