#!/usr/bin/env bash
# From a bare Debian 12 to a trained network: installs what is missing, builds, gets data, trains.
#
#   scripts/quickstart.sh
#
# Prints what it does, what comes next and how long each part took. Data: CIFAR-10 from $TRAINYARD_DATA or
# data/, else downloaded, else the drawn shapes set. Run it as root or with sudo installed. Runs are written
# to runs/quickstart/.

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

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

parts=(packages build data training)
declare -A about=(
  [packages]="installing missing compilers and libraries with apt-get"
  [build]="compiling the program; up-to-date files are not recompiled"
  [data]="looking for CIFAR-10, else downloading it, else using drawn shapes instead"
  [training]="training a small network for a few epochs, which takes minutes"
)
times=()

# part NUMBER COMMAND...: runs a part, printing its description before and its duration after.
part() {
  local name=${parts[$1 - 1]} begin=$SECONDS
  say "$1 of ${#parts[@]}, $name: ${about[$name]}"
  "${@:2}"
  times+=("$name $(span $((SECONDS - begin)))")
  say "${times[-1]}${parts[$1]:+; next: ${parts[$1]}}"
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
  say "CIFAR-10 is not available: training on the drawn shapes set instead (data/shapes)"
  [[ -f data/shapes/test_batch.bin || -f data/shapes/cifar-10-batches-bin/test_batch.bin ]] ||
    "$train" data make shapes data/shapes >&2
  echo data/shapes
}

install_packages() { install_missing "${build_packages[@]}" "${run_packages[@]}" curl ca-certificates; }
choose_data() { data=$(find_data); }
train_network() {
  "$train" --config configs/quickstart.yaml --gpus 0 \
    --set "data.train.root=$data" --set "data.val.root=$data"
}

say "from here to a trained network in ${#parts[@]} parts: ${parts[*]}"
part 1 install_packages
part 2 build release train
part 3 choose_data
before=$(ls runs/quickstart 2>/dev/null || true)
part 4 train_network
run=runs/quickstart/$(comm -13 <(echo "$before") <(ls runs/quickstart) | tail -n 1)
all_times=$(printf '%s, ' "${times[@]}")
say "done in $(span "$SECONDS"): ${all_times%, }"
printf 'run folder: %s\nplot: %s\n' "$run" "$(find "$run/plots" -name '*.png' | sort | head -n 1)"
say "what next: $train --config configs/resnet_cifar10.yaml (README.md and docs/language.md describe what can be trained)"
