#!/usr/bin/env bash
# From a bare Debian 12 or 13 or Ubuntu 24.04 to a trained network: installs what is missing, builds, gets data, trains.
#
#   scripts/quickstart.sh [--gpu]
#
# Prints what it does, what comes next and how long each part took. With an NVIDIA driver it builds the GPU part and
# trains on a GPU: with the CUDA toolkit, cuDNN and NCCL if they are installed, else with NVIDIA's wheels from PyPI, in
# build/. --gpu builds the GPU part without a driver too. Data: CIFAR-10 from $TRAINYARD_DATA or data/, else downloaded,
# else the shapes set. Run it as root or with sudo installed. Runs are written to runs/quickstart/.

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=scripts/cuda.sh
source scripts/cuda.sh

[[ $# -eq 0 || ($# -eq 1 && $1 == --gpu) ]] || die "unknown argument '$*'; the only one is --gpu"
driver=$(driver_cuda)
cuda=${driver:-${1:+13}}

archive=cifar-10-binary.tar.gz
url=https://www.cs.toronto.edu/~kriz/$archive
sha256=c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd
train=build/release/bin/train

holds_cifar() { [[ -f $1/cifar-10-batches-bin/test_batch.bin || -f $1/test_batch.bin ]]; }

# Downloads CIFAR-10 into data/; false if the network, the server or the checksum fails.
download_cifar() {
  local temporary
  temporary=$(mktemp)
  say "downloading $url (170 MB)"
  if ! curl --fail --silent --show-error --location --connect-timeout 10 --max-time 240 \
    --output "$temporary" "$url"; then
    rm -f "$temporary"
    return 1
  fi
  if ! sha256sum --check --status <<<"$sha256  $temporary"; then
    say "$archive: its SHA-256 is not $sha256; ignoring it"
    rm -f "$temporary"
    return 1
  fi
  tar --extract --gzip --no-same-owner --file "$temporary" --directory data cifar-10-batches-bin
  rm -f "$temporary"
}

parts=(packages ${cuda:+cuda} build data training)
declare -A about=(
  [cuda]="looking for CUDA, cuDNN and NCCL, else installing NVIDIA's wheels into build/"
  [packages]="installing missing compilers and libraries with apt-get"
  [build]="compiling the program; up-to-date files are not recompiled"
  [data]="looking for CIFAR-10, else downloading it, else using the shapes set instead"
  [training]="training a small network for a few epochs, which takes minutes"
)
times=()

# next_part COMMAND...: runs a part, printing its description before and its duration after.
next_part() {
  local number=$((${#times[@]} + 1)) begin=$SECONDS
  local name=${parts[number - 1]}
  say "$number of ${#parts[@]}, $name: ${about[$name]}"
  "$@"
  times+=("$name $(span $((SECONDS - begin)))")
  say "${times[-1]}${parts[number]:+; next: ${parts[number]}}"
}

# Prints the folder to train from.
find_data() {
  local folder
  for folder in "${TRAINYARD_DATA:-}" data; do
    if [[ -n $folder ]] && holds_cifar "$folder"; then
      say "CIFAR-10 found in $folder"
      echo "$folder"
      return
    fi
  done
  mkdir -p data
  if download_cifar; then
    echo data
    return
  fi
  say "CIFAR-10 is not available: training on the shapes set instead (data/shapes)"
  [[ -f data/shapes/test_batch.bin || -f data/shapes/cifar-10-batches-bin/test_batch.bin ]] ||
    "$train" data make shapes data/shapes >&2
  echo data/shapes
}

install_packages() { install_missing "${build_packages[@]}" "${run_packages[@]}" curl ca-certificates; }
choose_data() { data=$(find_data); }
train_network() {
  "$train" --config configs/quickstart.yaml --gpus "$gpus" \
    --set "data.train.root=$data" --set "data.val.root=$data"
}

say "from here to a trained network in ${#parts[@]} parts: ${parts[*]}"
[[ -n $cuda ]] || say "no NVIDIA driver: the CPU trains (--gpu builds the GPU part too)"
next_part install_packages
[[ -z $cuda ]] || next_part prepare_cuda "$cuda"
gpus=0
if [[ -n $driver && $has_gpu_part ]]; then gpus=1; fi
next_part build release train
next_part choose_data
before=$(ls runs/quickstart 2>/dev/null || true)
next_part train_network
run=runs/quickstart/$(comm -13 <(echo "$before") <(ls runs/quickstart) | tail -n 1)
all_times=$(printf '%s, ' "${times[@]}")
say "done in $(span "$SECONDS"): ${all_times%, }"
printf 'run folder: %s\nplot: %s\n' "$run" "$(find "$run/plots" -name '*.png' | sort | head -n 1)"
say "what next: $train --config configs/resnet_cifar10.yaml (README.md and docs/language.md describe what can be trained)"
