#!/usr/bin/env bash
# The package, unpacked where nothing else is: a root folder that holds the C and C++ libraries and
# the archive alone.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

build_dir=$(dirname "$train")/..
root=$scratch/root

# Puts the system's C and C++ libraries into the root folder.
place_system() {
  local library path
  for library in ld-linux-x86-64.so.2 libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 \
    libstdc++.so.6 libgcc_s.so.1; do
    path=$(ldconfig -p | awk -v name="$library" '$1 == name && /x86-64/ {print $NF; exit}')
    mkdir -p "$root$(dirname "$path")"
    cp -L "$path" "$root$path"
  done
  mkdir -p "$root/lib64" "$root/proc" "$root/dev" "$root/trial"
  cp -L /lib64/ld-linux-x86-64.so.2 "$root/lib64/"
}

# Only for root, in a mount namespace of its own, so that nothing stays behind.
can_change_root() { unshare --mount true 2>/dev/null; }

# inside ARGUMENTS...: runs the unpacked program in the root folder, with an empty environment.
inside() {
  # shellcheck disable=SC2016  # for the inner shell
  run unshare --mount bash -c '
    mount --rbind /proc "$1/proc" && mount --rbind /dev "$1/dev" && shift_root=$1 && shift &&
    exec env -i "$(command -v chroot)" "$shift_root" /opt/trainyard/bin/train "$@"' \
    - "$root" "$@"
}

begin "the package is made, relocatable, with what a bare system lacks"
run cpack --config "$build_dir/CPackConfig.cmake" -B "$PWD"
expect_code 0
archive=$(ls "$PWD"/trainyard-*.tar.gz)
mkdir -p "$root/opt/trainyard"
tar --extract --gzip --file "$archive" --directory "$root/opt/trainyard" --strip-components 1
for file in bin/train lib/libdnnl.so.2 lib/libgomp.so.1 lib/libOpenCL.so.1 \
  share/trainyard/configs/quickstart.yaml share/trainyard/models/shapes_cnn.yaml \
  share/doc/trainyard/LICENSE; do
  expect_file "$root/opt/trainyard/$file"
done
if [[ -e $build_dir/lib/trainyard/libtrainyard_cuda.so ]]; then
  expect_file "$root/opt/trainyard/lib/trainyard/libtrainyard_cuda.so"
fi
for file in libstdc++.so.6 libc.so.6 libcuda.so.1 libcudart.so.13 libcudnn.so.9; do
  expect_no_path "$root/opt/trainyard/lib/$file"
done
printf 'the package has %s bytes\n' "$(stat --format %s "$archive")"

if ! can_change_root; then
  for name in "data" "training" "GPUs"; do
    begin "$name in a bare root"
    skip "changing the root folder wants root"
  done
  finish 4 3
  exit
fi
place_system

begin "it draws data in a bare root"
inside data make shapes /trial/shapes --train 500 --test 100
expect_code 0

begin "it trains by a shipped config in a bare root"
inside --config quickstart --out /trial/run --epochs 2 --set batch.per_gpu=50 \
  --set data.train.root=/trial/shapes --set data.val.root=/trial/shapes \
  --set 'schedule={cosine: {by: step}}'
expect_code 0
expect_out "Epoch 2/2"
expect_file "$root/trial/run/metrics.csv"
inside resume /trial/run
expect_code 0

begin "it says what training on a GPU lacks in a bare root"
inside doctor
expect_code 8
inside --config quickstart --gpus 1
expect_code 8
if [[ -e $build_dir/lib/trainyard/libtrainyard_cuda.so ]]; then
  expect_err "--gpus 1: no NVIDIA driver was found (libcuda.so.1 cannot be opened)"
else
  expect_err "--gpus 1: the GPU part of train is not there (/opt/trainyard/lib/trainyard"
fi

finish 4 0
