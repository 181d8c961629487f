#!/usr/bin/env bash
# train init: what it writes passes train check and trains. train data get: what needs no server.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=scripts/lib.sh
write_pictures() { (source "$source_dir/scripts/lib.sh" && cd - >/dev/null && write_pictures "$@"); }

# checked_and_trained NAME FLAGS...: the files of a starter train for an epoch.
checked_and_trained() {
  local name=$1
  shift
  run "$train" check "$name.yaml" --gpus 0
  expect_code 0
  expect_out "no problems found"
  run env PATH=/nonexistent "$train" "$name.yaml" --gpus 0 --epochs 1 --out run "$@"
  expect_code 0
  expect_out "Epoch 1/1"
}

begin "a folder of pictures gets a config and a network that train, and nothing is overwritten"
write_pictures "$PWD/flowers" 16
run "$train" init flowers/
expect_code 0
expect_out "wrote ./flowers.yaml and ./flowers_network.yaml"
checked_and_trained flowers
cp flowers.yaml before.yaml
run "$train" init flowers
expect_code 2
expect_err "'./flowers.yaml' exists; move it away, or give --out another folder"
expect_same_file flowers.yaml before.yaml
rm flowers.yaml
run "$train" init flowers
expect_code 2
expect_err "'./flowers_network.yaml' exists"
expect_no_path flowers.yaml

begin "a folder whose name YAML reads as a number, a truth value or nothing gets a config that is accepted"
for name in 2024 010 1e3 true null; do
  write_pictures "$PWD/$name" 16
  run "$train" init "$name"
  expect_code 0
  run "$train" check "$name.yaml"
  expect_code 0
done

begin "a folder with train and val gets both"
write_pictures "$PWD/pets/train" 8
write_pictures "$PWD/pets/val" 8
run "$train" init pets --out new
expect_code 0
run "$train" check new/pets.yaml --gpus 0
expect_code 0
expect_out "data: 64 training and 64 validation samples"

begin "a text gets a config and a network that train"
for i in $(seq 700); do echo "Line $i of the text."; done >book.txt
run "$train" init book.txt
expect_code 0
checked_and_trained book
expect_file run/metrics.csv

begin "each known set gets a config and a network that train"
records() { # COUNT LABEL: CIFAR-10 records with black images.
  local i
  for i in $(seq "$1"); do
    printf '%b' "\\x$(printf '%02x' "$2")"
    head -c 3072 /dev/zero
  done
}
idx() { # FOLDER PREFIX COUNT: images and labels of MNIST's format.
  local count
  count=$(printf '\\x00\\x00\\x%02x\\x%02x' $(($3 / 256)) $(($3 % 256)))
  { printf '%b' "\x00\x00\x08\x03$count\x00\x00\x00\x1c\x00\x00\x00\x1c" && head -c $((784 * $3)) /dev/urandom; } >"$1/$2-images-idx3-ubyte"
  { printf '%b' "\x00\x00\x08\x01$count" && head -c "$3" /dev/zero; } >"$1/$2-labels-idx1-ubyte"
}
"$train" data make shapes data/cifar-10-batches-bin --train 640 --test 130 >/dev/null
for set in mnist fashion-mnist; do
  mkdir -p "data/$set"
  idx "data/$set" train 256
  idx "data/$set" t10k 128
done
mkdir data/imdb
for split in train test; do
  for i in $(seq 64); do printf '%s\tan example of words number %s\n' $((i % 2)) "$i"; done >data/imdb/$split.tsv
done
for set in cifar10 mnist fashion_mnist; do
  run "$train" init $set --out .
  expect_code 0
  run "$train" check $set.yaml --gpus 0
  expect_code 0
  expect_out "no problems found"
done
run env PATH=/nonexistent "$train" mnist.yaml --gpus 0 --epochs 1 --out mnist
expect_code 0
run "$train" init imdb
expect_code 0
run "$train" summary imdb.yaml
expect_code 0

begin "data that are none of these are refused with what is near"
run "$train" init cifar-10
expect_code 2
expect_err "did you mean 'cifar10'?"
mkdir empty
run "$train" init empty
expect_code 4
expect_err "empty"
mkdir one
write_pictures "$PWD/one" 8
rm -r one/b one/c one/d
run "$train" init one
expect_code 4
expect_err "has one folder of pictures: a classifier needs at least two classes"
echo short >short.txt
run "$train" init short.txt
expect_code 4
expect_err "'short.txt' has 6 bytes; a model of text needs at least 8000"
head -c 9000 /dev/urandom >noise.txt
run "$train" init noise.txt
expect_code 4
expect_err "'noise.txt' is no text in UTF-8"
expect_no_path short.yaml

begin "data get names what it knows, keeps what another server has not, and refuses a wrong file"
run "$train" data get cifar
expect_code 2
expect_err "did you mean 'cifar10'?"
mkdir mirror
echo wrong >mirror/imdb_word_index.json
run "$train" data get imdb --to sets --from "file://$PWD/mirror"
expect_code 4
expect_err "imdb_word_index.json is not the file that was published: it has 6 bytes instead of 1641221"
expect_no_path sets/imdb/imdb_word_index.json
expect_no_path sets/imdb/imdb_word_index.json.part
run "$train" data get mnist --to sets --from http://127.0.0.1:1
expect_code 8
expect_err "cannot fetch http://127.0.0.1:1/train-images-idx3-ubyte.gz"

finish 7 0
