#!/usr/bin/env bash
# Missing or damaged data: exit code 4, the file named, and nothing written.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# records COUNT LABEL: CIFAR-10 records with black images.
records() {
  local i
  for i in $(seq "$1"); do
    printf '%b' "\\x$(printf '%02x' "$2")"
    head -c 3072 /dev/zero
  done
}

make_cifar() {
  mkdir -p "$1"
  local i
  for i in 1 2 3 4 5; do records 4 "$i" >"$1/data_batch_$i.bin"; done
  records 4 7 >"$1/test_batch.bin"
  printf '%s\n' airplane automobile bird cat deer dog frog horse ship truck >"$1/batches.meta.txt"
}

# write_run SOURCE-KEYS: run.yaml on 32x32 images.
write_run() {
  cat >run.yaml <<YAML
name: data
network:
  input: [3, 32, 32]
  layers: [conv: [4, 3], relu, global_avg_pool, dense: 10, softmax]
data:
  train: {$1}
  val: {$1}
batch: {per_gpu: 4}
loss: cross_entropy
metrics: [accuracy]
optimizer: {sgd: {lr: 0.01}}
epochs: 1
YAML
}

# refused TEXT...: training ends with exit 4, prints each TEXT, and leaves no run folder.
refused() {
  run "$train" --config run.yaml
  expect_code 4
  local text
  for text in "$@"; do expect_err "$text"; done
  expect_no_path runs
}

begin "a small folder in CIFAR's layout trains"
make_cifar cifar
write_run "source: cifar10, root: cifar"
run "$train" --config run.yaml
expect_code 0
expect_out "Epoch 1/1"

begin "a truncated CIFAR file is named with its size and what was expected"
make_cifar cifar
truncate -s 12000 cifar/data_batch_3.bin
write_run "source: cifar10, root: cifar"
refused "data_batch_3.bin" "12000" "3073"

begin "a wrong label is named with its record"
make_cifar cifar
printf '\x0a' | dd of=cifar/data_batch_2.bin bs=1 seek=$((2 * 3073)) conv=notrunc status=none
write_run "source: cifar10, root: cifar"
refused "data_batch_2.bin" "10"

begin "an empty folder and a missing one say how to get the data"
mkdir empty
write_run "source: cifar10, root: empty"
refused "CIFAR-10" "train data get cifar10 --to '$PWD/empty'"
write_run "source: cifar10, root: nowhere"
refused "nowhere"

begin "a source without root is read from TRAINYARD_DATA, and the run records where"
make_cifar sets/cifar-10-batches-bin
write_run "source: cifar10"
run env TRAINYARD_DATA="$PWD/sets" "$train" --config run.yaml --out a
expect_code 0
expect_equal "$(grep -c "root: .*$PWD/sets" a/config.yaml)" 2
run "$train" resume a --set epochs=2 # the run has recorded the folder and does not need the variable
expect_code 0
run "$train" --config run.yaml --out b
expect_code 4
expect_err "in '$PWD/data/cifar-10-batches-bin', '$PWD/data'"
expect_err "in \$TRAINYARD_DATA, or in data/"
expect_no_path b
run env TRAINYARD_DATA=elsewhere "$train" --config run.yaml --out b
expect_code 4
expect_err "'$PWD/elsewhere'"
make_cifar named
write_run "source: cifar10, root: named"
run env TRAINYARD_DATA=elsewhere "$train" --config run.yaml --out c
expect_code 0

begin "an empty file is refused"
make_cifar cifar
: >cifar/data_batch_1.bin
write_run "source: cifar10, root: cifar"
refused "data_batch_1.bin"

begin "a PNG of 121 bytes that claims 2 GiB is refused by its header"
mkdir -p images/a images/b
{
  printf '\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR'
  printf '\x00\x00\x68\x83\x00\x00\x68\x83\x08\x02\x00\x00\x00\x00\x00\x00\x00' # 26755 x 26755, RGB
  printf '\x00\x00\x00\x40IDAT'
  head -c 68 /dev/zero
  printf '\x00\x00\x00\x00IEND\xae\x42\x60\x82'
} >images/a/bomb.png
cp images/a/bomb.png images/b/bomb.png
expect_equal "$(wc -c <images/a/bomb.png)" 121
write_run "source: image_folder, root: images"
refused "bomb.png" "16384"

begin "a file that is not an image is refused by name"
mkdir -p images/a images/b
head -c 200 /dev/zero >images/a/zero.png
head -c 200 /dev/zero >images/b/zero.png
write_run "source: image_folder, root: images"
refused "zero.png"

begin "an image folder without classes is refused"
mkdir images
write_run "source: image_folder, root: images"
refused "images"

begin "IDX files with a wrong magic number or a size beyond the file are refused"
printf '\x00\x00\x08\x04\x00\x00\x00\x01' >images
printf '\x00\x00\x08\x01\x00\x00\x00\x01\x00' >labels
write_run "source: idx, images: images, labels: labels"
refused "images"
printf '\x00\x00\x08\x03\x7f\xff\xff\xff\x7f\xff\xff\xff\x00\x00\x00\x1c' >images
refused "images"

begin "a damaged .gz is refused by name"
printf '\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03garbage' >images.gz
printf '\x00\x00\x08\x01\x00\x00\x00\x01\x00' >labels
write_run "source: idx, images: images.gz, labels: labels"
refused "images.gz"

begin "a safetensors file with a hostile header is refused"
printf '\xff\xff\xff\xff\xff\xff\xff\x7f{"a":1}' >x.safetensors
write_run "source: tensors, file: x.safetensors"
refused "x.safetensors"

begin "data of a size other than the network's input is refused with both sizes"
make_cifar cifar
write_run "source: cifar10, root: cifar"
sed -i 's/input: \[3, 32, 32\]/input: [3, 28, 28]/' run.yaml
run "$train" --config run.yaml
expect_code 3
expect_err "28, 28"
expect_err "32, 32"
expect_no_path runs

begin "a split smaller than a batch is refused"
make_cifar cifar
write_run "source: cifar10, root: cifar, limit: 3"
run "$train" --config run.yaml
expect_differs "$code" 0
expect_err "3"
expect_no_path runs

begin "the generated shapes are the same each time and can be trained on"
run "$train" data make shapes one --train 40 --test 8
expect_code 0
run "$train" data make shapes two --train 40 --test 8
expect_code 0
for file in data_batch_1.bin test_batch.bin batches.meta.txt; do
  expect_file "one/$file"
  expect_same_file "one/$file" "two/$file"
done
write_run "source: cifar10, root: one"
run "$train" --config run.yaml
expect_code 0

begin "device-resident data trains to the same bytes, or the run says why it cannot stay"
run "$train" data make shapes shapes --train 200 --test 40
write_run "source: cifar10, root: shapes"
augment='data.augment=[shift: {x: 0.1, y: 0.1, interpolation: bilinear}, hflip, pad_crop: 2]'
for resident in never always; do
  run "$train" --config run.yaml --out $resident --set data.resident=$resident \
    --set "$augment" --set 'data.preprocess=[scale: 0.01, mean_image: train]' --set epochs=2 \
    --set 'train_eval={every: 1 epoch, samples: 150}'
  expect_code 0
  untimed $resident/metrics.csv >$resident.csv
done
run "$train" check --config run.yaml --set data.resident=always
expect_out "classes, resident"
run "$train" check --config run.yaml
expect_out "batches prepared by the CPU"
expect_file never.csv
expect_equal "$(head -n 1 never.csv | grep -c clean_accuracy)" 1
expect_same_file never.csv always.csv
expect_same_file never/weights/last.safetensors always/weights/last.safetensors
run "$train" --config run.yaml --out twice --set data.resident=always --set \
  'data.augment=[shift: {x: 0.1, interpolation: bilinear}, vflip, shift: {y: 0.1, interpolation: bilinear}]'
expect_code 3
expect_err "'data.resident: always', but the training split cannot stay on the device: more than one \
augmentation interpolates; set 'data.resident: auto'"
expect_no_path twice

finish 16 0
