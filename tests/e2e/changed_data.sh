#!/usr/bin/env bash
# A run knows its data: other data are told by resume, eval, --skip-done and sweep, and recorded.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=cache  # in the folder of each case

# data_and_run [KEYS]: twelve images in pics/train and pics/val, and run.yaml on them.
data_and_run() {
  local split i
  for split in train val; do
    mkdir -p "pics/$split/cat" "pics/$split/dog"
    for i in 1 2 3; do
      cp "$source_dir/tests/data/images/large.jpg" "pics/$split/cat/$i.jpg"
      cp "$source_dir/tests/data/images/grey.jpg" "pics/$split/dog/$i.jpg"
    done
  done
  cat >run.yaml <<YAML
name: images
network:
  input: [3, 8, 8]
  layers: [conv: [4, 3], relu, global_avg_pool, dense: 2, softmax]
data:
  train: {source: image_folder, root: pics/train, size: 8${1:-}}
  val: {source: image_folder, root: pics/val, size: 8${1:-}}
batch: {per_gpu: 2}
loss: cross_entropy
metrics: [accuracy]
optimizer: {sgd: {lr: 0.01}}
epochs: 1
YAML
}

# change_bytes FILE: other pixels, the same length.
change_bytes() {
  local last
  last=$(($(stat -c %s "$1") - 400))
  printf '\x55\xaa\x55' | dd of="$1" bs=1 seek="$last" conv=notrunc status=none
}

begin "files added, removed and relabelled end a resume with an error, and --changed-data records them"
data_and_run
run "${quick[@]}" run.yaml --out a
expect_code 0
cp a/run.json before.json
cp a/checkpoints/last last
cp pics/train/cat/1.jpg pics/train/cat/new.jpg
rm pics/train/dog/1.jpg
mv pics/train/dog/2.jpg pics/train/cat/9.jpg
run "${quick[@]}" resume a --set epochs=2
expect_code 4
expect_err "train: error: the data are not those of the run a:
  training split: 2 files added, the first 'cat/9.jpg'; 2 files removed, the first 'dog/1.jpg'
put them back as they were, or continue on them as they are now with --changed-data"
expect_no_err "validation split"
expect_same_file a/run.json before.json
expect_same_file a/checkpoints/last last
run "${quick[@]}" resume a --set epochs=2 --changed-data
expect_code 0
expect_err "train: warning: the data are not those of the run a:"
for text in '"data_changes": \[' '"command": "train resume a --set epochs=2 --changed-data"' \
  "training split: 2 files added, the first 'cat/9.jpg'" '"epoch": 2' '"step": 4'; do
  grep -q -- "$text" a/run.json || fail "expected in run.json: $text"
done
run "${quick[@]}" resume a --set epochs=3
expect_code 0
expect_no_err "the data"

begin "another class is named, although the network does not fit it either"
data_and_run
run "${quick[@]}" run.yaml --out a
mkdir pics/train/eel
cp pics/train/cat/1.jpg pics/train/eel/1.jpg
run "${quick[@]}" resume a --set epochs=2
expect_code 4
expect_err "training split: 6 -> 7 samples; 2 -> 3 classes; class added: eel; 1 file added, 'eel/1.jpg'"

begin "eval compares the run's own split, and no data that --data and --set name"
data_and_run
run "${quick[@]}" run.yaml --out a
cp pics/val/cat/1.jpg pics/val/cat/new.jpg
cp -r pics other
run "${quick[@]}" eval a
expect_code 4
expect_err "train: error: the data are not those of the run a:
  validation split: 6 -> 7 samples; 1 file added, 'cat/new.jpg'
put them back as they were, or evaluate on them as they are now with --changed-data"
run "${quick[@]}" eval a --changed-data
expect_code 0
expect_out "7 samples"
expect_err "train: warning: the data are not those of the run a:"
expect_equal "$(grep -c '"validation split: 6 -> 7 samples; 1 file added' a/eval/eval.json)" 1
run "${quick[@]}" eval a --data train
expect_code 0
expect_no_err "the data are not"
run "${quick[@]}" eval a --data pics/val
expect_code 0
run "${quick[@]}" eval a --set data.val.root=other/val
expect_code 0
expect_out "7 samples"

begin "a set divided by val_fraction that grows is another one"
data_and_run
sed -i '/^  val:/d; s/^  train: .*/&\n  val_fraction: 0.5/' run.yaml
run "${quick[@]}" run.yaml --out a
expect_code 0
for i in 5 6 7 8 9; do cp pics/train/cat/1.jpg "pics/train/cat/$i.jpg"; done
run "${quick[@]}" resume a --set epochs=2
expect_code 4
expect_err_match "training split: 2 -> [4-8] samples; "

begin "one file more moves at most one other across val_fraction; the folder names the samples"
data_and_run
mkdir -p all/cat all/dog
for i in $(seq 10 29); do
  cp pics/train/cat/1.jpg "all/cat/$i.jpg"
  cp pics/train/dog/1.jpg "all/dog/$i.jpg"
done
sed -i '/^  val:/d; s|^  train: .*|  train: {source: image_folder, root: all, size: 8}\n  val_fraction: 0.25|' run.yaml
echo "output: {classes: true}" >>run.yaml
run "${quick[@]}" run.yaml --out a
expect_code 0
expect_equal "$(head -n 1 a/val_samples.csv)" name,label
expect_equal "$(grep -c '^cat/.*,cat$' a/val_samples.csv)" 5
expect_equal "$(grep -c '^dog/.*,dog$' a/val_samples.csv)" 5
expect_equal "$(grep -c '"val_fraction_rule": "seed and name"' a/run.json)" 1
expect_equal "$(head -n 1 a/eval/mistakes.csv)" sample,label,predicted,probability,file
expect_equal "$(sed 1d a/eval/mistakes.csv | cut -d , -f 5 | grep -vcFf <(cut -d , -f 1 a/val_samples.csv))" 0
for name in 0 19a 99; do
  cp pics/train/cat/1.jpg "all/cat/$name.jpg"
  run "${quick[@]}" run.yaml --out "b$name"
  expect_code 0
  moved=$(diff <(grep -v "^cat/$name" a/val_samples.csv) <(grep -v "^cat/$name" "b$name/val_samples.csv") | grep -c '^[<>]')
  [[ $moved -le 1 ]] || fail "a file more moved $moved others"
  rm "all/cat/$name.jpg"
done
run "${quick[@]}" resume a --set epochs=2
expect_code 0

begin "a run from before the rule was named keeps the old one"
data_and_run
sed -i '/^  val:/d; s/^  train: .*/&\n  val_fraction: 0.5/' run.yaml
run "${quick[@]}" run.yaml --out a
# What the version before divided these images into, of which run.json had no rule.
sed -i '/val_fraction_rule/d; s/"train_fingerprint": "[^"]*"/"train_fingerprint": "d455aa621a7ff77d54b1e2edb4f3077f"/; s/"val_fingerprint": "[^"]*"/"val_fingerprint": "4a38c93fbd53d53d2abefc4e1464f6bf"/; s/"train_samples": [0-9]*/"train_samples": 3/; s/"val_samples": [0-9]*/"val_samples": 3/' a/run.json
rm a/data_files.csv
run "${quick[@]}" eval a
expect_code 0
run "${quick[@]}" resume a --set epochs=2
expect_code 0
expect_no_err "the data are not"
sed -i 's/^{/{\n  "val_fraction_rule": "of tomorrow",/' a/run.json
run "${quick[@]}" resume a --set epochs=3
expect_err "'val_fraction_rule' is \"of tomorrow\", expected \"seed and name\"; continue the run with the version of train that began it"

begin "other contents are noticed: those of files whose time has changed, with --check-data all"
for memory in 1024 0; do # decoded when the data are opened, or when a sample is read
  rm -rf pics a
  data_and_run ", memory_mib: $memory"
  run "${quick[@]}" run.yaml --out a
  expect_code 0
  expect_equal "$(head -n 1 a/data_files.csv)" "split,name,label,bytes,changed,hash"
  line=$(grep '^val,cat/1.jpg' a/data_files.csv)
  size=$(stat -c %s pics/val/cat/1.jpg)
  expect_equal "${line%,*}" "val,cat/1.jpg,0,$size,$(date -r pics/val/cat/1.jpg +%s%N)"
  expect_equal "$(grep -cE '^(train|val),(cat|dog)/[123].jpg,[01],[0-9]+,[0-9]+,[0-9a-f]{32}$' a/data_files.csv)" 12
  touch pics/val/cat/2.jpg
  run "${quick[@]}" eval a
  expect_code 0
  touch -r pics/val/cat/1.jpg time
  change_bytes pics/val/cat/1.jpg
  run "${quick[@]}" eval a
  expect_code 4
  expect_err "validation split: 1 file with other contents, 'cat/1.jpg'"
  run "${quick[@]}" resume a --set epochs=2
  expect_code 4
  expect_err "validation split: 1 file with other contents, 'cat/1.jpg'"
  touch -r time pics/val/cat/1.jpg
done
run "${quick[@]}" eval a
expect_code 0
run "${quick[@]}" eval a --check-data
expect_code 4
expect_err "validation split: 1 file with other contents, 'cat/1.jpg'"
run "${quick[@]}" resume a --set epochs=2 --check-data
expect_code 4
run "${quick[@]}" resume a --set epochs=2 --changed-data --check-data
expect_code 0
run "${quick[@]}" resume a --set epochs=3 --check-data
expect_code 0

begin "the files that other ranks decode have their hashes too"
data_and_run ", memory_mib: 0"
run "${quick[@]}" run.yaml --out a --set batch.per_gpu=1 --gpus 0 --replicas 2
expect_code 0
expect_equal "$(grep -cE ',[0-9a-f]{32}$' a/data_files.csv)" 12
change_bytes pics/val/dog/3.jpg
run "${quick[@]}" eval a
expect_code 4
expect_err "validation split: 1 file with other contents, 'dog/3.jpg'"

begin "hashes survive a resume that decodes nothing of the files yet, and a damaged list is told"
data_and_run ", memory_mib: 0"
run "${quick[@]}" run.yaml --out a
cp a/data_files.csv whole
run "${quick[@]}" resume a --set epochs=2
expect_same_file a/data_files.csv whole
echo "train,x" >>a/data_files.csv
run "${quick[@]}" eval a
expect_code 9
expect_err "a/data_files.csv: does not list the files of the run's data: a line has not six cells"
rm a/data_files.csv
cp pics/val/cat/1.jpg pics/val/cat/new.jpg
run "${quick[@]}" eval a
expect_code 4
expect_err "validation split: 6 -> 7 samples"

begin "--skip-done skips a run of this config, global batch and data only, with any number of threads"
data_and_run
run "${quick[@]}" run.yaml --threads 1
run "${quick[@]}" run.yaml --threads 2 --skip-done
expect_code 0
expect_out "skipped: runs/images/0001 is done"
run "${quick[@]}" run.yaml --skip-done --gpus 0 --replicas 2
expect_code 0
expect_no_out "skipped"
run "${quick[@]}" run.yaml --skip-done --gpus 0 --replicas 2
expect_out "skipped: runs/images/0002 is done"
cp pics/train/cat/1.jpg pics/train/cat/new.jpg
run "${quick[@]}" run.yaml --skip-done
expect_code 4
expect_err "train: error: the data are not those of the run runs/images/0001, which has completed with this config:
  training split: 6 -> 7 samples; 1 file added, 'cat/new.jpg'
put them back as they were, or start a new run on them as they are now with --changed-data"
run "${quick[@]}" run.yaml --skip-done --changed-data
expect_code 0
run "${quick[@]}" run.yaml --skip-done
expect_out "skipped: runs/images/0003 is done"

begin "sweep refuses runs of other data"
data_and_run
run "${quick[@]}" sweep run.yaml --grid optimizer.sgd.lr=0.1,0.2
expect_code 0
run "${quick[@]}" sweep run.yaml --grid optimizer.sgd.lr=0.1,0.2
expect_code 0
rm pics/train/cat/1.jpg
run "${quick[@]}" sweep run.yaml --grid optimizer.sgd.lr=0.1,0.2
expect_code 4
expect_err "the data are not those of the run sweeps/images/runs/lr=0.1:
  training split: 6 -> 5 samples; 1 file removed, 'cat/1.jpg'
put them back as they were, or give --out another folder"
run "${quick[@]}" sweep run.yaml --grid optimizer.sgd.lr=0.1,0.2 --changed-data
expect_code 0
expect_out "2 runs: 2 completed"

begin "sets without files are compared by their fingerprints"
write_tiny_run tiny.yaml
run "${quick[@]}" tiny.yaml --out a
expect_no_path a/data_files.csv
run "${quick[@]}" resume a --set epochs=4 --set data.val.size=44
expect_code 4
expect_err "validation split: 40 -> 44 samples"
run "${quick[@]}" resume a --set epochs=4 --set data.train.learnable=false
expect_code 4
expect_err "training split: other contents: fingerprint "
run "${quick[@]}" resume a --set epochs=4
expect_code 0

begin "compare and diff show what else determines a result, and hide the threads"
write_tiny_run tiny.yaml
run "${quick[@]}" tiny.yaml --out runs/a
run "${quick[@]}" tiny.yaml --out runs/b --set threads=2
run "${quick[@]}" tiny.yaml --out runs/c --init runs/a
run "${quick[@]}" tiny.yaml --out runs/d --gpus 0 --replicas 2
run "$train" diff runs/a runs/b
expect_equal "$out" "the configs are the same"
run "$train" diff runs/a runs/c
expect_out_match "^run.init: \(not set\) -> [0-9a-f]{32}$"
run "$train" diff runs/a runs/d
expect_equal "$out" "run.ranks: 1 -> 2"$'\n'"run.global_batch: 16 -> 32"
run "$train" compare runs --json
expect_out '"keys":["run.init","run.ranks","run.global_batch"]'
run "$train" compare runs --keys threads,run.global_batch
expect_out_match "time +threads +run.global_batch"
sed -i 's/"train_fingerprint": "./"train_fingerprint": "x/; s/"version": "/"version": "un/; s/"libraries": "/"libraries": "un/' runs/b/run.json
run "$train" diff runs/a runs/b
expect_out_match "run.train_data: [0-9a-f]{32} -> x[0-9a-f]{31}"$'\n'"run.kernels: cpu, (.*) -> cpu, un.*"$'\n'"run.version: (.*) -> un"
run "${quick[@]}" resume runs/a --set epochs=4 --gpus 0 --replicas 2
expect_code 0
run "$train" compare runs/a runs/b --keys run.ranks,run.global_batch
expect_out_match "runs/a .* 1, 2 +16, 32"

finish 13 0
