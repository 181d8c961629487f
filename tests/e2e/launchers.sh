#!/usr/bin/env bash
# Ranks that MPICH, torchrun and Slurm start: they train to the bytes of ranks that train starts, and what a signal
# makes them save continues to the same bytes.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# shellcheck source=tests/e2e/lib_ranks.sh
source "$(dirname "$0")/lib_ranks.sh"

# shellcheck source=tests/e2e/lib_slurm.sh
source "$(dirname "$0")/lib_slurm.sh"

# Two runs, and a folder with those of ranks that train starts. The long one can be stopped, and saves only then,
# after a better epoch and at its end.
write_tiny_run "$scratch/tiny.yaml"
short=(--config "$scratch/tiny.yaml")
long=("${short[@]}" --set epochs=100 --set "checkpoint.every=100 epochs")
local=$scratch/local
run "${quick[@]}" "${short[@]}" --replicas 2 --out "$local/short"
run "${quick[@]}" "${long[@]}" --replicas 2 --out "$local/long"

# The job file of docs/clusters.md as train.sbatch, and a folder bin/ with `train` and these PROGRAMS, without gnuplot.
prepare_job() {
  awk '/^```/ { inside = 0 } $0 == "#!/bin/bash" { inside = 1 } inside' "$source_dir/docs/clusters.md" >train.sbatch
  expect_equal "$(grep -c '^#SBATCH --signal=USR1@' train.sbatch)" 1
  mkdir bin
  ln -s "$train" bin/train
  local program
  for program in "$@"; do ln -s "$(command -v "$program")" bin/; done
}

# start_again JOB: a job that was queued again starts now, not two minutes later.
start_again() {
  local tries
  for ((tries = 0; tries < 100; ++tries)); do
    if [[ $(squeue --noheader --format=%T) == PENDING ]]; then break; fi
    sleep 0.1
  done
  scontrol update "JobId=$1" StartTime=now || fail "the job was not queued again"
}

begin "ranks started by MPICH train like local ones, and SIGUSR1 to mpiexec saves their work"
if command -v mpiexec.mpich >/dev/null; then
  by_mpich=(mpiexec.mpich -n 2 -genv MASTER_PORT 29537 "${quick[@]}")
  run "${by_mpich[@]}" "${short[@]}" --out whole
  expect_code 0
  expect_same_run "$local/short" whole
  # Past the best epoch, whose checkpoint is saved without a signal. mpiexec kills the ranks once one has ended.
  run_until "Epoch 8/" "${by_mpich[@]}" "${long[@]}" --out stopped
  kill -USR1 "$pid"
  wait_for_exit
  expect_differs "$(<stopped/checkpoints/last)" "$(<stopped/checkpoints/best)"
  run "${by_mpich[@]}" "${long[@]}" --out stopped --resume
  expect_code 0
  expect_same_run "$local/long" stopped
else
  skip "mpiexec.mpich is missing"
fi

begin "ranks started by torchrun train like local ones, though torchrun itself listens at their port"
if command -v torchrun >/dev/null; then
  # PyTorch 1.13 requires --redirects and --tee under Python 3.11.
  run torchrun --master_port 29538 --redirects 1 --tee 1 --no_python --nproc_per_node 2 \
    "${quick[@]}" "${short[@]}" --out torchrun
  expect_code 0
  expect_same_run "$local/short" torchrun
else
  skip "torchrun is missing"
fi

begin "the job file of the clusters page continues its run until it is done, with programs for Slurm's"
prepare_job
cat >bin/srun <<'SH'
#!/bin/bash
while [[ $1 == -* ]]; do shift; done
exec "$@" --replicas 2
SH
cat >bin/scontrol <<SH
#!/bin/bash
echo "\$@" >>"$PWD/scontrol.arguments"
SH
chmod +x bin/srun bin/scontrol
job=(env SLURM_JOB_ID=7 SLURM_CPUS_PER_TASK=1 PATH="$PWD/bin" /bin/bash train.sbatch "${long[@]}")
run_until "Epoch 2/" "${job[@]}"
kill -USR1 "$(pgrep -P "$pid")"
wait_for_exit
expect_code 138
expect_equal "$(<scontrol.arguments)" "requeue 7"
run "${job[@]}"
expect_code 0
expect_out "resuming in epoch"
expect_same_run "$local/long" runs/job7
expect_equal "$(wc -l <scontrol.arguments)" 1
run "${job[@]}" --set epoch=1
expect_code 3
expect_equal "$(wc -l <scontrol.arguments)" 1

begin "ranks started by srun train like local ones, and a job that saved on USR1 is queued again and continues"
if has_slurm; then
  prepare_job srun scontrol
  start_slurm
  run srun --ntasks 2 "${quick[@]}" "${short[@]}" --out srun
  expect_code 0
  expect_same_run "$local/short" srun
  run env PATH="$PWD/bin" "$(command -v sbatch)" --parsable --nodes=1 --ntasks-per-node=2 --cpus-per-task=1 \
    --gpus-per-node=0 --output=job.out train.sbatch "${long[@]}"
  expect_code 0
  queued=$out
  run_until "Epoch 2/" tail --retry --follow=name job.out
  scancel --signal=USR1 "$queued" # to the ranks, as Slurm does before the time limit
  wait_for_line "stopped by SIGUSR1"
  start_again "$queued"
  wait_for_line "resuming in epoch"
  wait_for_line "done: 100 epochs"
  kill "$pid"
  wait_for_exit
  expect_same_run "$local/long" "runs/job$queued"
  stop_slurm
else
  skip "munged, slurmctld or slurmd is missing"
fi

finish 4 3
