#!/usr/bin/env bash
# Parts of scripts/gpu_kit.sh that check results on a GPU: checks.sh PART
#   doctor      description of the machine
#   tests       the tests labelled gpu (or $KIT_LABEL) whose names match $KIT_TESTS
#   memcheck    these under compute-sanitizer's memory checker
#   synccheck, racecheck, initcheck   those of kernels, functors and updates, and steps of ResNet-20 at batch 2, under
#               its other checkers
#   captured    a small run twice and with --eager: the same bytes; and its first losses next to the CPU's
#   overlap     that run with 'overlap: false' and without, also where blocks are delayed at random: the same bytes
#   replicas    that run with shards, on one rank and on four that share the GPU: the same bytes
#   resume      three kills of that run, resumed: the same bytes
#   ranks       scripts/gpu_kit/ranks.sh with ResNet-20
# COMPUTE_SANITIZER is the path of the program if not in the usual place.

# shellcheck source=scripts/gpu_kit/lib.sh
source "$(dirname "$0")/lib.sh"

# Paths of the test programs with the label, one per line.
gpu_programs() {
  find "$KIT_BUILD/tests" -type f -perm -u+x -name "test_*_$KIT_LABEL" | grep -E "/test_($KIT_TESTS)_$KIT_LABEL\$" | sort
}

run_tests() {
  local program output failures=0 count=0
  with_own_libraries
  while IFS= read -r program; do
    count=$((count + 1))
    echo "$(basename "$program"):"
    output=$("$@" "$program" 2>&1) || failures=1
    tail -n 12 <<<"$output"
    ! grep -qE '\| +0 passed \| +0 failed \| +[1-9][0-9]* skipped' <<<"$output" || die "all cases were skipped: no GPU"
  done < <(gpu_programs)
  [[ $count -gt 0 ]] || die "$KIT_BUILD/tests has no test labelled $KIT_LABEL that matches $KIT_TESTS"
  return "$failures"
}

# under_sanitizer TOOL: runs the tests under one tool.
under_sanitizer() {
  local checker options=(--tool "$1" --error-exitcode 99 --launch-timeout 0)
  # Tests make calls that must fail, and check what they return.
  [[ $1 != memcheck ]] || options+=(--report-api-errors no)
  # The other checkers are slow: tests of kernels only.
  [[ $1 == memcheck || -n $small ]] || KIT_TESTS="launcher|functors|backend|data"
  checker=$(command -v "${COMPUTE_SANITIZER:-compute-sanitizer}") ||
    checker=$(command -v "${COMPUTE_SANITIZER:-/usr/local/cuda/bin/compute-sanitizer}") ||
    leave_out "compute-sanitizer is not installed; install the CUDA toolkit's sanitizer"
  local code=0
  run_tests "$checker" "${options[@]}" || code=$?
  [[ $1 == memcheck ]] || bench_once "$checker" "${options[@]}" || code=$?
  return "$code"
}

# bench_once COMMAND...: a few steps of ResNet-20 at batch 2 under COMMAND.
bench_once() {
  echo "steps at batch 2:"
  "$@" "$train" bench --config scripts/bench/resnet20.yaml --batch 2 --gpus 1 --precision bf16 --windows 1 \
    --seconds 0.01 2>&1 | tail -n 12
}

# The run of scripts/kill_resume.sh; shorter on stand-ins.
shorter=()
[[ -z $small ]] || shorter=(--set data.train.size=1024 --no-tune)
# small_run FOLDER FLAGS...
small_run() { "$train" --config scripts/kill_resume.yaml "${shorter[@]}" --quiet --out "$@"; }
weights_of() { sha256sum <"$1/weights/last.safetensors"; }
# same A B WHAT
same() {
  [[ $(weights_of "$1") == "$(weights_of "$2")" ]] || die "$3 differ"
  echo "$3: the same weights"
}

captured() {
  local work device
  work=$(mktemp -d)
  for device in one two; do small_run "$work/$device" --gpus 1; done
  small_run "$work/eager" --gpus 1 --eager
  small_run "$work/cpu" --gpus 0
  for device in one cpu; do
    echo "losses of the first steps, $device: $(cut -d , -f 3 "$work/$device/steps.csv" | sed -n '1,6p' | xargs)"
  done
  same "$work/one" "$work/two" "two captured runs"
  same "$work/one" "$work/eager" "a captured run and an eager one"
  rm -rf "$work"
}

# Delays are those of the GPU part in lib/chaos, of a build with TRAINYARD_CHAOS.
overlap() {
  local work part round
  work=$(mktemp -d)
  small_run "$work/one" --gpus 1
  small_run "$work/in_turn" --gpus 1 --set overlap=false
  same "$work/one" "$work/in_turn" "kernels that begin early, and those that do not"
  part=$(compgen -G "$KIT_BUILD/lib/chaos/libtrainyard_cuda*.so" || true)
  if [[ -n $part ]]; then
    for round in 1 2 3; do
      TRAINYARD_GPU_PART=$part small_run "$work/delayed_$round" --gpus 1
      same "$work/one" "$work/delayed_$round" "without delays, and with blocks delayed at random"
    done
  else
    echo "not with delays: the GPU part that has them was not packed"
  fi
  rm -rf "$work"
}

replicas() {
  local work shards=(--set 'batch={total: 64, shards: 4}' --gpus 1)
  work=$(mktemp -d)
  small_run "$work/one" "${shards[@]}"
  small_run "$work/four" "${shards[@]}" --replicas 4
  same "$work/one" "$work/four" "one rank, and four that share the GPU"
  rm -rf "$work"
}

# Two short epochs of ResNet-20 on images made up here, as CIFAR-10 may not have come yet.
ranks() {
  local images="source: synthetic, shape: [3, 32, 32], classes: 10, learnable: true" run kills=10
  run=(resnet_cifar10 --set 'batch={total: 128, shards: 4}' --set epochs=2 --precision bf16 --no-tune
    --set "data.train={$images, size: 7680}" --set "data.val={$images, size: 512, split: test}")
  if [[ -n $small ]]; then
    kills=1
    run=(scripts/kill_resume.yaml --set 'batch={total: 32, shards: 4}' --set epochs=2 --no-tune)
  fi
  local code=0
  keep scripts/gpu_kit/ranks.sh --kills "$kills" "$train" "${run[@]}" | tee "$KIT_STORE/ranks" || code=$?
  finding ranks "four ranks over NCCL on one GPU, checks that passed" \
    "$(grep -c '"ok": true' "$KIT_STORE/ranks") of $(wc -l <"$KIT_STORE/ranks")" "all" \
    "whether several GPUs can be expected to work"
  finding ranks "longest end after a kill, s" \
    "$(sed -n 's/.*: kill of.*"seconds": \([0-9.]*\).*/\1/p' "$KIT_STORE/ranks" | sort -g | tail -n 1)" "at most 10" "-"
  return "$code"
}

case $1 in
  doctor) "$train" doctor ;;
  tests) run_tests env ;;
  memcheck | synccheck | racecheck | initcheck) under_sanitizer "$1" ;;
  captured | overlap | replicas | ranks) "$1" ;;
  resume) TRAIN=$train scripts/kill_resume.sh scripts/kill_resume.yaml "$([[ -n $small ]] && echo 1 || echo 3)" -- --gpus 1 "${shorter[@]}" ;;
  *) die "no part '$1'" ;;
esac
