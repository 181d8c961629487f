#!/usr/bin/env bash
# Checks that need a machine with an NVIDIA GPU; writes one Markdown page.
#
#   scripts/gpu_check.sh [--build DIR] [--output FILE] [--label LABEL] [PART...]
#
# Parts, all by default, in this order:
#   doctor      description of the machine
#   tests       the tests labelled gpu (or LABEL)
#   memcheck    the same under compute-sanitizer's memory checker
#   racecheck   the same under its shared memory checker
#   initcheck   the same under its uninitialized memory checker
#   captured    a small run twice and with --eager: the same bytes; and its first losses next to the CPU's
#   replicas    that run with shards, on one rank and on four that share the GPU: the same bytes
#   resume      three kills of that run, resumed: the same bytes
#   cifar10     MiniGoogLeNet for an epoch, if $TRAINYARD_DATA contains CIFAR-10
#   speed       train bench in fp32, tf32 and bf16, and the PyTorch script $PEER if set
# The build must contain the GPU part (default: build/release). The page is written to FILE, or to standard
# output. A part that needs something other than a GPU that is missing (compute-sanitizer, CIFAR-10) is left
# out, and says so; COMPUTE_SANITIZER is the path of the program if not in the usual place. Exit code: 0 if no
# part failed and at least one passed, 1 otherwise, 2 for a usage error.
#
# The script itself is tested on stand-ins of GPUs, except for speed:
#   scripts/standin.sh 1 scripts/gpu_check.sh --label standin doctor tests captured replicas resume

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

all_parts=(doctor tests memcheck racecheck initcheck captured replicas resume cifar10 speed)
build_dir=build/release
output=/dev/stdout
label=gpu
parts=()

usage() {
  sed -n '2,/^$/s/^# \{0,1\}//p' "$0" >&2
  exit 2
}

while [[ $# -gt 0 ]]; do
  case $1 in
    --build) build_dir=${2:?--build requires a folder} && shift ;;
    --label) label=${2:?--label requires a label} && shift ;;
    --output) output=${2:?--output requires a file} && shift ;;
    -*) usage ;;
    *)
      [[ " ${all_parts[*]} " == *" $1 "* ]] || usage
      parts+=("$1")
      ;;
  esac
  shift
done
[[ ${#parts[@]} -gt 0 ]] || parts=("${all_parts[@]}")
[[ -n ${TRAINYARD_GPU_PART-} ]] || compgen -G "$build_dir/lib/trainyard/libtrainyard_cuda*.so" >/dev/null ||
  die "$build_dir has no GPU part; build it with cmake --preset cuda"

# Paths of the test programs with the label, one per line.
gpu_programs() {
  ctest --test-dir "$build_dir" --label-regex "^$label\$" --show-only=json-v1 |
    grep -oE '"[^"]+/test_[a-z_]+_'"$label"'"' | tr -d '"' | sort -u
}

# Return code of a part that was left out.
left_out=77

# leave_out WHY: prints why a part is left out, and returns that code.
leave_out() {
  echo "left out: $1"
  return "$left_out"
}

sanitizer() {
  command -v "${COMPUTE_SANITIZER:-compute-sanitizer}" ||
    { [[ -z ${COMPUTE_SANITIZER:-} ]] && command -v /usr/local/cuda/bin/compute-sanitizer; }
}

# under_sanitizer TOOL: runs every gpu test under one tool.
under_sanitizer() {
  local program checker failures=0 options=()
  # Tests make calls that must fail, and check what they return.
  [[ $1 != memcheck ]] || options=(--report-api-errors no)
  if ! checker=$(sanitizer); then
    leave_out "compute-sanitizer is not installed; install the CUDA toolkit's sanitizer"
    return
  fi
  while IFS= read -r program; do
    echo "$(basename "$program"):"
    "$checker" --tool "$1" "${options[@]}" --error-exitcode 99 --launch-timeout 0 "$program" || failures=1
  done < <(gpu_programs)
  return "$failures"
}

# small_run FOLDER FLAGS...: the run of scripts/kill_resume.sh.
small_run() {
  "$build_dir/bin/train" --config scripts/kill_resume.yaml --quiet --out "$@"
}

weights_of() { sha256sum <"$1/weights/last.safetensors"; }

captured() {
  local work device
  work=$(mktemp -d)
  small_run "$work/one" --gpus 1 && small_run "$work/two" --gpus 1 &&
    small_run "$work/eager" --gpus 1 --eager && small_run "$work/cpu" --gpus 0 || return 1
  for device in one cpu; do
    echo "losses of the first steps, $device: $(cut -d , -f 3 "$work/$device/steps.csv" | sed -n '1,6p' | xargs)"
  done
  [[ $(weights_of "$work/one") == "$(weights_of "$work/two")" ]] || { echo "two runs differ" && return 1; }
  [[ $(weights_of "$work/one") == "$(weights_of "$work/eager")" ]] || { echo "captured and eager differ" && return 1; }
  echo "two captured runs and an eager one: the same weights"
  rm -rf "$work"
}

replicas() {
  local work shards=(--set 'batch={total: 64, shards: 4}' --gpus 1)
  work=$(mktemp -d)
  small_run "$work/one" "${shards[@]}" && small_run "$work/four" "${shards[@]}" --replicas 4 || return 1
  [[ $(weights_of "$work/one") == "$(weights_of "$work/four")" ]] || { echo "one rank and four differ" && return 1; }
  echo "one rank, and four that share the GPU: the same weights"
  rm -rf "$work"
}

cifar10() {
  if [[ ! -f ${TRAINYARD_DATA:-}/cifar-10-batches-bin/test_batch.bin ]]; then
    leave_out "TRAINYARD_DATA does not contain CIFAR-10"
    return
  fi
  local folder
  folder=$(mktemp -d)/run
  "$build_dir/bin/train" --config minigooglenet_cifar10 --epochs 1 --set schedule.poly.length=70 \
    --gpus 1 --out "$folder" && cat "$folder/metrics.csv"
}

speed() {
  local net precision
  for net in resnet20 minigooglenet cnn; do
    for precision in fp32 tf32 bf16; do
      "$build_dir/bin/train" bench --config "scripts/bench/$net.yaml" --batch 128 --gpus 1 \
        --precision "$precision" --json || return 1
    done
  done
  [[ -n ${PEER:-} ]] || { echo "no peer: PEER is not set" && return; }
  python3 "$PEER" --nets resnet20,minigooglenet,cnn --batches 128 \
    --modes fp32,tf32,ampbf16,compilebf16
}

run_part() {
  case $1 in
    doctor) "$build_dir/bin/train" doctor ;;
    captured | replicas | cifar10 | speed) "$1" ;;
    resume) TRAIN=$build_dir/bin/train scripts/kill_resume.sh scripts/kill_resume.yaml 3 -- --gpus 1 ;;
    tests) ctest --test-dir "$build_dir" --label-regex "^$label\$" --no-tests=error --output-on-failure ;;
    *) under_sanitizer "$1" ;;
  esac
}

# section PART: prints its output and verdict as Markdown; sets verdict.
section() {
  local log seconds=$SECONDS code=0
  log=$(mktemp)
  run_part "$1" >"$log" 2>&1 || code=$?
  case $code in
    0) verdict=passed ;;
    "$left_out") verdict="left out" ;;
    *) verdict=failed ;;
  esac
  ! grep -qE '\| +0 passed \| +0 failed \| +[1-9][0-9]* skipped' "$log" || verdict="skipped: no GPU"
  printf '\n## %s: %s (%s s)\n\n```\n' "$1" "$verdict" "$((SECONDS - seconds))"
  tail -n 60 "$log"
  printf '```\n'
  rm -f "$log"
}

report() {
  local part verdict passed=0 failed=0
  printf '# GPU check of %s\n\n%s, %s\n' "$(git rev-parse --short HEAD)" "$(uname -srm)" \
    "$(date --utc +%Y-%m-%dT%H:%MZ)"
  for part in "${parts[@]}"; do
    say "$part"
    section "$part"
    case $verdict in
      passed) passed=1 ;;
      "left out") ;;
      *) failed=1 ;;
    esac
  done
  [[ $failed -eq 0 && $passed -eq 1 ]]
}

report >"$output"
