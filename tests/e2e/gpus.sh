#!/usr/bin/env bash
# --gpus and doctor without a visible GPU: they report what is missing, and nothing falls back.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

plugin=$(compgen -G "$(dirname "$train")/../lib/trainyard/libtrainyard_cuda*.so" | head -n 1)
part=lib/trainyard/libtrainyard_cuda13.so

# The error of `--gpus` here: no GPU part, no driver, or no GPU (lib.sh hides existing ones).
if [[ ! -e $plugin ]]; then
  reason="the GPU part of train is not there"
elif ldconfig -p | grep 'libcuda\.so\.1' >/dev/null; then
  reason="the GPUs cannot be used"
else
  reason="no NVIDIA driver was found"
fi

# place_program: a copy of the program in bin/, with lib/trainyard next to it.
place_program() {
  mkdir -p bin lib/trainyard
  cp "$train" bin/
}

begin "a requested GPU that is missing ends with exit 8 and one message"
write_tiny_run tiny.yaml
for gpus in 1 4 0,1 id:0 all auto:2; do
  run "$train" --config tiny.yaml --gpus "$gpus"
  expect_code 8
  expect_err "train: error: --gpus $gpus: $reason"
  expect_err "--gpus 0 for the CPU"
  expect_equal "$(wc -l <<<"$err")" 1
  expect_equal "$out" ""
done
expect_no_path runs

begin "check, bench and the plan refuse it too"
write_tiny_run tiny.yaml
for verb in check bench "summary --plan"; do
  # shellcheck disable=SC2086  # the verb may have a flag
  run "$train" $verb --config tiny.yaml --gpus 1
  expect_code 8
  expect_err "$reason"
done

begin "without --gpus training runs on the CPU, and the first line says so"
write_tiny_run tiny.yaml
run "$train" --config tiny.yaml --set epochs=1
expect_code 0
expect_out_match "^[^"$'\n'"]*CPU, 1 thread"

begin "an invalid --gpus is a command line error"
write_tiny_run tiny.yaml
for gpus in two "1," 0,0 id:1,2 auto:0; do
  run "$train" --config tiny.yaml --gpus "$gpus"
  expect_code 2
  expect_err "--gpus '$gpus' is none of: N (the first N)"
done

begin "--gpus and --device cannot both choose"
write_tiny_run tiny.yaml
run "$train" --config tiny.yaml --gpus 1 --device reference
expect_code 2
expect_err "--gpus 1 and --device reference contradict each other"

begin "doctor reports what is present and what is missing; a machine without a driver is healthy, exit 0"
healthy=0
! ldconfig -p | grep 'libcuda\.so\.1' >/dev/null || healthy=8
run "$train" doctor
expect_code "$healthy"
expect_out_match "^train [0-9.]+"
expect_out_match "CPU       [0-9]+ cores?, AVX.*, oneDNN [0-9]+\.[0-9]+\.[0-9]+"
expect_out "missing:  $reason"
expect_out "training on the CPU needs none of these"
expect_equal "$err" ""

begin "doctor --json is one line with the same facts"
run "$train" doctor --json
expect_code "$healthy"
expect_equal "$(wc -l <<<"$out")" 1
for key in version cpu gpu_part libraries gpus missing; do expect_out "\"$key\":"; done
expect_out "$reason"

begin "a program without its GPU part says so, and trains on the CPU"
place_program
write_tiny_run tiny.yaml
run bin/train --config tiny.yaml --gpus 1
expect_code 8
expect_err "the GPU part of train is not there ($PWD/lib/trainyard/libtrainyard_cuda*.so)"
run bin/train --config tiny.yaml --set epochs=1
expect_code 0
TRAINYARD_GPU_PART=$PWD/other.so run bin/train --config tiny.yaml --gpus 1
expect_code 8
expect_err "the GPU part of train is not there ($PWD/other.so)"

begin "a GPU part that is not a library, or of another build, is refused"
place_program
write_tiny_run tiny.yaml
echo "no library" >"$part"
run bin/train --config tiny.yaml --gpus 1
expect_code 8
expect_err "the GPU part of train cannot be loaded"
cp "$(ldconfig -p | awk '/libm\.so\.6 .*x86-64/ {print $NF; exit}')" \
  "$part"
run bin/train --config tiny.yaml --gpus 1
expect_code 8
expect_err "belongs to another build (no entry"

begin "the GPU part loads on the build machine: all its undefined symbols are in the program or the system"
run "$train" doctor
expect_no_out "cannot be loaded"
if [[ -e $plugin ]]; then
  expect_out_match "GPU part  [^"$'\n'"]*libtrainyard_cuda[0-9]+.so, CUDA [0-9]+"
else
  expect_out "GPU part  none"
fi

finish 10 0
