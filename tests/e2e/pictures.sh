#!/usr/bin/env bash
# Picture folders, lists and packs, from files to training; val_fraction; train browse.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=cache  # in the folder of each case

# pictures: eight pictures of several sizes in two class folders, and a list of them.
pictures() {
  local name i
  mkdir -p pics/cat pics/dog
  for i in 1 2 3 4; do
    name=$([[ $i -le 2 ]] && echo chroma_420 || echo large)
    cp "$source_dir/tests/data/pictures/$name.jpg" "pics/cat/$i.jpg"
    cp "$source_dir/tests/data/pictures/grey.jpg" "pics/dog/$i.jpg"
    printf 'cat/%s.jpg,cat\ndog/%s.jpg,dog\n' "$i" "$i" >>pics/list.csv
  done
}

# write_pictures_run TRAIN VAL [AUGMENT]: run.yaml on 8x8 images of two classes.
write_pictures_run() {
  cat >run.yaml <<YAML
name: pictures
network:
  input: [3, 8, 8]
  layers: [conv: [4, 3], relu, global_avg_pool, dense: 2, softmax]
data:
  train: {$1}
  $2
  augment: [${3:-}]
batch: {per_gpu: 2}
loss: cross_entropy
metrics: [accuracy]
optimizer: {sgd: {lr: 0.01}}
epochs: 1
YAML
}

begin "pictures of several sizes train through 'resize', and without it are refused"
pictures
write_pictures_run "source: image_folder, root: pics" "val: {source: image_folder, root: pics}"
run "$train" --config run.yaml
expect_code 3
expect_err "the data's pictures have sizes of their own, and 'augment' gives them no common one"
write_pictures_run "source: image_folder, root: pics" "val: {source: image_folder, root: pics}" \
  "resize: [8, 8]"
run "$train" --config run.yaml
expect_code 0
expect_out "Epoch 1/1"
expect_file cache/trainyard/pictures/*.index

begin "statistics of pictures of several sizes are refused, of resized ones computed"
pictures
write_pictures_run "source: image_folder, root: pics" "val_fraction: 0.25" "resize: [8, 8]"
run "$train" --config run.yaml --set 'data.preprocess=[mean_rgb: train]'
expect_code 3
expect_err "'preprocess' needs statistics of the training pictures, which have sizes of their own"
write_pictures_run "source: image_folder, root: pics, size: 8, fit: cover" "val_fraction: 0.25"
run "$train" --config run.yaml --set 'data.preprocess=[mean_rgb: train]'
expect_code 0

begin "val_fraction divides the training samples, and 'val' replaces it"
write_tiny_run tiny.yaml
sed -i 's/^  val: .*/  val_fraction: 0.25/' tiny.yaml
run "$train" check tiny.yaml
expect_code 0
expect_out "data: 72 training and 24 validation samples"
run "$train" check tiny.yaml --set 'data.val={source: synthetic, shape: [3, 8, 8], classes: 4, size: 40}'
expect_code 0
expect_out "data: 96 training and 40 validation samples"
sed -i '/val_fraction/d' tiny.yaml
run "$train" check tiny.yaml
expect_code 3
expect_err "'data' requires either 'val' or 'val_fraction'"
run "$train" check tiny.yaml --set data.val_fraction=0.01
expect_code 3
expect_err "val_fraction: of 96 samples none remains for validation; use a larger fraction"

begin "a list is packed, and the pack trains, with the same bits on two ranks"
pictures
run "$train" data pack source=image_list file=pics/list.csv labels=name size=8 --block 2 list.pack
expect_code 0
expect_out "list.pack: 8 samples [3, 8, 8] of 2 classes, 0.0 MB"
write_pictures_run "source: pack, file: list.pack" "val: {source: pack, file: list.pack}"
run "$train" --config run.yaml --set epochs=2 --set 'batch={total: 4, shards: 2}' --out one
expect_code 0
run "$train" --config run.yaml --set epochs=2 --set 'batch={total: 4, shards: 2}' --out two \
  --gpus 0 --replicas 2
expect_code 0
expect_equal "$(untimed two/metrics.csv)" "$(untimed one/metrics.csv)"
run "$train" --config run.yaml --set data.resident=always
expect_code 3
expect_err "its source keeps no 8-bit images in memory"

begin "a pack is made whole or not at all"
pictures
run "$train" data pack pics out.pack
expect_code 4
expect_err "the pictures have several sizes, and a pack holds one; give 'size=224'"
run "$train" data pack pics size=8 fit=cover out.pack
expect_code 0
run "$train" data pack pics size=8 out.pack
expect_code 7
expect_err "'out.pack' exists; remove it or give another name"
head -c 300 pics/cat/3.jpg >pics/cat/4.jpg
run "$train" data pack pics size=8 other.pack
expect_code 4
expect_err "4.jpg' cannot be decoded"
expect_no_path other.pack
expect_no_path other.pack.partial
run "$train" data pack pics siz=8 other.pack
expect_code 3
expect_err "unknown key 'siz'"
run "$train" data pack pics more other.pack
expect_code 2
expect_err "'more' is not KEY=VALUE"

begin "browse draws the same sheet for the same run, and another one for another epoch"
write_tiny_run tiny.yaml
run "$train" browse tiny.yaml --samples 3 --draws 2 -o a.png
expect_code 0
expect_out "a.png: 416 x 476 pixels"
expect_out "the network gets values from"
run "$train" browse tiny.yaml --samples 3 --draws 2 -o b.png
expect_same_file a.png b.png
run "$train" browse tiny.yaml --samples 3 --draws 2 --epoch 2 -o c.png
expect_other_file a.png c.png
run "$train" browse tiny.yaml --val --samples 3 -o d.png
expect_code 0
expect_out "d.png: 280 x 476 pixels"
expect_equal "$(find . -maxdepth 1 -type f -printf '%f\n' | sort | tr '\n' ' ')" "a.png b.png c.png d.png tiny.yaml "

finish 6 0
