#!/usr/bin/env bash
# The recipe that train init writes for images of published sets, for which nothing in it was chosen.
data=${TRAINYARD_DATA:-}
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
make_images=$(realpath "${3:?path of make_images}")

# trained SET LEAST: 2,000 of its images as PNG files are learnt to a val_accuracy of LEAST.
trained() {
  "$make_images" "$1" 2000 "$data" images || fail "the images of $1 cannot be unpacked"
  run "$train" init images
  expect_code 0
  PATH=/nonexistent "$train" images.yaml --gpus 0 --out run >out.txt 2>&1
  local best
  best=$(sed -n 's/^done: .* best val_accuracy: \([0-9.]*\) .*/\1/p' out.txt)
  echo "$1: val_accuracy ${best:-none}"
  awk "BEGIN { exit !(${best:-0} >= $2) }" || fail "a val_accuracy of ${best:-none}, expected at least $2"
}

begin "2,000 images of CIFAR-10"
if [[ -f $data/cifar-10-batches-bin/test_batch.bin ]]; then
  trained cifar10 0.45
else
  skip "no CIFAR-10 in TRAINYARD_DATA"
fi

begin "2,000 grey images of Fashion-MNIST"
if [[ -f $data/fashion-mnist/t10k-labels-idx1-ubyte ]]; then
  trained fashion_mnist 0.80
  grep -q 'channels: 1' images.yaml || fail "images without colours have one channel"
else
  skip "no Fashion-MNIST in TRAINYARD_DATA"
fi

finish 2 2
