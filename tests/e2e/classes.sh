#!/usr/bin/env bash
# One numbering of classes: the training split's names number those of every other split.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=scripts/lib.sh
source <(sed -n '/^little_endian()/,/^}/p' "$source_dir/scripts/lib.sh")
export XDG_CACHE_HOME=cache # in the folder of each case

# bitmap FILE BLUE GREEN RED: a BMP file of 4x4 pixels of one colour.
bitmap() {
  local i
  {
    printf BM && little_endian 102 && little_endian 0 && little_endian 54
    little_endian 40 && little_endian 4 && little_endian 4 && printf '\x01\0\x18\0'
    head -c 24 /dev/zero
    for ((i = 0; i < 16; ++i)); do printf '%b' "\\x$2\\x$3\\x$4"; done
  } >"$1"
}

# colours FOLDER: red, green and blue images of three classes, 8 each, of different shades.
colours() {
  local i shade
  mkdir -p "$1"/{cat,dog,fox}
  for ((i = 0; i < 8; ++i)); do
    shade=$(printf '%02x' $((200 + 5 * i + ${2:-0})))
    bitmap "$1/cat/$i.bmp" 10 10 "$shade"
    bitmap "$1/dog/$i.bmp" 10 "$shade" 10
    bitmap "$1/fox/$i.bmp" "$shade" 10 10
  done
}

# A run that tells the colours apart in a second.
write_colours_run() {
  colours d/train
  colours d/val 2
  cat >colours.yaml <<'YAML'
name: colours
network: {input: [3, 4, 4], layers: [global_avg_pool, dense: 3, softmax]}
data:
  train: {source: image_folder, root: d/train}
  val: {source: image_folder, root: d/val}
  preprocess: [scale: $1/255]
batch: {per_gpu: 8}
loss: cross_entropy
metrics: [accuracy]
optimizer: {adam: {lr: 0.1}}
epochs: 15
YAML
}

best() { tail -n 1 runs/colours/0001/metrics.csv | cut -d , -f 7; }

begin "a class of the validation split that training does not have is named, with the nearest one"
write_colours_run
mv d/val/dog d/val/Dog
run "$train" check colours.yaml
expect_code 4
expect_err "the validation split has the class 'Dog', which the training split does not have; did you mean 'dog'?"
expect_err "classes are matched by their names"

begin "classes that validation lacks may be any, and are reported"
write_colours_run
rm -r d/val/cat
run "$train" colours.yaml
expect_code 0
expect_err "the validation split has no samples of class 'cat'"
expect_equal "$(best)" 1
run "$train" eval runs/colours/0001
expect_code 0
expect_out "accuracy: 1.0000"
run "$train" eval runs/colours/0001 --data d/val
expect_code 0
expect_out "accuracy: 1.0000"
mv d/val/fox d/val/wolf
run "$train" eval runs/colours/0001 --data d/val
expect_code 4
expect_err "'d/val' has the class 'wolf', which the run does not have"

begin "a run keeps its classes when its data change"
write_colours_run
run "$train" colours.yaml --set epochs=2
mv d/train/cat d/train/wolf
mv d/val/cat d/val/wolf
run "$train" resume runs/colours/0001 --set epochs=3 --changed-data
expect_code 4
expect_err "are 'cat', 'dog', 'fox', those of the training split are now 'dog', 'fox', 'wolf'; a run keeps its classes"

begin "an empty class folder is a class without samples in validation, and an error in training"
write_colours_run
rm d/val/dog/*
run "$train" colours.yaml
expect_code 0
expect_err "dog' holds no image (.jpg, .png, .webp, .gif, .bmp): a class without samples"
expect_equal "$(best)" 1
rm d/train/dog/*
run "$train" check colours.yaml
expect_code 4
expect_err "every class folder needs at least one"

begin "lists whose names have other orders are numbered alike, on two ranks too"
write_colours_run
for split in train val; do
  for file in "d/$split"/*/*.bmp; do echo "${file#d/"$split"/},$(basename "$(dirname "$file")")"; done >"d/$split/list.csv"
done
printf 'cat\ndog\nfox\n' >d/train/names.txt
printf 'fox\ndog\ncat\n' >d/val/names.txt
for split in train val; do
  lists+=(--set "data.$split={source: image_list, root: $PWD/d/$split, file: $PWD/d/$split/list.csv, labels: name, class_names: $PWD/d/$split/names.txt}")
done
run "$train" colours.yaml "${lists[@]}"
expect_code 0
expect_equal "$(best)" 1
cp runs/colours/0001/weights/last.safetensors one.safetensors
rm -r runs
run "$train" colours.yaml "${lists[@]}" --replicas 2 --set 'batch={total: 8, shards: 2}'
expect_code 0
expect_equal "$(best)" 1

begin "both splits of the same samples are a warning"
write_colours_run
run "$train" check colours.yaml --set data.val.root="$PWD/d/train"
expect_code 0
expect_err "both splits contain the same samples"
run "$train" check colours.yaml
expect_no_err "both splits"

begin "a loss of numbers without a target is a warning"
write_colours_run
run "$train" check colours.yaml --set loss=mse
expect_code 0
expect_err "'mse' has no 'target': outputs are compared with the labels of classes"
sed -i 's/dense: [0-9]*/dense: 1/' colours.yaml
run "$train" check colours.yaml --set loss=mse
expect_code 3
expect_err_match "the network ends in 1 output, but the data have [34] classes; change the last layer's units"

finish 7 0
