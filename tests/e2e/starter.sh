#!/usr/bin/env bash
# train init: what it writes passes train check and trains. train data get: what needs no server.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=scripts/lib.sh
write_images() { (source "$source_dir/scripts/lib.sh" && cd - >/dev/null && write_images "$@"); }

# checked_and_trained NAME FLAGS...: the files of a starter train for an epoch.
checked_and_trained() {
  local name=$1
  shift
  run "$train" check "$name.yaml" --gpus 0
  expect_code 0
  expect_out "no problems found"
  run env PATH=/nonexistent "$train" "$name.yaml" --gpus 0 --epochs 1 --out "run_$name" "$@"
  expect_code 0
  expect_out "Epoch 1/1"
}

begin "a folder of images gets a config and a network that train, and nothing is overwritten"
write_images "$PWD/flowers" 16
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
  write_images "$PWD/$name" 16
  run "$train" init "$name"
  expect_code 0
  run "$train" check "$name.yaml"
  expect_code 0
done

begin "what a config cannot have is refused, other names of data are written so that it is accepted"
write_images "$PWD/two" 16
mkdir dollar
# shellcheck disable=SC2016  # names, not variables
for name in '$flowers' null true '1.5' $'line\nfeed' 'a "b" c' '@classes@' '-x' 'ä ö'; do
  cp -r two "dollar/$name"
  (cd dollar && "$train" init "./$name" --out "../new" >/dev/null) || fail "init of '$name'"
  run "$train" check new/*[!k].yaml
  expect_code 0
  rm -r new
done
for i in $(seq 700); do echo "Line $i of the text."; done >text
# shellcheck disable=SC2016  # names, not variables
for name in '$x.txt' null true 1.5 10 $'a\nb.txt' '"q".txt'; do
  cp text "$name"
  run "$train" init "$name" --out new
  expect_code 0
  run "$train" check new/*[!k].yaml
  expect_code 0
  rm -r new
done
# shellcheck disable=SC2016  # names, not variables
cp text '${y}.txt'
# shellcheck disable=SC2016  # names, not variables
run "$train" init '${y}.txt'
expect_code 2
expect_err "\${y}.txt' would be read as an expression: in a config these begin with '\$' or '\${'; rename it"
cp text $'\xff.txt'
run "$train" init $'\xff.txt'
expect_code 2
expect_err "the name of the data is not UTF-8, so that no config can have it; rename it"

begin "size, channels and class weights are those of the images"
mkdir grey
for class in a b; do
  mkdir grey/$class
  for i in $(seq 8); do
    # A BMP of 28x28 with a palette of greys.
    {
      printf 'BM\x46\x07\0\0\0\0\0\0\x36\x04\0\0\x28\0\0\0\x1c\0\0\0\x1c\0\0\0\x01\0\x08\0'
      head -c 24 /dev/zero
      for value in $(seq 0 255); do printf '%b' "$(printf '\\x%02x' "$value" "$value" "$value" 0)"; done
      head -c 784 /dev/urandom
    } >"grey/$class/$i.bmp"
  done
done
run "$train" init grey
grep -q 'size: 28, fit: cover, channels: 1' grey.yaml || fail "the size of grey images: $(grep size grey.yaml)"
grep -q 'input: \[1, 28, 28\]' grey_network.yaml || fail "$(grep input: grey_network.yaml)"
grep -q class_weights grey.yaml && fail "class weights of equal classes"
checked_and_trained grey
write_images "$PWD/large" 136
rm large/[bcd]/?.bmp
run "$train" init large
grep -q 'input: \[3, 128, 128\]' large_network.yaml || fail "$(grep input: large_network.yaml)"
grep -q 'class_weights: balanced' large.yaml || fail "no class weights, with 16 images of a class and 6 of another"
run "$train" check large.yaml --gpus 0
expect_code 0

begin "a list of images gets a config that reads it"
write_images "$PWD/images" 16
{
  echo "species,filename"
  for class in a b c d; do
    for i in $(seq 0 15); do echo "the $class,$class/$i.bmp"; done
  done
} >birds.csv
run "$train" init birds.csv
expect_code 0
grep -qF 'train: {source: image_list, file: "birds.csv", root: "images", header: true, path: filename, label: species, labels: name, size: 28' birds.yaml ||
  fail "$(grep train: birds.yaml)"
checked_and_trained birds
find images -name '*.bmp' | sed 's/.*/& 0/; s/\(.*\/b\/.*\) 0/\1 1/' >train.txt
run "$train" init train.txt --out new
expect_code 0
run "$train" check new/train.yaml --gpus 0
expect_code 0
expect_out "51 training and 13 validation samples [3, 28, 28] of 2 classes"
sed -i 's/the c,c\/3.bmp/the c,c\/33.bmp/' birds.csv
run "$train" init birds.csv --out new
expect_code 4
expect_err "birds.csv', line 37"
sed 's/ .*//' train.txt >alone.txt
run "$train" init alone.txt
expect_code 4
expect_err "no line has a class"
expect_no_path alone.yaml

begin "data of another source, and a single image, are refused with the sources"
printf 'height,weight\n1,2\n3,4\n' >people.csv
run "$train" init people.csv
expect_code 4
expect_err "'people.csv' has 2 different values in column 'weight', too many for classes of 2 rows. 'train init' takes the column that is named label, class, species, target or y, else the last one, for what is learned"
while read -r name advice; do
  echo x >"$name"
  run "$train" init "$name"
  expect_code 4
  expect_err "'$name': $advice"
done <<'END'
x.npz source 'arrays' reads sequences from it
x.safetensors source 'tensors' reads images, numbers and labels from it
x.pack source 'pack' reads it
x.json no source reads JSON; 'text' learns to continue a text of any kind
x.PNG it is a single image; give the folder with the folders of its classes
END

begin "a table gets a config and a network that train: numbers, categories, row numbers and notes are told apart"
awk 'BEGIN {
  srand(1)
  split("setosa versicolor virginica", species)
  split("blue red white", colour)
  print ",length,width,colour,note,species"
  for (i = 0; i < 240; ++i) {
    k = i % 3
    printf "%d,%.2f,%s,%s,n%d,%s\n", i, 1500 + 900 * k + 600 * (rand() - 0.5), i % 20 ? 0.5 - 0.1 * k : "NA",
           colour[rand() < 0.7 ? k + 1 : int(3 * rand()) + 1], i * 7919 % 1000, species[k + 1]
  }
}' >garden.csv
run "$train" init garden.csv
expect_code 0
grep -qF -- 'train: {source: table, file: "garden.csv", columns: {label: species, categorical: [colour], ignore: ["", note]}, labels: name, missing: mean, unknown: ignore}' garden.yaml || fail \"another source in garden.yaml\"
run "$train" check garden.yaml --gpus 0
expect_out "192 training and 48 validation samples [5] of 3 classes"
checked_and_trained garden

begin "texts with classes get a config and a network that train"
awk 'BEGIN {
  srand(2)
  split("bad awful poor sad", word)
  print "label;review"
  for (i = 0; i < 200; ++i) {
    printf "%d;the film %d", i % 2, i
    for (j = 0; j < 3 + i % 8; ++j) printf " %s", i % 2 ? word[1 + int(4 * rand())] : "word" int(40 * rand())
    print ""
  }
}' >reviews.csv
run "$train" init reviews.csv
expect_code 0
grep -qF -- 'train: {source: texts, file: "reviews.csv", separator: semicolon, columns: {text: review, label: label}, vocabulary: ' reviews.yaml || fail \"another source in reviews.yaml\"
checked_and_trained reviews

begin "a column of numbers is a regression, words divided in cells are several labels: of tables, texts and images"
awk 'BEGIN {
  srand(3)
  print "rooms,age,sale price"
  for (i = 0; i < 120; ++i) { r = 1 + int(8 * rand()); a = int(90 * rand()); printf "%d,%d,%d\n", r, a, 200000 + 50000 * r - 900 * a }
}' >houses.csv
run "$train" init houses.csv
expect_code 0
grep -qF 'columns: {value: {columns: ["sale price"], standardize: true}}}' houses.yaml || fail "$(grep train: houses.yaml)"
checked_and_trained houses
expect_out "val_mae"
awk 'BEGIN {
  srand(4)
  print "text,tags"
  for (i = 0; i < 120; ++i) { b = rand() < 0.5; s = rand() < 0.5
    printf "the film number %d is %s and %s,%s%s%s\n", i, b ? "bad" : "good", s ? "short" : "long", b ? "sad" : "", b && s ? "; " : "", s ? "brief" : "" }
}' >films.csv
run "$train" init films.csv
expect_code 0
grep -qF 'columns: {text: text, tags: {column: tags, split: ";"}}' films.yaml || fail "$(grep train: films.yaml)"
checked_and_trained films
expect_out "val_mean_average_precision"
write_images "$PWD/images" 16
find images -name '*.bmp' | sort | awk 'BEGIN { print "file,y" } { print $0 "," NR / 3 }' >sizes.csv
run "$train" init sizes.csv
expect_code 0
grep -qF 'columns: {image: file, y: float}' sizes.yaml || fail "$(grep train: sizes.yaml)"
checked_and_trained sizes
expect_out "val_mae"

begin "rows that tell no classes are refused with what they have"
while IFS='|' read -r text message; do
  printf '%b' "$text" >rows.csv
  run "$train" init rows.csv
  expect_code 4
  expect_err "'rows.csv'$message"
done <<'END'
1,2\n3,4\n| has the number '1' in its first line; expected the names of the columns there (source table in docs/language/data.md)
a,price\n1,2.5\n3,2.5\n| has the same value in all rows of column 'price': there is nothing to learn from it
a,y\n1,no\n3,no\n| has the same value in all rows of column 'y': there is nothing to learn from it
a,y\n1,p\n3,q\n2,r\n| has 3 different values in column 'y', too many for classes of 3 rows
id,y\n0,p\n1,q\n2,p\n3,q\n| has no column of numbers, of a few words or of texts
a,y\n1,p\n3\n|, line 3: has 1 cell, expected 2 (a, y)
END

# write_resnet18 FILE: the header of torchvision's resnet18 with weights of zeros.
write_resnet18() {
  local at=0 entries="" layer unit in out name
  tensor() { # NAME ELEMENTS SHAPE
    entries+="${entries:+,}\"$1\":{\"dtype\":\"F32\",\"shape\":[$3],\"data_offsets\":[$at,$((at + 4 * $2))]}"
    at=$((at + 4 * $2))
  }
  norm() { for name in weight bias running_mean running_var; do tensor "$1.$name" "$2" "$2"; done; }
  conv() { tensor "$1.weight" $(($2 * $3 * $4 * $4)) "$2,$3,$4,$4"; }
  conv conv1 64 3 7
  norm bn1 64
  in=64
  for layer in 1 2 3 4; do
    out=$((32 << layer))
    for unit in 0 1; do
      conv "layer$layer.$unit.conv1" $out $in 3
      norm "layer$layer.$unit.bn1" $out
      conv "layer$layer.$unit.conv2" $out $out 3
      norm "layer$layer.$unit.bn2" $out
      if [[ $in != "$out" ]]; then
        conv "layer$layer.$unit.downsample.0" $out $in 1
        norm "layer$layer.$unit.downsample.1" $out
      fi
      in=$out
    done
  done
  tensor fc.weight 512000 1000,512
  tensor fc.bias 1000 1000
  while (((${#entries} + 2) % 8)); do entries+=" "; done
  {
    printf '%b' "$(printf '\\x%02x\\x%02x\\x%02x\\0\\0\\0\\0\\0' $(((${#entries} + 2) & 255)) $((((${#entries} + 2) >> 8) & 255)) $(((${#entries} + 2) >> 16)))"
    printf '{%s}' "$entries"
    head -c "$at" /dev/zero
  } >"$1"
}

begin "weights of another program get a run that fine-tunes them"
write_images "$PWD/photos" 8
write_resnet18 resnet18.safetensors
run "$train" init photos --from resnet18.safetensors
expect_code 0
expect_out "wrote ./photos.yaml, ./photos_network.yaml, and ./photos_weights.safetensors"
run "$train" check photos.yaml --gpus 0
expect_code 0
expect_out "[3, 256, 256] of 4 classes"
expect_out "init: loaded 100 of 102 tensors of the network"
expect_out "left new 2: dense1.weight, dense1.bias"
run env PATH=/nonexistent "$train" photos.yaml --gpus 0 --epochs 1 --out run_photos --set 'freeze=[conv1, bn1, "layer*"]'
expect_code 0
expect_out "Epoch 1/1"
run "$train" eval run_photos --gpus 0
expect_code 0
run "$train" init photos --from resnet18.safetensors
expect_code 2
expect_err "'./photos.yaml' exists"
run "$train" init cifar10 --from resnet18.safetensors
expect_code 2
expect_err "--from fine-tunes on images: 'cifar10' is neither a folder nor a list of them"
run "$train" init photos --out new --from resnet19.safetensors
expect_code 9
expect_err "did you mean 'resnet18.safetensors'?"
printf 'PK\x03\x04%026d%s' 0 archive/data.pkl >resnet18.pth
run "$train" init photos --out new --from resnet18.pth
expect_code 9
expect_err "safetensors.torch as s; s.save_file(torch.load('OLD', weights_only=True), 'NEW.safetensors')"
run "$train" init photos --out new --from photos_weights.safetensors
expect_code 9
expect_err "photos_weights.safetensors: of ResNet-18 it lacks 'bn1.weight' ("
expect_no_path new

begin "the current folder is data like any other"
write_images "$PWD/flowers" 16
cd flowers
run "$train" init .
expect_code 0
run "$train" check flowers.yaml --gpus 0
expect_code 0

begin "a folder with train and val gets both"
write_images "$PWD/pets/train" 8
write_images "$PWD/pets/val" 8
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
expect_file run_book/metrics.csv
expect_out "best val_loss"

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
write_images "$PWD/one" 8
rm -r one/b one/c one/d
run "$train" init one
expect_code 4
expect_err "has images of one class: a classifier needs at least two"
echo short >short.txt
run "$train" init short.txt
expect_code 4
expect_err "'short.txt' has 6 bytes; a model of text needs at least 8000"
head -c 9000 /dev/urandom >noise.txt
run "$train" init noise.txt
expect_code 4
expect_err "'noise.txt' is not a text in UTF-8"
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

finish 17 0
