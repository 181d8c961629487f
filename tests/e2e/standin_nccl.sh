#!/usr/bin/env bash
# Training on four stand-in GPUs (tests/standin/README.md) whose ranks all-reduce through NCCL:
# missing libraries, NCCL failures, and ranks that die or stop while others wait for them on their GPUs.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/lib_ranks.sh
source "$(dirname "$0")/lib_ranks.sh"
# shellcheck source=tests/e2e/lib_standin.sh
source "$(dirname "$0")/lib_standin.sh"

# The program on four GPUs, without plots or timing of engines.
machine=("$source_dir/scripts/standin.sh" --build "$build" 4)
four=("${machine[@]}" "${quick[@]}")
tiny=(--config tiny.yaml --no-tune --gpus 4 --set batch.per_gpu=4)
many=("${tiny[@]}" --set epochs=100)

# fails FAULTS TEXT: the tiny run fails with TEXT, in folder a.
fails() {
  run env STANDIN_FAULTS="$1" "${four[@]}" "${tiny[@]}" --out a
  expect_code 8
  expect_err "$2"
  expect_nobody_left tiny.yaml
}

# expect_untouched FOLDER: the run there is bit-identical to an undisturbed one.
whole=$scratch/whole
expect_untouched() {
  if [[ ! -e $whole ]]; then
    run "${four[@]}" "${many[@]}" --out "$whole"
    expect_code 0
  fi
  expect_same_run "$1" "$whole"
}

# expect_resumed FOLDER: the run there is resumed and ends like an undisturbed one.
expect_resumed() {
  run "${four[@]}" resume "$1" --no-tune --gpus 4
  expect_code 0
  expect_untouched "$1"
}

# without_nvidia COMMAND...: runs it in a mount namespace without any of NVIDIA's own libraries.
without_nvidia() {
  # shellcheck disable=SC2016  # for the inner shell
  run env -u VIRTUAL_ENV -u CONDA_PREFIX HOME="$PWD" unshare --mount bash -c '
    [[ ! -d $1 ]] || mount -t tmpfs tmpfs "$1"
    shift
    exec "$@"' - "$(readlink -f /usr/local/cuda)" "$@"
}

# without_library FILE COMMAND...: runs it on the machine with four GPUs, without that library.
without_library() {
  rm -rf libraries
  mkdir libraries
  cp -s "$build"/lib/standin/*.so* libraries
  rm "libraries/$1"
  without_nvidia "${machine[@]}" env {TRAINYARD_CUDA,LD_LIBRARY}_PATH="$PWD/libraries" "${@:2}"
}

if begin "a library that is missing or too old is named and ends the run before it begins" &&
  ! unshare --mount true 2>/dev/null; then
  skip "hiding NVIDIA's libraries needs a mount namespace"
else
  write_tiny_run tiny.yaml
  for pair in cuDNN:libcudnn.so.9 cuBLASLt:libcublasLt.so.13 NCCL:libnccl.so.2; do
    without_library "${pair#*:}" "${quick[@]}" "${tiny[@]}"
    expect_code 8
    expect_err "train: error: --gpus 4: ${pair%:*}: ${pair#*:}"
    expect_err "was not found; looked in $PWD/libraries, "
    expect_equal "$(wc -l <<<"$err")" 1
  done
  # Ranks that each see one GPU need NCCL too.
  torchrun="WORLD_SIZE=2 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=29533"
  without_library libnccl.so.2 "${two_ranks[@]}" "$torchrun RANK=0 CUDA_VISIBLE_DEVICES=0" \
    "$torchrun RANK=1 CUDA_VISIBLE_DEVICES=1" "${quick[@]}" --config tiny.yaml --no-tune
  expect_code 8
  expect_err "NCCL: libnccl.so.2 was not found; looked in $PWD/libraries, "
  while read -r fault text; do
    without_nvidia env STANDIN_FAULTS="$fault" "${four[@]}" "${tiny[@]}"
    expect_code 8
    expect_err "$text or newer"
    expect_equal "$(wc -l <<<"$err")" 1
  done <<'OLD'
cudnnGetVersion=90700 libcudnn.so.9 is version 9.7.0, expected 9.8.0
cublasLtGetVersion=120000 libcublasLt.so.13 is version 12.0.0, expected 12.1.0
ncclGetVersion=21700 libnccl.so.2 is version 2.17.0, expected 2.18.0
OLD
  expect_no_path runs
fi

begin "an NCCL failure before the first step ends all ranks with advice, exit 8"
write_tiny_run tiny.yaml
fails "ncclGetUniqueId=ncclSystemError Bootstrap : no socket interface found" \
  "(Bootstrap : no socket interface found); check that this machine has a network interface"
fails "ncclCommInitRankConfig@1=ncclUnhandledCudaError Cuda failure 'out of memory'" \
  "rank 1 ($(uname -n)), step 0, start: NCCL: joining 4 ranks: unhandled cuda error"
fails "ncclJoining@2=ncclSystemError Error while creating shared memory segment /dev/shm/nccl-JmFn2p \
(size 9637888), error: No space left on device (28)" \
  "/dev/shm is too small: start the container with --shm-size=1g"
expect_equal "$(grep -c 'train: error' <<<"$err")" 1
expect_no_path a

begin "an NCCL failure on one rank in a run ends all with its message, without waiting"
write_tiny_run tiny.yaml
fails "ncclAllReduce@2:3=ncclInternalError" \
  "rank 2 ($(uname -n)), step 1, training: NCCL: all_reduce_sum of 1152 f32, 2 f64: internal error"
rm -r a
fails "ncclLaunching@3:1=ncclRemoteError" "remote process exited or there was a network error"
rm -r a
fails "ncclDevKernel@1:2=cudaErrorLaunchFailure" "(Cuda failure 'unspecified launch failure')"

begin "a rank killed during an all-reduce ends the others, and the resumed run has their bytes"
write_tiny_run tiny.yaml
run_until "Epoch 2/" "${four[@]}" "${many[@]}" --out a
kill -KILL "$(rank_process "--out a" 2)"
wait_for_exit
expect_code 8
expect_out "rank 2 ("
expect_out "the process is gone"
expect_nobody_left "--out a"
expect_resumed a

begin "a killed rank is restarted with all others, and ends like one never killed"
write_tiny_run tiny.yaml
run_until "Epoch 2/" "${four[@]}" "${many[@]}" --out a --max-restarts 1
kill -KILL "$(rank_process "--out a" 1)"
wait_for_exit
expect_code 0
expect_out "starting again from the last checkpoint (1 of 1)"
expect_untouched a

begin "a rank that fails while the others vote on continuing ends them"
write_tiny_run tiny.yaml
votes=("${tiny[@]}" --set data.train.size=512 --set epochs=1 --set "checkpoint.every=10 steps" \
  --set limits.silence=2)
run "${four[@]}" "${votes[@]}" --out undisturbed
expect_code 0
# GPUs vote every 16 steps. The first step is not replayed: the 15th replay is step 16.
while read -r signal text; do
  run env STANDIN_FAULTS="cudaGraphLaunch@1:15=$signal" "${four[@]}" "${votes[@]}" --out "$signal"
  expect_code 8
  expect_err "rank 1 ("
  expect_err "$text"
  expect_equal "$(grep -c 'train: error' <<<"$err")" 1
  expect_nobody_left "--out $signal"
  run "${four[@]}" resume "$signal" --no-tune --gpus 4
  expect_code 0
  expect_same_run "$signal" undisturbed
done <<<"SIGKILL the process is gone
SIGSTOP no heartbeat for 2 s"

begin "a stopped rank ends the others after the allowed silence"
write_tiny_run tiny.yaml
run_until "Epoch 2/" "${four[@]}" "${many[@]}" --set epochs=100000 --out a --set limits.silence=2
kill -STOP "$(rank_process "--out a" 3)"
wait_for_exit
expect_code 8
expect_out "rank 3 ("
expect_out "no heartbeat for 2 s"
expect_equal "$(grep -o '"state": "[a-z]*"' a/status.json)" '"state": "failed"'
expect_nobody_left "--out a"

begin "Ctrl-C saves once and stops all ranks after the same step"
write_tiny_run tiny.yaml
run_until "Epoch 2/" "${four[@]}" "${many[@]}" --out a
kill -INT "$pid"
wait_for_exit
expect_code 130
expect_out "resume with: train resume"
expect_nobody_left "--out a"
expect_resumed a

begin "ranks on GPUs die with a launcher that is killed"
write_tiny_run tiny.yaml
run_until "Epoch 2/" "${four[@]}" "${many[@]}" --set epochs=100000 --out a
kill -KILL "$pid"
wait_for_exit
expect_code 137
expect_nobody_left "--out a"

finish 9 1
