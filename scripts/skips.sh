#!/usr/bin/env bash
# Compares the number of skipped cases of each test in a CTest log with tests/skipped.txt.
#
#   scripts/skips.sh build/release/Testing/Temporary/LastTest.log [CONDITION...]
#
# The conditions are checked on this machine, or given: those named hold; "none": none holds.

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

[[ $# -ge 1 && -s $1 ]] || die "requires a CTest log that is not empty"
log=$1
shift
given=("$@")

# Whether a condition of tests/skipped.txt holds on this machine.
machine_is() {
  case $1 in
    no-cifar10) [[ ! -f ${TRAINYARD_DATA:-}/cifar-10-batches-bin/test_batch.bin ]] ;;
    no-fashion-mnist) [[ ! -f ${TRAINYARD_DATA:-}/fashion-mnist/t10k-labels-idx1-ubyte ]] ;;
    no-imdb) [[ ! -f ${TRAINYARD_DATA:-}/imdb/train.tsv ]] ;;
    asan) grep -qs __asan_init "${log%/Testing/*}/bin/train" ;;
    root) [[ $(id -u) -eq 0 ]] ;;
    no-bf16) ! grep -qw avx512_bf16 /proc/cpuinfo ;;
    no-gpu) ! nvidia-smi --list-gpus >/dev/null 2>&1 ;;
    no-cudnn) ! [[ -e $(sed -n 's/^CUDNN_LIBRARY:FILEPATH=//p' "${log%/Testing/*}/CMakeCache.txt") ]] ;;
    no-cudart) ! grep -q "^STANDIN_CUDART:FILEPATH=/" "${log%/Testing/*}/CMakeCache.txt" ;;
    no-cublaslt) ! [[ -e $(sed -n 's/^CUDA_cublasLt_LIBRARY:FILEPATH=//p' "${log%/Testing/*}/CMakeCache.txt") ]] ;;
    no-standin) [[ ! -e ${log%/Testing/*}/lib/standin/libtrainyard_cuda_standin.so ]] ;;
    no-mpirun) ! mpirun --version 2>/dev/null | grep "Open MPI" >/dev/null || ! command -v ssh >/dev/null ;;
    no-mpich) ! command -v mpiexec.mpich >/dev/null ;;
    no-torchrun) ! command -v torchrun >/dev/null ;;
    no-slurm) ! command -v munged >/dev/null || ! command -v slurmctld >/dev/null || ! command -v slurmd >/dev/null ;;
    no-namespace) ! unshare --map-root-user --pid --fork true 2>/dev/null ;;
    no-mount) ! unshare --mount true 2>/dev/null ;;
    no-terminal) ! script -qec true /dev/null >/dev/null 2>&1 </dev/null ;;
    no-zsh | no-fish | no-mandoc) ! command -v "${1#no-}" >/dev/null ;;
    no-man) ! man --version 2>/dev/null | grep -q '^man 2' ;;
    no-tmpfs) ! unshare --mount --map-root-user mount -t tmpfs tmpfs /tmp 2>/dev/null ;;
    no-schema-peers) ! "${PEER_PYTHON:-python3}" -c 'import jsonschema, ruamel.yaml' 2>/dev/null ;;
    no-auditwheel) ! "${PEER_PYTHON:-python3}" -c 'import auditwheel' 2>/dev/null ;;
    no-roots) [[ -z ${TRAINYARD_ROOTS:-} ]] ;;
    no-wheels) [[ -z ${TRAINYARD_WHEELS:-} ]] ;;
    no-judges) [[ -z ${TRAINYARD_JUDGES:-} ]] ;;
    *) die "tests/skipped.txt: unknown condition '$1'" ;;
  esac
}

holds() {
  [[ ${#given[@]} -gt 0 ]] || machine_is "$1" || return 1
  [[ ${#given[@]} -eq 0 || " ${given[*]} " == *" $1 "* ]]
}

# The last lines of doctest's programs and of tests/e2e/lib.sh end in "N skipped".
counts() {
  awk '/^[0-9]+\/[0-9]+ Test: / { name = $3; found[name] = "no count" }
       /^\[doctest\] test cases: .* skipped$/ || /^[0-9]+ cases, .* skipped$/ {
         found[name] = $(NF - 1)
       }
       END { for (name in found) print name "\t" found[name] }' "$1" | sort
}

declare -A expected
while read -r name cases condition _; do
  [[ -n $name && $name != \#* ]] || continue
  if holds "$condition"; then expected[$name]=$((${expected[$name]:-0} + cases)); fi
done <tests/skipped.txt

failed=0
while IFS=$'\t' read -r name found; do
  [[ $found != "${expected[$name]:-0}" ]] || continue
  echo "$name: ${expected[$name]:-0} skipped cases expected by tests/skipped.txt, found $found" >&2
  failed=1
done < <(counts "$log")
exit "$failed"
