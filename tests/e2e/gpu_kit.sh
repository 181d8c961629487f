#!/usr/bin/env bash
# The GPU kit: what it brings, how its parts are judged, and its three runs on stand-ins (tests/standin/README.md).
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/lib_ranks.sh
source "$(dirname "$0")/lib_ranks.sh"
# shellcheck source=tests/e2e/lib_standin.sh
source "$(dirname "$0")/lib_standin.sh"

kit=$source_dir/scripts/gpu_kit.sh

# fake_build PROGRAM: a build folder whose programs are all PROGRAM.
fake_build() {
  rm -rf build
  mkdir -p build/lib/trainyard build/bin build/tests/launcher
  touch build/lib/trainyard/libtrainyard_cuda13.so
  cp "$(type -P "$1")" build/bin/train
  cp build/bin/train build/tests/launcher/test_launcher_gpu
}

# on_fake RUN FLAGS...: fills $out with the page.
on_fake() {
  run env COMPUTE_SANITIZER=/nowhere "$kit" run "$1" --build "$PWD/build" --output "$PWD/output" --store "$PWD/store" "${@:2}"
  out=$(<output/page.md)
}

begin "a dry run prints what each run brings and its limits, within 7 minutes"
run "$kit" --dry-run
expect_code 0
expect_out "brings programs.tar.xz (not there) data.1 (not there)"
expect_out "four ranks over NCCL on one GPU"
expect_equal "$(sed -nE 's/^run ([123]), at most ([0-9]+) s$/\1 \2/p' <<<"$out" | awk '$2 <= 420' | wc -l)" 3

begin "a part without what it needs is left out, one that fails has failed"
fake_build true
on_fake 1 doctor tests
expect_code 0
expect_out "| doctor | passed |"
expect_out "| tests | passed |"
on_fake 2 initcheck
expect_code 1
expect_out "| initcheck | left out: compute-sanitizer is not installed"
on_fake 3 rows peer
expect_code 1
expect_out "| rows | left out: CIFAR-10 has not come whole |"
expect_out "| peer | left out: PEER"
fake_build false
on_fake 1 doctor tests
expect_code 1
expect_out "| doctor | failed |"
expect_out "| tests | failed |"
printf '#!/bin/sh\necho "[doctest] test cases: 0 | 0 passed | 0 failed | 5 skipped"\n' >build/tests/launcher/test_launcher_gpu
on_fake 1 tests
expect_code 1
expect_out "| tests | failed |"
run "$kit" run 1 peer
expect_code 1
expect_err "run 1 has no part 'peer'"
run "$kit" run 4
expect_code 2

begin "programs and pieces of CIFAR-10 are whole again after three transfers"
fake_build true
run "$train" data make shapes data/cifar-10-batches-bin --train 50 --test 10
mkdir -p output
run env XZ_LEVEL=0 TRAINYARD_DATA="$PWD/data" "$kit" pack "$PWD/kit" --build "$PWD/build"
expect_code 0
expect_out "brings programs.tar.xz (1 MB) data.1 (1 MB)"
rm -r build
for piece in 1 2 3; do
  mkdir "came$piece"
  mv "kit/data.$piece" "came$piece"
done
mv kit/programs.tar.xz came1
on_fake 1 --kit came1 doctor
on_fake 2 --kit came2 suite
on_fake 3 --kit came3 peer
expect_same_file store/data/cifar-10-batches-bin/test_batch.bin data/cifar-10-batches-bin/test_batch.bin
expect_same_file build/tests/launcher/test_launcher_gpu "$(type -P true)"

# small RUN FLAGS...: a run on a stand-in GPU with the least work; $out is the page.
small() {
  run "$source_dir/scripts/standin.sh" --build "$build" 1 "$kit" run "$1" --build "$build" --output "$PWD/output" \
    --store "$PWD/store" --label standin --tests device --small "${@:2}"
  out=$(<output/page.md)
}

if begin_on_gpus "ranks over NCCL on one stand-in GPU end with the bytes of one"; then
  small 1 ranks
  expect_code 0
  expect_out "| four ranks over NCCL on one GPU, checks that passed | 7 of 7 | all |"
  expect_equal "$(grep -c '"ok": true' output/results.jsonl)" 7
fi

if begin_on_gpus "the first run checks on a stand-in"; then
  small 1 doctor tests captured overlap replicas resume
  expect_code 0
  for part in doctor tests captured overlap replicas resume; do expect_out "| $part | passed |"; done
fi

# Peaks are measured with matrices that fit the memory: little of it, little time.
export STANDIN_MEMORY_MIB=640

if begin_on_gpus "every node of a step is timed on a stand-in"; then
  small 1 layers nodes steps
  expect_code 0
  for part in layers nodes steps; do expect_out "| $part | passed |"; done
  expect_equal "$(wc -l <output/layers.jsonl)" 1
  expect_equal "$(grep -c '"functor":"UpdateSpan"' output/nodes.jsonl)" 1
fi

if begin_on_gpus "the second run measures on stand-ins"; then
  for part in speed resnet50 pictures suite; do
    small 2 "$part"
    expect_code 0
    expect_out "| $part | passed |"
  done
  expect_equal "$(grep -c '"what": "ResNet-50 bf16, batch 2, images/s"' output/results.jsonl)" 1
fi

if begin_on_gpus "the second run checks on stand-ins, with a checker that only runs the program"; then
  # shellcheck disable=SC2016  # for the program
  printf '#!/bin/bash\nwhile [[ $1 == -* ]]; do shift 2; done\nexec "$@"\n' >checker
  chmod +x checker
  export COMPUTE_SANITIZER=$PWD/checker
  small 2 racecheck synccheck initcheck memcheck
  expect_code 0
  for part in racecheck synccheck initcheck memcheck; do expect_out "| $part | passed |"; done
fi

if begin_on_gpus "the third run trains the rows that are not done, and goes on where it was cut off"; then
  run "$train" data make shapes store/data/cifar-10-batches-bin --train 100 --test 32
  # What an earlier occasion began, and had no time to end.
  begun=store/runs/cnn-bf16-1
  run "$source_dir/scripts/standin.sh" --build "$build" 1 "$train" --config "$source_dir/configs/cnn_cifar10.yaml" --epochs 1 --no-tune --precision bf16 \
    --seed 1 --set "data.train.root=$PWD/store/data" --set "data.val.root=$PWD/store/data" --set data.train.limit=64 \
    --set data.val.limit=32 --gpus 1 --quiet --out "$begun" --max-time 0.01s
  expect_code 75
  rm -rf "$begun/plots" "$begun/weights"
  small 3
  expect_code 0
  expect_out "| rows | passed |"
  expect_equal "$(grep -c '^train resume' "$begun/command.txt")" 1
  expect_equal "$(grep -c '^cnn,bf16,[12],0' output/rows.csv)" 2
  small 3
  expect_equal "$(wc -l <output/rows.csv)" 3
fi

finish 9 6
