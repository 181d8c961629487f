#!/usr/bin/env bash
# Failures of a GPU, its driver or its memory, simulated by stand-ins: exit code, message, and a resumed run
# with the bytes of one that never failed.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/lib_ranks.sh
source "$(dirname "$0")/lib_ranks.sh"
# shellcheck source=tests/e2e/lib_standin.sh
source "$(dirname "$0")/lib_standin.sh"

tiny=(--config tiny.yaml --no-tune)

# fails FAULTS CODE TEXT GPUS FLAGS...: the run fails with CODE and TEXT, and leaves no process.
fails() {
  local faults=$1 expected=$2 text=$3
  shift 3
  STANDIN_FAULTS=$faults on "$@"
  expect_code "$expected"
  expect_err "$text"
  expect_nobody_left tiny.yaml
}

if begin_on_gpus "an error of a GPU or its driver before the first step ends the run, exit 8"; then
  one=(1 "${tiny[@]}" --gpus 1)
  fails cudaGetDeviceCount=cudaErrorSystemNotReady 8 "is nvidia-fabricmanager running?" "${one[@]}"
  fails cudaGetDeviceCount=cudaErrorInsufficientDriver 8 "driver version is insufficient" "${one[@]}"
  fails context=cudaErrorDevicesUnavailable 8 "another process has the GPU" "${one[@]}"
  fails each=cudaErrorNoKernelImageForDevice 8 "leave it out with --gpus" "${one[@]}"
  fails launch:40=cudaErrorUnsupportedPtxVersion 8 "(cudaErrorUnsupportedPtxVersion); install a newer" "${one[@]}"
  fails cudaGraphInstantiate=cudaErrorMemoryAllocation 6 "cudaGraphInstantiate failed: out of memory" \
    "${one[@]}"
fi

if begin_on_gpus "too little GPU memory ends the run, exit 6, whichever rank lacks it"; then
  fails cudaMalloc:3=cudaErrorMemoryAllocation 6 "out of memory on cuda:0" 1 "${tiny[@]}" --gpus 1
  fails cudaMallocHost:1=cudaErrorMemoryAllocation 6 "out of pinned host memory" 1 "${tiny[@]}" --gpus 1
  fails cudaMalloc@1:3=cudaErrorMemoryAllocation 6 "out of memory on cuda:1" 2 "${tiny[@]}" --gpus 2
fi

if begin_on_gpus "a GPU that fails in mid-run ends it, exit 8, and the resumed run is like one that never failed"; then
  on 1 "${tiny[@]}" --gpus 1 --out whole
  expect_code 0
  for error in IllegalAddress ECCUncorrectable LaunchFailure Unknown; do
    fails "execute:600=cudaError$error" 8 "(cudaError$error)" 1 "${tiny[@]}" --gpus 1 --out "$error"
    expect_file "$error/checkpoints/last"
    on 1 resume "$error" --no-tune --gpus 1
    expect_code 0
    expect_same_run whole "$error"
  done
fi

if begin_on_gpus "all ranks end with the failure of one GPU of four"; then
  on 4 "${tiny[@]}" --gpus 4 --set batch.per_gpu=4 --out whole
  expect_code 0
  fails "execute@2:600=cudaErrorECCUncorrectable" 8 "rank 2" 4 "${tiny[@]}" --gpus 4 \
    --set batch.per_gpu=4 --out four
  expect_err "uncorrectable ECC error"
  on 4 resume four --no-tune --gpus 4
  expect_code 0
  expect_same_run whole four
fi

if begin_on_gpus "--max-restarts continues from the last checkpoint after a GPU failed once"; then
  on 2 "${tiny[@]}" --gpus 2 --set batch.per_gpu=8 --out whole
  expect_code 0
  STANDIN_ONCE=$PWD/failed STANDIN_FAULTS="execute@1:600=cudaErrorECCUncorrectable" on 2 "${tiny[@]}" \
    --gpus 2 --set batch.per_gpu=8 --max-restarts 1 --out restarted
  expect_code 0
  [[ -e failed ]] || fail "no GPU failed"
  expect_same_run whole restarted
fi

finish 5 5
