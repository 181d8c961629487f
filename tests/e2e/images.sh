#!/usr/bin/env bash
# Image folders, lists and packs, from files to training; val_fraction; train browse.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/lib_ranks.sh
source "$(dirname "$0")/lib_ranks.sh"
export XDG_CACHE_HOME=cache  # in the folder of each case

# images: eight images of several sizes in two class folders, and a list of them.
images() {
  local name i
  mkdir -p pics/cat pics/dog
  for i in 1 2 3 4; do
    name=$([[ $i -le 2 ]] && echo chroma_420 || echo large)
    cp "$source_dir/tests/data/images/$name.jpg" "pics/cat/$i.jpg"
    cp "$source_dir/tests/data/images/grey.jpg" "pics/dog/$i.jpg"
    printf 'cat/%s.jpg,cat\ndog/%s.jpg,dog\n' "$i" "$i" >>pics/list.csv
  done
}

# write_images_run TRAIN VAL [AUGMENT]: run.yaml on 8x8 images of two classes.
write_images_run() {
  cat >run.yaml <<YAML
name: images
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

begin "images of several sizes train through 'resize', and without it are refused"
images
write_images_run "source: image_folder, root: pics" "val: {source: image_folder, root: pics}"
run "$train" --config run.yaml
expect_code 3
expect_err "the data's images differ in size, and 'augment' does not make them equal"
write_images_run "source: image_folder, root: pics" "val: {source: image_folder, root: pics}" \
  "resize: [8, 8]"
run "$train" --config run.yaml
expect_code 0
expect_out "Epoch 1/1"
expect_file cache/trainyard/pictures/*.index

begin "statistics of images of several sizes are refused, of resized ones computed"
images
write_images_run "source: image_folder, root: pics" "val_fraction: 0.25" "resize: [8, 8]"
run "$train" --config run.yaml --set 'data.preprocess=[mean_rgb: train]'
expect_code 3
expect_err "'preprocess' needs statistics of the training images, which differ in size"
write_images_run "source: image_folder, root: pics, size: 8, fit: cover" "val_fraction: 0.25"
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
images
run "$train" data pack source=image_list file=pics/list.csv labels=name size=8 --block 2 list.pack
expect_code 0
expect_out "list.pack: 8 samples [3, 8, 8] of 2 classes, 0.0 MB"
write_images_run "source: pack, file: list.pack" "val: {source: pack, file: list.pack}"
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
images
run "$train" data pack pics out.pack
expect_code 4
expect_err "the images have several sizes, and a pack holds one; give 'size=224'"
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

begin "mixed images have the same bytes on any ranks, after a kill and made by the device; evaluation mixes none"
cat >run.yaml <<'YAML'
name: mixed
network: {input: [3, 8, 8], layers: [conv: [4, 3], bn, relu, global_avg_pool, dense: 3, softmax]}
data:
  train: {source: synthetic, shape: [3, 8, 8], classes: 3, size: 120, learnable: true}
  val: {source: synthetic, shape: [3, 8, 8], classes: 3, size: 30, split: test, learnable: true}
  preprocess: [mean_rgb: train, std_rgb: train]
  augment: [hflip]
  mix: {mixup: 0.8, cutmix: 1}
batch: {total: 16}
loss: {cross_entropy: {label_smoothing: 0.1}}
metrics: [accuracy]
class_weights: {0: 2}
optimizer: {sgd: {lr: 0.05}}
epochs: 3
YAML
expect_same_bytes --set epochs=40
run "${quick[@]}" run.yaml --out mixed
expect_code 0
run "${quick[@]}" run.yaml --out plain --set data.mix=off
expect_code 0
expect_differs "$(untimed plain/metrics.csv)" "$(untimed mixed/metrics.csv)"
run "$train" eval mixed
expect_code 0
loss=$(sed -n 's/.*"loss": *\([0-9.]*\).*/\1/p' mixed/eval/eval.json)
cut -d, -f6 mixed/metrics.csv | grep -qx -- "$loss" || fail "eval's loss '$loss' is no val_loss of the run"
run "$train" browse run.yaml --samples 4 --draws 3
expect_code 0
before=$(sha256sum browse.png)
run "$train" browse run.yaml --samples 4 --draws 3 --set data.mix=off
expect_code 0
expect_differs "$(sha256sum browse.png)" "$before"
run "$train" run.yaml --out odd --set batch.total=15
expect_code 3
expect_err "'mix' mixes pairs of samples, but each rank or shard has a batch of 15; make it even"
images
write_images_run "source: image_folder, root: pics, size: 8" "val: {source: image_folder, root: pics, size: 8}" hflip
for resident in never always; do
  run "${quick[@]}" run.yaml --out "$resident" --set "data.resident=$resident" --set 'data.mix={mixup: 0.8, cutmix: 1}' \
    --set epochs=4 --set train_eval="2 epochs"
  expect_code 0
done
expect_same_run always never

begin "all broken files are told at once, by check those whose pixels are, too; skip leaves them out for good"
images
write_images_run "source: image_folder, root: pics" "val_fraction: 0.25" "resize: [8, 8]"
: >pics/cat/0.jpg
echo text >pics/dog/9.png
head -c 3000 pics/cat/3.jpg >pics/cat/5.webp
head -c 3000 pics/cat/3.jpg >pics/dog/5.jpg
run "$train" --config run.yaml
expect_code 4
expect_err "2 files cannot be used:"
expect_err "pics/cat/0.jpg' is empty"
expect_err "pics/dog/9.png' is not a JPEG, PNG, WebP, GIF or BMP file"
expect_no_path runs/images/0001/metrics.csv
run "$train" check run.yaml
expect_code 4
expect_err "4 files cannot be used:"
expect_err "pics/cat/5.webp' cannot be decoded"
expect_err "mend or remove them, or leave them out with 'on_error: skip' of the source"
run "$train" check run.yaml --set data.train.on_error=skip
expect_code 0
expect_err "4 of 12 files of '$PWD/pics' are left out ('on_error: skip'):"
expect_equal "$(grep -c 'left out' <<<"$err")" 1
run "$train" --config run.yaml --set data.train.on_error=skip --out a
expect_code 0
expect_err "4 of 12 files of '$PWD/pics' are left out"
expect_equal "$(grep -c "4 of 12 files of" a/summary.txt)" 1
expect_equal "$(grep -c "4 of 12 files of" a/train.log)" 1
expect_equal "$(grep -c "\"files_left_out\": 4" a/run.json)" 1
expect_equal "$(grep -c ^train a/data_files.csv) $(grep -c ^val a/data_files.csv)" "6 2"
rm -r cache
run "$train" resume a --set epochs=2
expect_code 0
run "$train" --config run.yaml --set data.train.on_error=skip --out b --replicas 2 --gpus 0
expect_code 0
expect_equal "$(cut -d, -f1-5 b/data_files.csv)" "$(cut -d, -f1-5 a/data_files.csv)"
cp pics/dog/1.jpg pics/dog/5.jpg
run "$train" resume a --set epochs=3
expect_code 4
expect_err "6 -> 7 samples; 1 file added, 'dog/5.jpg'"

begin "images and class folders behind links train as copies do; predict, eval and init follow links"
images
mkdir links store
mv pics/cat store/cat
ln -s "$PWD/store/cat" pics/cat
ln -s ../store/cat/4.jpg links/one.jpg
ln -s ../pics links/all
write_images_run "source: image_folder, root: pics, size: 8" "val_fraction: 0.25"
run "$train" --config run.yaml --out a
expect_code 0
rm pics/cat
cp -r store/cat pics/cat
run "$train" --config run.yaml --out b
expect_same_file a/weights/last.safetensors b/weights/last.safetensors
expect_equal "$(cut -d, -f1-4,6 a/data_files.csv)" "$(cut -d, -f1-4,6 b/data_files.csv)"
run "$train" predict a links
expect_code 0
expect_equal "$(wc -l <<<"$out")" 9
rm -r pics/cat
ln -s ../store/cat pics/cat
run "$train" eval a --data pics
expect_code 0
run "$train" init pics --out started
expect_code 0
ln -s . store/cat/loop
run "$train" check run.yaml
expect_code 4
expect_err "pics/cat/loop' is a symbolic link to"
rm store/cat/loop
run "$train" check run.yaml --set data.train.links=refuse
expect_code 4
expect_err "pics/cat' is a symbolic link, which 'links: refuse' forbids"
ln -s /nowhere/x.jpg pics/cat/gone.jpg
run "$train" predict a pics
expect_code 4
expect_err "pics/cat/gone.jpg' is a symbolic link to '/nowhere/x.jpg', which does not exist"
expect_equal "$(wc -l <<<"$out")" 8

begin "predict goes on past files that cannot be read, names them and ends with 4"
images
write_images_run "source: image_folder, root: pics, size: 8" "val_fraction: 0.25"
run "$train" --config run.yaml --out a
expect_code 0
run "$train" predict a pics
expect_code 0
whole=$out
: >pics/cat/0.jpg
head -c 3000 pics/cat/3.jpg >pics/dog/0.jpg
: >pics/dog/more.tif
for ranks in 1 2; do
  run "$train" predict a pics --batch 2 --replicas "$ranks" --gpus 0
  expect_code 4
  expect_equal "$out" "$whole"
  expect_err "train: error: 'pics/cat/0.jpg' is empty"
  expect_err "train: error: 'pics/dog/0.jpg' cannot be decoded"
  expect_err "train: error: 'pics/dog/more.tif' is an image of another format"
  expect_err "train: error: 3 of 11 inputs could not be predicted, for the reasons above"
done
printf 'pics/cat/1.jpg\npics/none.jpg\n' >list.txt
run "$train" predict a list.txt --json
expect_code 4
expect_equal "$(wc -l <<<"$out")" 1
expect_err "pics/none.jpg' cannot be read: No such file or directory"
run "$train" predict a pics/cat/0.jpg
expect_code 4
expect_equal "$out" ""

begin "webp, gif and bmp files with small palettes train, and are predicted"
mkdir -p pics/webp pics/gif
cp "$source_dir"/tests/data/images/webp_*.webp pics/webp
cp "$source_dir"/tests/data/images/gif_*.gif pics/gif
cp "$source_dir"/tests/fuzz/corpus/image/accepted/palette_*.bmp pics/gif
write_images_run "source: image_folder, root: pics, size: 8" "val_fraction: 0.25"
run "$train" --config run.yaml --out a
expect_code 0
run "$train" predict a pics/webp/webp_animated.webp pics/gif
expect_code 0
expect_equal "$(wc -l <<<"$out")" 9

finish 11 0
