#!/usr/bin/env bash
# The package, unpacked into a root folder that has only the C and C++ libraries and the archive.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

build_dir=$(dirname "$train")/..
root=$scratch/root
plugin=$(compgen -G "$build_dir/lib/trainyard/libtrainyard_cuda*.so" | head -n 1)

# Copies the system's C and C++ libraries into the root folder.
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

# Only for root, in its own mount namespace, so that nothing is left behind.
can_change_root() { unshare --mount true 2>/dev/null; }

# start PROGRAM ARGUMENTS...: runs a program in the root folder, with an empty environment.
start() {
  # shellcheck disable=SC2016  # for the inner shell
  run unshare --mount bash -c '
    mount --rbind /proc "$1/proc" && mount --rbind /dev "$1/dev" && shift_root=$1 && shift &&
    exec env -i "$(command -v chroot)" "$shift_root" "$@"' \
    - "$root" "$@"
}

# inside ARGUMENTS...: the unpacked program.
inside() { start /opt/trainyard/bin/train "$@"; }

# inside_system ROOT PROGRAM ARGUMENTS...: the same in the root folder of a system, leaving nothing
# behind: the package is mounted on its /mnt, and its /tmp is in memory.
inside_system() {
  # shellcheck disable=SC2016  # for the inner shell
  run unshare --mount bash -c '
    mount --bind "$2/opt/trainyard" "$1/mnt" && mount -t tmpfs tmpfs "$1/tmp" &&
    mount --rbind /proc "$1/proc" && mount --rbind /dev "$1/dev" && shift_root=$1 && shift 2 &&
    exec env -i "$(command -v chroot)" "$shift_root" "$@"' \
    - "$1" "$root" "${@:2}"
}

# Programs and libraries of the package, as paths within it.
binaries() { (cd "$root/opt/trainyard" && find bin lib -type f); }

# newest_needed PREFIX FILE: the newest version of the symbols PREFIX_x.y that a file needs.
newest_needed() { objdump -T "$2" | grep -oE "\($1_[0-9.]+\)" | tr -d '()' | sort -uV | tail -n 1; }

# expect_at_most VERSION FOUND: versions of symbols; FOUND is empty if a file needs none.
expect_at_most() {
  expect_equal "$(printf '%s\n' "$1" "$2" | sort -V | tail -n 1)" "$1"
}

begin "the package is relocatable and contains what a bare system lacks"
run cpack -G TGZ --config "$build_dir/CPackConfig.cmake" -B "$PWD"
expect_code 0
archive=$(ls "$PWD"/trainyard-*.tar.gz)
mkdir -p "$root/opt/trainyard"
tar --extract --gzip --file "$archive" --directory "$root/opt/trainyard" --strip-components 1
for file in bin/train lib/trainyard/libdnnl.so.2 lib/trainyard/libgomp.so.1 lib/trainyard/libOpenCL.so.1 \
  share/trainyard/configs/quickstart.yaml share/trainyard/models/shapes_cnn.yaml \
  share/doc/trainyard/LICENSE; do
  expect_file "$root/opt/trainyard/$file"
done
if [[ -n $plugin ]]; then
  expect_file "$root/opt/trainyard/lib/trainyard/$(basename "$plugin")"
fi
for file in libstdc++.so.6 libc.so.6 libcuda.so.1 libcudart.so.13 libcudnn.so.9; do
  expect_no_path "$root/opt/trainyard/lib/trainyard/$file"
done
printf 'the package has %s bytes\n' "$(stat --format %s "$archive")"

begin "no file in the package needs newer C or C++ libraries than Ubuntu 22.04's"
[[ -n $(newest_needed GLIBC "$root/opt/trainyard/bin/train") ]] || fail "objdump lists no version that train needs"
while IFS= read -r file; do
  expect_at_most GLIBC_2.35 "$(newest_needed GLIBC "$root/opt/trainyard/$file")"
  expect_at_most GLIBCXX_3.4.30 "$(newest_needed GLIBCXX "$root/opt/trainyard/$file")"
  expect_at_most CXXABI_1.3.13 "$(newest_needed CXXABI "$root/opt/trainyard/$file")"
done < <(binaries)

if ! can_change_root; then
  for name in "libraries" "data" "training" "GPUs" "other systems"; do
    begin "$name in a bare root"
    skip "changing the root folder needs root"
  done
  finish 7 5
  exit
fi
place_system

begin "each library that the program needs is in the package or in the bare root"
start /lib64/ld-linux-x86-64.so.2 --list /opt/trainyard/bin/train
expect_code 0
expect_no_out "not found"
expect_out "/opt/trainyard/bin/../lib/trainyard/libdnnl.so.2"

begin "it generates data in a bare root"
inside data make shapes /trial/shapes --train 500 --test 100
expect_code 0

begin "it trains a shipped config in a bare root"
inside --config quickstart --out /trial/run --epochs 2 --set batch.per_gpu=50 \
  --set data.train.root=/trial/shapes --set data.val.root=/trial/shapes \
  --set 'schedule={cosine: {by: step}}'
expect_code 0
expect_out "Epoch 2/2"
expect_file "$root/trial/run/metrics.csv"
inside resume /trial/run
expect_code 0

begin "it reports what training on a GPU lacks in a bare root"
inside doctor
expect_code 0
expect_no_out "cannot be loaded"
inside --config quickstart --gpus 1
expect_code 8
if [[ -n $plugin ]]; then
  expect_err "--gpus 1: no NVIDIA driver was found (libcuda.so.1 cannot be opened)"
else
  expect_err "--gpus 1: the GPU part of train is not there (/opt/trainyard/lib/trainyard"
fi

begin "it trains in the systems of TRAINYARD_ROOTS"
if [[ -z ${TRAINYARD_ROOTS:-} ]]; then
  skip "TRAINYARD_ROOTS names no root folder; create them with scripts/package_roots.sh"
else
  IFS=: read -ra systems <<<"$TRAINYARD_ROOTS"
  for system in "${systems[@]}"; do
    grep -h PRETTY_NAME "$system/etc/os-release"
    inside_system "$system" ldd /mnt/bin/train
    expect_code 0
    expect_no_out "not found"
    inside_system "$system" sh -c '/mnt/bin/train data make shapes /tmp/shapes --train 500 --test 100 &&
      /mnt/bin/train --config quickstart --out /tmp/run --epochs 1 --set batch.per_gpu=50 \
        --set data.train.root=/tmp/shapes --set data.val.root=/tmp/shapes --set "schedule={cosine: {by: step}}"'
    expect_code 0
    expect_out "Epoch 1/1"
    inside_system "$system" /mnt/bin/train doctor
    expect_code 0
    expect_no_out "cannot be loaded"
  done
fi

finish 7 1
