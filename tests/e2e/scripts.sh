#!/usr/bin/env bash
# The scripts of the suite itself, on made-up logs and machines.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

rows() { grep -v '^#' "$source_dir/tests/skipped.txt"; }

# write_log CONDITION...: what CTest would log for every test of the list if these hold.
write_log() {
  rows | awk -v holding=" $* " '
    { skips[$1] += index(holding, " " $3 " ") ? $2 : 0 }
    END { for (name in skips) {
            printf "%d/9 Test: %s\n", ++n, name
            if (name ~ /^e2e_/) printf "9 cases, 0 failed expectations, %d skipped\n", skips[name]
            else printf "[doctest] test cases: 9 | 9 passed | 0 failed | %d skipped\n", skips[name]
          } }' >log
}

begin "conditions of skipped cases may hold alone or together"
mapfile -t conditions < <(rows | awk '{ print $3 }' | sort -u)
for ((subset = 0; subset < 100; ++subset)); do
  holding=()
  for condition in "${conditions[@]}"; do
    if ((RANDOM % 2)); then holding+=("$condition"); fi
  done
  write_log "${holding[@]}"
  run "$source_dir/scripts/skips.sh" "$PWD/log" none "${holding[@]}"
  expect_code 0
done
for condition in "${conditions[@]}"; do
  write_log "$condition"
  run "$source_dir/scripts/skips.sh" "$PWD/log" none "$condition"
  expect_code 0
  run "$source_dir/scripts/skips.sh" "$PWD/log" none
  expect_code 1
  expect_err "0 skipped cases expected by tests/skipped.txt, found"
done

# The largest number of skipped cases that a script of tests/e2e allows.
most_of() { awk '$1 == "finish" { if ($3 > most) most = $3 } END { print most + 0 }' "$source_dir/tests/e2e/$1.sh"; }

begin "a script allows as many skipped cases as all conditions together skip"
while read -r test most; do
  expect_equal "$test $(most_of "${test#e2e_}")" "$test $most"
done < <(rows | awk '/^e2e_/ { sum[$1] += $2 } END { for (name in sum) print name, sum[name] }')
for script in "$source_dir"/tests/e2e/*.sh; do
  test=e2e_$(basename "$script" .sh)
  if rows | grep "^$test " >/dev/null || ! grep -q '^finish [0-9]' "$script"; then continue; fi
  expect_equal "$test $(most_of "${test#e2e_}")" "$test 0"
done

begin "a case skipped without reason, and a test without a count, are named"
printf '1/2 Test: e2e_replicas\n14 cases, 0 failed expectations, 2 skipped\n2/2 Test: data\nkilled\n' >log
run "$source_dir/scripts/skips.sh" "$PWD/log" no-mpirun
expect_code 1
expect_err "e2e_replicas: 1 skipped cases expected by tests/skipped.txt, found 2"
expect_err "data: 0 skipped cases expected by tests/skipped.txt, found no count"

# program PATH: creates a bash program there from stdin.
program() {
  mkdir -p "$(dirname "$1")"
  { echo '#!/usr/bin/env bash' && cat; } >"$1"
  chmod +x "$1"
}

# A copy of the scripts with fake programs that only print what the real ones would.
make_quickstart() {
  mkdir scripts
  cp "$source_dir"/scripts/{lib,quickstart,cuda,cuda_wheels}.sh "$source_dir"/scripts/cuda1*.txt scripts/
  mkdir -p sets/cifar-10-batches-bin
  echo x >sets/cifar-10-batches-bin/test_batch.bin
  echo 'echo installed' | program bin/dpkg-query
  program bin/cmake <<'SH'
if [[ $1 != --build ]]; then
  echo "$*" >configured
  toolkit=$(cat toolkit 2>/dev/null)
  [[ $* != *CUDA_WHEELS* ]] || toolkit=${toolkit:-$(cat wheels 2>/dev/null || echo 13)}
  [[ -z $toolkit || $* == *TRAINYARD_CUDA=OFF* ]] || echo "-- GPU part: CUDA $toolkit.0.88, cuDNN 9.19.0, NCCL 2.28.9, for 90-real"
  exit 0
fi
for ((i = 1; i <= 40; ++i)); do echo "[$i/40] Building CXX object x$i"; done
[[ ! -e broken ]] || { printf 'FAILED: x41\nx41.cpp:7: error: expected a name\n[41/41] Linking y\n' && exit 1; }
SH
  program build/release/bin/train <<'SH'
echo "$*" >arguments
mkdir -p runs/quickstart/0001/plots && touch runs/quickstart/0001/plots/curves.png
SH
}

begin "the quick start prints its parts, the next step, and the time of each"
make_quickstart
run env TRAINYARD_DATA=sets PATH="$PWD/bin:$PATH" scripts/quickstart.sh
expect_code 0
expect_err "in 4 parts: packages build data training"
expect_err_match "== 1 of 4, packages: .*== packages 0:00:0[0-9]; next: build"
expect_err_match "== 2 of 4, build: .*    4/40 ##------------------.*   40/40 ####################"
expect_err_match "== data 0:00:0[0-9]; next: training.*== training 0:00:0[0-9].== done in 0:00:[0-9]*: packages 0:00:"
expect_no_err "Building"
expect_equal "$(grep -c Building build/release/build.log)" 40
expect_out "plot: runs/quickstart/0001/plots/curves.png"
expect_equal "$(grep -c 'data.val.root=sets' arguments)" 1
touch broken
run env TRAINYARD_DATA=sets PATH="$PWD/bin:$PATH" scripts/quickstart.sh
expect_code 1
expect_err "x41.cpp:7: error: expected a name"
expect_err "the build of release failed"
expect_no_err "3 of 4"

# machine_with DRIVER: fake programs of NVIDIA's driver of that version; of pip; and no nvcc.
machine_with() {
  make_quickstart
  sed "s/DRIVER/$1/" <<'SH' | program bin/nvidia-smi
case $1 in *driver_version*) echo DRIVER.65.06 ;; *) printf '9.0\n9.0\n' ;; esac
SH
  echo 'exit 1' | program bin/nvcc
  program bin/python3 <<'SH'
[[ $* == *install* ]] || exit 0
echo "$*" >installed
while [[ $1 != --target ]]; do shift; done
mkdir -p "$2/nvidia/cu13/lib" && touch "$2/nvidia/cu13/lib/libcudart.so.13"
SH
}

quickstart() { run env TRAINYARD_DATA=sets PATH="$PWD/bin:$PATH" CUDA_HOME="$PWD/none" scripts/quickstart.sh "$@"; }

begin "with a driver of CUDA 13 the quick start builds with NVIDIA's wheels, and trains on a GPU"
machine_with 580
quickstart
expect_code 0
expect_err "in 5 parts: packages cuda build data training"
expect_err "the GPU part is built with CUDA 13"
expect_equal "$(grep -c -- '--require-hashes --target build/cuda13.new --requirement scripts/cuda13.txt --requirement scripts/cuda13_compiler.txt' installed)" 1
expect_equal "$(readlink -e build/nvidia/cu13/lib64/libcudart.so)" "$PWD/build/cuda13/nvidia/cu13/lib/libcudart.so.13"
expect_equal "$(grep -c "CMAKE_CUDA_ARCHITECTURES=90-real.*CMAKE_CUDA_COMPILER=$PWD/build/nvidia/cu13/bin/nvcc" configured)" 1
expect_equal "$(grep -c -- '--gpus 1' arguments)" 1
rm installed
quickstart
expect_code 0
expect_no_path installed

begin "an installed toolkit is used as it is"
machine_with 580
echo 12 >toolkit
quickstart
expect_code 0
expect_err "the GPU part is built with CUDA 12"
expect_no_path installed
expect_equal "$(grep -c -- '--gpus 1' arguments)" 1

begin "a driver of CUDA 12 without its toolkit, or with a newer one, leaves training to the CPU and says what to install"
machine_with 550
quickstart
expect_code 0
expect_err "the driver supports CUDA 12; the CPU trains. For the GPU install a driver from 580 on, or the CUDA toolkit 12.8"
expect_equal "$(grep -c -- '--gpus 0' arguments)" 1
expect_no_path installed
echo 13 >toolkit
quickstart
expect_code 0
expect_err "the driver supports CUDA 12, the toolkit is 13; the CPU trains."
echo 'echo "Cuda compilation tools, release 12.8, V12.8.93"' | program bin/nvcc
rm toolkit
echo 12 >wheels
quickstart
expect_code 0
expect_equal "$(grep -c -- '--requirement scripts/cuda12.txt' installed)" 1
expect_equal "$(grep -c -- '--gpus 1' arguments)" 1
expect_equal "$(grep -c CMAKE_CUDA_COMPILER configured)" 0

begin "without a driver the CPU trains, and --gpu builds the GPU part too"
machine_with 580
echo 'echo "it could not communicate with the driver" && exit 9' | program bin/nvidia-smi
quickstart
expect_code 0
expect_err "no NVIDIA driver: the CPU trains (--gpu builds the GPU part too)"
expect_no_path installed
quickstart --gpu
expect_code 0
expect_err "the GPU part is built with CUDA 13"
expect_equal "$(grep -c -- '--gpus 0' arguments)" 1
quickstart --gpus
expect_code 1
expect_err "unknown argument '--gpus'; the only one is --gpu"

begin "the progress bar of a build stays on one line of a terminal"
run bash -c "source '$source_dir/scripts/lib.sh'; "'printf "[1/4] a\n[4/4] b\n" | LC_ALL=C.UTF-8 build_bar /dev/null yes'
expect_code 0
expect_equal "$err" $'\r    1/4 ━━━━━───────────────\e[K\r    4/4 ━━━━━━━━━━━━━━━━━━━━\e[K\r\e[K'

begin "every part of the attack runs, and is a slow test"
memory=$PWD # a disk would take most of the time
[[ ! -w /dev/shm ]] || memory=/dev/shm
for file in "$source_dir"/scripts/attack/*.sh; do
  part=$(basename "$file" .sh)
  run env TMPDIR="$memory" "$source_dir/scripts/attack.sh" --train "$train" "$part=1"
  expect_code 0
  expect_out_match "$part: [12] attacks, 0 findings"
  grep -qE "foreach\(part .*\b$part\b" "$source_dir/tests/e2e/CMakeLists.txt" || fail "no test of part $part"
done

begin "an attack without a defence is a finding"
program train <<'SH'
[[ $1 != schema ]] || echo word
SH
run "$source_dir/scripts/attack.sh" --train "$PWD/train" keys=3
expect_code 1
expect_out "FOUND by keys: exit 0 instead of 3: line"
expect_out "keys: 3 attacks, 3 findings"
run "$source_dir/scripts/attack.sh" --train "$PWD/train" nothing
expect_code 1
expect_err "no part 'nothing'; known: "

begin "rates of nodes are fitted to their times: latency, and the share of the GPU's rates"
cat >nodes.jsonl <<'JSON'
{"peer":"not ours"}
{"program":"train","peak_gflops":800000.0,"peak_gbyte_per_s":3000.0,"nodes":5,"node_times":[{"step":"bn1 forward_train","kind":"bn","functor":"BatchMoments","library":false,"beside":false,"bytes":3000000,"flop":0.0,"nodes":1,"count":2,"microseconds":4.5},{"step":"bn2 forward_train","kind":"bn","functor":"BatchMoments","library":false,"beside":false,"bytes":6000000,"flop":0.0,"nodes":1,"count":1,"microseconds":5.0},{"step":"conv1 forward_train","kind":"convolution","functor":"","library":true,"beside":false,"bytes":10,"flop":800000000.0,"nodes":2,"count":1,"microseconds":12.0}]}
{"program":"train","peak_gflops":400000.0,"peak_gbyte_per_s":3000.0,"nodes":5,"node_times":[{"step":"conv1 forward_train","kind":"convolution","functor":"","library":true,"beside":false,"bytes":10,"flop":800000000.0,"nodes":2,"count":1,"microseconds":16.0},{"step":"conv1 backward_parameters","kind":"convolution","functor":"","library":true,"beside":true,"bytes":3000000,"flop":10.0,"nodes":2,"count":1,"microseconds":21.0},{"step":"odd","kind":"","functor":"","library":true,"beside":false,"bytes":1,"flop":0.0,"nodes":2,"count":1,"microseconds":9.0},{"step":"update","kind":"update","functor":"EndUpdate","library":false,"beside":false,"bytes":0,"flop":0.0,"nodes":1,"count":1,"microseconds":2.25}]}
JSON
run "$source_dir/scripts/gpu_kit/fit_rates.sh" nodes.jsonl
expect_code 0
expect_equal "$out" '{"bn", "BatchMoments", false, 4.00, 2},  // 3 nodes, 0 %
{"convolution", "", false, 8.00, 0.25},  // 2 nodes, 0 %
{"convolution", "", true, 20.00, 1},  // 1 nodes, 0 %
{"update", "EndUpdate", false, 2.25, 1},  // 1 nodes, 0 %'
echo '{"peer":"not ours"}' >other.jsonl
run "$source_dir/scripts/gpu_kit/fit_rates.sh" other.jsonl
expect_code 1
expect_err 'no line has "node_times": give files of train bench --layers --json on a GPU'
run "$source_dir/scripts/gpu_kit/fit_rates.sh"
expect_code 2
expect_err "fit_rates.sh FILE..."

finish 12 0
