#!/usr/bin/env bash
# What a machine with an NVIDIA GPU can show, in three runs of at most 7 minutes, the most valuable parts first.
#
#   scripts/gpu_kit.sh --dry-run                    what each run brings, its size, its parts and their time limits
#   scripts/gpu_kit.sh pack KIT                     packs the programs of build/release and CIFAR-10 into a folder
#   scripts/gpu_kit.sh run 1|2|3 [PART...]          a run, or some of its parts
#     --kit KIT          the folder of `pack`, or what came of it; without it the build is used as it is
#     --output FOLDER    results (default: gpu_kit_N): page.md and at most 8 files of 16 MiB
#     --build FOLDER     default: build/release, where the programs of the kit are unpacked too
#     --store FOLDER     what stays on the machine between runs (default: /tmp/trainyard_gpu_kit)
#     --label, --tests   label of the tests, and a regular expression of their names (default: gpu, all)
#     --small            the least work in ten times the time, for a trial on stand-ins:
#                        scripts/standin.sh 1 scripts/gpu_kit.sh run 1 --label standin --tests device --small
#
# A machine that takes 64 MiB at once gets, beside this repository, the programs and a third of CIFAR-10 with run 1 and
# a third with runs 2 and 3: name the files of the dry run. It needs xz, and for some parts compute-sanitizer, a C
# compiler and, with PEER=torch_train_speed.py, PyTorch. A part whose needs are missing is left out, and says so.
# The part `nodes` needs the GPU part of a build with -DTRAINYARD_NODE_TIMES=ON in the build's lib/node_times, and
# `overlap`, for its delays, that of one with -DTRAINYARD_CHAOS=ON in lib/chaos.
# Exit code: 0 if no part failed and one passed, 1 otherwise, 2 for a usage error.

here=$PWD
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

# path NAME: absolute, from the folder where this was called.
path() { realpath -m -- "$([[ $1 == /* ]] || echo "$here/")$1"; }

usage() {
  sed -n '2,/^$/s/^# \{0,1\}//p' "$0" >&2
  exit 2
}

# run, part, script, time limit in seconds, what it is
parts() {
  cat <<'TABLE'
1 doctor checks 10 the machine
1 tests checks 45 every test of a GPU
1 ranks checks 120 four ranks over NCCL on one GPU: the bytes of one rank, kills, Ctrl-C, restarts
1 layers speed 40 every node of three networks' steps, timed alone
1 nodes speed 25 nodes and gaps inside the real step
1 probe speed 50 launches, copies, sums and overlap
1 steps speed 25 a step with weight gradients left out or elsewhere; two runs at once
1 captured checks 15 captured and eager steps: the same bytes
1 overlap checks 20 kernels that begin early and those that do not: the same bytes
1 replicas checks 10 shards on one rank and on four
1 resume checks 20 three kills
2 speed speed 70 three networks in three precisions
2 resnet50 speed 130 ResNet-50 in bf16 and fp16, beside PyTorch
2 pictures speed 60 ResNet-50 from JPEG files and from a pack
2 suite speed 40 rows of Keras-MXNet's benchmark
2 racecheck checks 30 shared memory
2 synccheck checks 30 barriers
2 initcheck checks 30 uninitialized memory
2 memcheck checks 30 addresses
3 rows rows 230 published accuracies
3 peer speed 190 PyTorch at its fastest
TABLE
}

# What a run brings, of the kit's folder.
brings() {
  case $1 in
    1) echo programs.tar.xz data.1 ;;
    2) echo data.2 peer.py ;;
    3) echo data.3 peer.py runs.1 runs.2 inductor.1 inductor.2 inductor.3 ;;
  esac
}

commit() { git rev-parse --short HEAD 2>/dev/null || cat "$KIT_BUILD/commit"; }
export -f commit

dry_run() {
  local run name size file
  for run in 1 2 3; do
    printf 'run %s, at most %s s\n  brings' "$run" "$(parts | awk -v run="$run" '$1 == run { sum += $4 } END { print sum }')"
    for file in $(brings "$run"); do
      size="not there"
      [[ ! -e ${kit:-.}/$file ]] || size=$(du -m --apparent-size "${kit:-.}/$file" | awk '{ print $1 " MB" }')
      printf ' %s (%s)' "$file" "$size"
    done
    printf '\n'
    while read -r _ name _ size file; do printf '  %-10s %4s s  %s\n' "$name" "$size" "$file"; done < <(parts | grep "^$run ")
  done
}

# Copies the programs, with the libraries that a bare system lacks, as a part of the build folder.
pack_programs() {
  local folder=$1/programs file
  rm -rf "$folder"
  mkdir -p "$folder/lib/trainyard"
  while IFS= read -r file; do
    install -D --strip "$KIT_BUILD/$file" "$folder/$file" 2>/dev/null || install -D "$KIT_BUILD/$file" "$folder/$file"
  done < <(cd "$KIT_BUILD" && find bin lib tests -type f \
    \( -path 'bin/*' -o -name 'libtrainyard_cuda[0-9]*.so' -o -name "test_*_$KIT_LABEL" -o -name comm_nccl_rank \))
  ldd "$folder/bin/train" | awk '$3 ~ /^\// && $3 !~ /\/lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so/ { print $3 }' |
    xargs -r cp -L -t "$folder/lib/trainyard"
  cc -shared -fPIC -o "$folder/lib/own_host.so" scripts/gpu_kit/own_host.c
  git rev-parse --short HEAD >"$folder/commit"
  # The programs have most of their bytes in common, hundreds of MB apart.
  tar -c -C "$folder" . | xz --lzma2="preset=${XZ_LEVEL:-9},dict=384MiB" >"$1/programs.tar.xz"
  rm -rf "$folder"
}

# pack KIT: pieces of CIFAR-10 fill what the programs leave of three transfers of 64 MiB beside the repository.
pack() {
  local room programs total first rest
  mkdir -p "$1"
  pack_programs "$1"
  [[ -z ${PEER-} ]] || cp "$PEER" "$1/peer.py"
  [[ -f ${TRAINYARD_DATA:-}/cifar-10-batches-bin/test_batch.bin ]] || die "TRAINYARD_DATA does not contain CIFAR-10"
  tar -c -C "$TRAINYARD_DATA" cifar-10-batches-bin | xz --threads=0 "-${XZ_LEVEL:-9}" >"$1/data"
  total=$(stat -c %s "$1/data")
  programs=$(stat -c %s "$1/programs.tar.xz")
  room=$((64 * 1024 * 1024 - $(git ls-files -z | du -cb --files0-from=- | tail -n 1 | cut -f 1)))
  first=$((room - programs < total / 3 ? room - programs : total / 3))
  rest=$(((total - first + 1) / 2))
  [[ $first -gt 0 && $rest -le $room ]] || die "the programs ($programs bytes) and CIFAR-10 ($total) exceed three transfers"
  { head -c "$first" >"$1/data.1" && head -c "$rest" >"$1/data.2" && cat >"$1/data.3"; } <"$1/data"
  rm "$1/data"
}

# join_pieces NAME: unpacks the pieces of a folder that an earlier occasion left, once.
join_pieces() {
  [[ -e $KIT_STORE/$1.1 && ! -d $KIT_STORE/$1 ]] || return 0
  mkdir -p "$KIT_STORE/$1"
  cat "$KIT_STORE/$1".? | tar -xJ -C "$KIT_STORE/$1"
}

# Takes what has come with this run, and unpacks what is complete.
unpack() {
  local file
  mkdir -p "$KIT_STORE" "$KIT_BUILD"
  [[ -n $kit ]] || return 0
  [[ ! -e $kit/programs.tar.xz ]] || tar -xJf "$kit/programs.tar.xz" -C "$KIT_BUILD"
  for file in "$kit"/data.? "$kit"/runs.? "$kit"/inductor.?; do [[ ! -e $file ]] || cp "$file" "$KIT_STORE"; done
  [[ ! -e $KIT_STORE/data.2 || ! -e $KIT_STORE/data.3 ]] || join_pieces data
  export TORCHINDUCTOR_CACHE_DIR=$KIT_STORE/inductor
  join_pieces runs
  join_pieces inductor
  [[ ! -e $kit/peer.py || -n ${PEER-} ]] || export PEER=$kit/peer.py
}

# What PyTorch compiled, for the next time, if it fits three files of 16 MiB.
keep_inductor() {
  [[ -n $(ls -A "${TORCHINDUCTOR_CACHE_DIR:-/nowhere}" 2>/dev/null) ]] || return 0
  tar -cJ -C "$TORCHINDUCTOR_CACHE_DIR" . | split -b 16M --numeric-suffixes=1 -a 1 - "$KIT_OUTPUT/inductor."
  [[ ! -e $KIT_OUTPUT/inductor.4 ]] || rm "$KIT_OUTPUT"/inductor.?
}

# one PART SCRIPT LIMIT: runs it; prints a row of the page.
one() {
  local log code=0 began=$SECONDS verdict=failed
  log=$(mktemp)
  say "$1, at most $3 s"
  KIT_SECONDS=$3 timeout --kill-after=5 "$3" "scripts/gpu_kit/$2.sh" "$1" >"$log" 2>&1 || code=$?
  case $code in
    0) verdict=passed && passed=1 ;;
    77) verdict="left out: $(sed -n 's/^left out: //p' "$log" | tail -n 1)" ;;
    124 | 137) verdict="not done in $3 s" && failed=1 ;;
    *) failed=1 ;;
  esac
  printf '| %s | %s | %s | %s |\n' "$1" "$verdict" "$((SECONDS - began))" "$3"
  { printf '## %s: %s\n' "$1" "$verdict" && tail -n 200 "$log"; } >>"$KIT_OUTPUT/log.txt"
  rm -f "$log"
}

# The lines of findings as rows of Markdown.
findings() {
  printf '\n| what | measured | predicted, or before | it decides |\n|---|---|---|---|\n'
  cat "$KIT_OUTPUT"/*.jsonl 2>/dev/null | awk '
    function value(key) {
      if (!match($0, "\"" key "\": ?(\"[^\"]*\"|[-0-9.e+]+)")) return ""
      text = substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3)
      gsub(/^ |"/, "", text)
      return text
    }
    /"decides":/ {
      measured = value("measured") value("error") value("left_out")
      if (measured == "") measured = sprintf("%.4g ", value("median")) value("unit")
      if ((name = value("name")) != "") name = name ": "
      printf "| %s%s | %s | %s | %s |\n", name, value("what"), measured, value("predicted"), value("decides")
    }' || true
}

run_parts() {
  local run name script limit
  printf '# GPU kit, run %s, of %s\n\n%s, %s, %s\n\n| part | | s | limit |\n|---|---|---|---|\n' "$number" "$(commit)" \
    "$("$KIT_BUILD/bin/train" doctor 2>/dev/null | sed -n 's/^cuda:0 *//p' | head -n 1)" "$(uname -srm)" "$(date --utc +%FT%RZ)"
  while read -r run name script limit _; do
    [[ $run == "$number" ]] || continue
    [[ ${#wanted[@]} -eq 0 || " ${wanted[*]} " == *" $name "* ]] || continue
    one "$name" "$script" $((KIT_SMALL ? 10 * limit : limit))
  done < <(parts)
  findings
}

kit="" number="" wanted=() command=${1-} passed=0 failed=0
export KIT_BUILD=build/release KIT_OUTPUT="" KIT_STORE=/tmp/trainyard_gpu_kit KIT_LABEL=gpu KIT_TESTS=".*" KIT_SMALL=
[[ $# -gt 0 ]] && shift
while [[ $# -gt 0 ]]; do
  case $1 in
    --kit) kit=$(path "${2:?--kit needs a folder}") && shift ;;
    --output) KIT_OUTPUT=$(path "${2:?--output needs a folder}") && shift ;;
    --build) KIT_BUILD=$(path "${2:?--build needs a folder}") && shift ;;
    --store) KIT_STORE=$(path "${2:?--store needs a folder}") && shift ;;
    --label) KIT_LABEL=${2:?--label needs a label} && shift ;;
    --tests) KIT_TESTS=${2:?--tests needs an expression} && shift ;;
    --small) KIT_SMALL=1 ;;
    -*) usage ;;
    *) wanted+=("$1") ;;
  esac
  shift
done
KIT_BUILD=$(realpath -m "$KIT_BUILD")

case $command in
  --dry-run) dry_run ;;
  pack)
    [[ ${#wanted[@]} -eq 1 ]] || usage
    kit=$(path "${wanted[0]}")
    pack "$kit"
    dry_run
    ;;
  run)
    number=${wanted[0]-}
    wanted=("${wanted[@]:1}")
    [[ $number =~ ^[123]$ ]] || usage
    for name in "${wanted[@]}"; do parts | grep -q "^$number $name " || die "run $number has no part '$name'; --dry-run lists them"; done
    [[ -n $KIT_OUTPUT ]] || KIT_OUTPUT=$(path "gpu_kit_$number")
    mkdir -p "$KIT_OUTPUT"
    unpack
    [[ -n ${TRAINYARD_GPU_PART-} ]] || compgen -G "$KIT_BUILD/lib/trainyard/libtrainyard_cuda*.so" >/dev/null ||
      die "$KIT_BUILD has no GPU part; build it with cmake --preset cuda, or bring programs.tar.xz"
    run_parts >"$KIT_OUTPUT/page.md"
    keep_inductor
    cat "$KIT_OUTPUT/page.md"
    [[ $failed -eq 0 && $passed -eq 1 ]]
    ;;
  *) usage ;;
esac
