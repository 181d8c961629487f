#!/usr/bin/env bash
# Training on a stand-in GPU (tests/standin/README.md), for what cuDNN and cuBLASLt decide: engines
# that are timed, stored and used by a resume, precisions, and failures of each.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
unset CUDA_VISIBLE_DEVICES

# on_gpu ARGUMENTS...: runs the program with stand-ins of $kind (one H200), failures by $faults, and engines
# stored in the case's folder.
on_gpu() {
  run env STANDIN_CACHE="$PWD/cache" STANDIN_FAULTS="${faults-}" \
    "$source_dir/scripts/standin.sh" "${kind:-h200}" "$train" "$@"
}

# write_run FILE: the tiny run without convolution bias, which engines add in a different order.
write_run() {
  write_tiny_run "$1"
  sed -i 's/pad: same_upper}/pad: same_upper, bias: false}/' "$1"
}

# engines: those in the newest run's record, one per line.
engines() { grep -o '"engine": [0-9]*' "$(run_folder)/run.json"; }

# last_weights: the file of the newest run's last checkpoint.
last_weights() { echo "$(run_folder)/checkpoints/$(<"$(run_folder)/checkpoints/last")/weights.safetensors"; }

kept=cache/trainyard/NVIDIA_H200_cudnn-9.19.0.json

begin "engines are timed, and failing ones are not in the run's record"
write_run tiny.yaml
on_gpu --config tiny.yaml --gpus 1 --set epochs=1
expect_code 0
expect_equal "$err" ""
expect_out "cuda:0 (NVIDIA H200)"
expect_equal "$(engines | wc -l)" 2
expect_equal "$(engines | grep -cv ': [01]$')" 0
expect_file "$kept"

begin "timed engines are reused, and runs that use them have the same bytes"
write_run tiny.yaml
on_gpu --config tiny.yaml --gpus 1 --set epochs=1
expect_code 0
cp "$kept" first.json
before=$(engines)
cp "$(last_weights)" first.safetensors
on_gpu --config tiny.yaml --gpus 1 --set epochs=1
expect_code 0
expect_same_file "$kept" first.json
expect_equal "$(engines)" "$before"
expect_same_file "$(last_weights)" first.safetensors

begin "without timing the first usable engine is chosen, with the same bytes in f32"
write_run tiny.yaml
on_gpu --config tiny.yaml --gpus 1 --set epochs=1
expect_code 0
cp "$(last_weights)" timed.safetensors
on_gpu --config tiny.yaml --gpus 1 --set epochs=1 --no-tune
expect_code 0
expect_equal "$(engines | sort -u)" '"engine": 0'
expect_same_file "$(last_weights)" timed.safetensors

begin "engines of different kinds of GPU are stored separately"
write_run tiny.yaml
on_gpu --config tiny.yaml --gpus 1 --set epochs=1
expect_code 0
kind=rtx4090 on_gpu --config tiny.yaml --gpus 1 --set epochs=1
expect_code 0
expect_equal "$(find cache -name '*.json' | wc -l)" 2

begin "a damaged record of engines is reported, and they are timed again"
write_run tiny.yaml
mkdir -p cache/trainyard
echo '{"gpu": ' >"$kept"
on_gpu --config tiny.yaml --gpus 1 --set epochs=1
expect_code 0
expect_err "the engine cache is damaged, engines are timed again"

begin "a stored engine that cuDNN lacks is reported, and engines are timed again"
write_run tiny.yaml
on_gpu --config tiny.yaml --gpus 1 --set epochs=1
sed -i 's/"engine": [0-9]*/"engine": 99/' "$kept"
on_gpu --config tiny.yaml --gpus 1 --set epochs=1
expect_code 0
expect_err "a stored engine is not accepted and is timed again"
expect_err "CUDNN_STATUS_NOT_SUPPORTED"
expect_equal "$(grep -c '"engine": 99' "$kept")" 0

begin "a resumed run uses its own engines, whatever the machine has stored since"
write_run tiny.yaml
on_gpu --config tiny.yaml --gpus 1 --set epochs=1
before=$(engines)
sed -i 's/"engine": [0-9]*/"engine": 99/' "$kept"
on_gpu resume "$(run_folder)" --gpus 1 --set epochs=2
expect_code 0
expect_equal "$err" ""
expect_equal "$(engines)" "$before"

begin "every precision trains"
write_run tiny.yaml
for precision in fp32 tf32 bf16 fp16; do
  on_gpu --config tiny.yaml --gpus 1 --set epochs=1 --set "precision=$precision"
  expect_code 0
  expect_out ", $precision,"
done

begin "engines with any summation order are used if allowed"
write_run tiny.yaml
on_gpu --config tiny.yaml --gpus 1 --set epochs=1 --set deterministic=false --no-tune
expect_code 0
expect_equal "$(engines | tail -n 1)" '"engine": 2'

begin "cuDNN and cuBLASLt failures before the run give exit 8, the call, the GPU, and no run folder"
write_run tiny.yaml
while read -r call status text; do
  faults="$call=$status" on_gpu --config tiny.yaml --gpus 1 --set epochs=1
  expect_code 8
  expect_err "$text"
  expect_equal "$(wc -l <<<"$err")" 1
done <<'CALLS'
cudnnCreate CUDNN_STATUS_NOT_INITIALIZED cuDNN: making a handle: CUDNN_STATUS_NOT_INITIALIZED
cudnnBackendFinalize CUDNN_STATUS_INTERNAL_ERROR cuDNN: describing the GPU: CUDNN_STATUS_INTERNAL_ERROR
cudnnBackendExecute CUDNN_STATUS_EXECUTION_FAILED no cuDNN engine is left for conv output
cublasLtCreate CUBLAS_STATUS_ALLOC_FAILED cuBLASLt: making a handle: the resource allocation failed
cublasLtMatmulAlgoGetHeuristic CUBLAS_STATUS_NOT_SUPPORTED cuBLASLt has no algorithm for [16, 128] by [128, 4]
CALLS
expect_no_path runs

begin "a product that fails during the run gives exit 8 and the call, and names no working GPU"
write_run tiny.yaml
faults=cublasLtMatmul:2=CUBLAS_STATUS_EXECUTION_FAILED on_gpu --config tiny.yaml --gpus 1
expect_code 8
expect_equal "$err" "train: error: cuBLASLt: multiplying matrices: the function failed to launch on the GPU"

begin "ranks take the engines of the first, and report one that is unusable"
write_run tiny.yaml
kind=2 on_gpu --config tiny.yaml --gpus 2 --set epochs=1
expect_code 0
# On the second GPU: its properties, six parts of the graph, then the engine.
kind=2 faults=cudnnBackendFinalize@1:8=CUDNN_STATUS_NOT_SUPPORTED \
  on_gpu --config tiny.yaml --gpus 2 --set epochs=1
expect_code 8
expect_err "the cuDNN engine that rank 0 chose is unusable here"

finish 12 0
