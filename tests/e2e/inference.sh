#!/usr/bin/env bash
# train eval and train predict: what they print and write, on any number of ranks, and what they refuse.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=cache # in the folder of each case

plain=(env PATH=/nonexistent "$train") # without gnuplot

# trained_images: a run `a` of one epoch on eight images of two classes.
trained_images() {
  local i
  mkdir -p pics/cat pics/dog
  for i in 1 2 3 4; do
    cp "$source_dir/tests/data/images/chroma_420.jpg" "pics/cat/$i.jpg"
    cp "$source_dir/tests/data/images/grey.jpg" "pics/dog/$i.jpg"
  done
  cat >run.yaml <<'YAML'
name: images
network:
  input: [3, 8, 8]
  layers: [conv: [4, 3], relu, global_avg_pool, dense: 2, softmax]
data:
  train: {source: image_folder, root: pics, size: 8}
  val: {source: image_folder, root: pics, size: 8}
  preprocess: [{mean_rgb: train}]
batch: {total: 3}
loss: cross_entropy
metrics: [accuracy]
optimizer: {sgd: {lr: 0.01}}
epochs: 2
threads: 1
YAML
  run "${plain[@]}" --config run.yaml --out a
  expect_code 0
}

begin "eval prints the values and the classes, and writes tables and images"
trained_images
run "${plain[@]}" eval a
expect_code 0
expect_out "on the validation split of the run (source image_folder), 8 samples"
expect_out_match 'loss: [0-9.e-]+ - accuracy: [01]\.[0-9]+'
expect_out_match $'class +samples +precision +recall +f1 +auc\ncat +4 '
expect_out "a/eval: eval.json, predictions.csv, classes.csv, confusion.csv, mistakes.csv"
expect_err "gnuplot was not found"
for file in eval.json predictions.csv classes.csv confusion.csv mistakes.csv; do expect_file "a/eval/$file"; done
cp -r a/eval first
run "${plain[@]}" eval a --json --gpus 0 --replicas 3
expect_code 0
expect_out_match '^\{"weights":"a/checkpoints/epoch-[0-9]+_step-[0-9]+ .*"samples":8,"loss":[0-9.e-]+,"accuracy":'
for file in predictions.csv classes.csv confusion.csv mistakes.csv; do expect_same_file "a/eval/$file" "first/$file"; done
expect_equal "$(grep -v seconds a/eval/eval.json)" "$(grep -v seconds first/eval.json)"
if command -v gnuplot >/dev/null; then
  run "$train" eval a --out drawn
  expect_code 0
  expect_out "drawn: eval.json, predictions.csv, classes.csv, confusion.csv, mistakes.csv, confusion.png"
  expect_file drawn/confusion.png
fi

begin "--tta averages over views: the same by eval and predict, and on any number of ranks"
trained_images
run "${plain[@]}" eval a
while read -r tta views; do
  run "${plain[@]}" eval a --tta "$tta"
  expect_code 0
  expect_out "mean of $views views of each (--tta $tta)"
  expect_out "a/eval/tta_$tta: eval.json, predictions.csv"
  grep -q "\"tta\": \"$tta\"" "a/eval/tta_$tta/eval.json" || fail "eval.json does not name the views"
  expect_other_file "a/eval/tta_$tta/predictions.csv" a/eval/predictions.csv
  run "${plain[@]}" eval a --tta "$tta" --gpus 0 --replicas 3 --out ranks
  expect_code 0
  for file in predictions.csv classes.csv; do expect_same_file "a/eval/tta_$tta/$file" "ranks/$file"; done
  expect_equal "$(grep -v seconds "a/eval/tta_$tta/eval.json")" "$(grep -v seconds ranks/eval.json)"
  run "${plain[@]}" predict a pics --csv --tta "$tta"
  expect_code 0
  expect_equal "$(tail -n +2 <<<"$out" | cut -d, -f2,3)" "$(tail -n +2 "a/eval/tta_$tta/predictions.csv" | cut -d, -f4,5)"
done <<'END'
flip 2
shifts 6
END
run "${plain[@]}" eval a --tta mirror
expect_code 2
expect_err "--tta"
run "${plain[@]}" predict a pics --tta flip --layer relu1
expect_code 2
expect_err "--layer excludes --tta"

begin "an exported network names its classes and the run"
trained_images
run "${plain[@]}" export a --onnx a.onnx
expect_code 0
for text in 'class_names' '["cat","dog"]' 'weights' 'a, epoch '; do
  grep -qF "$text" a.onnx || fail "the file has no $text"
done

begin "eval takes a checkpoint, another split, and a folder of classes"
trained_images
checkpoint=$(echo a/checkpoints/epoch-0001*)
run "${plain[@]}" eval "$checkpoint" --data train
expect_code 0
expect_out "$checkpoint (epoch 1, step 2)"
expect_out "on the training split of the run"
expect_file "a/eval/${checkpoint##*/}/train/confusion.csv"
mkdir -p other/dog
cp pics/dog/1.jpg other/dog
run "${plain[@]}" eval a/checkpoints/last --data other --out here
expect_code 0
expect_out "on the images of other, 1 sample"
expect_out_match $'cat +0 +- +- '
expect_file here/eval.json
run "${plain[@]}" eval a --data vla
expect_code 2
expect_err "--data 'vla': expected val, train, or a folder with one folder of images per class"

begin "predictions are in the order of the inputs, and the same on any number of ranks"
trained_images
for i in 1 2 3 4 5; do printf 'pics/dog/%s.jpg\npics/cat/%s.jpg\n' $((i % 4 + 1)) $((i % 3 + 1)); done >list.txt
run "${plain[@]}" predict a list.txt pics --csv
expect_code 0
expect_equal "$(head -n 1 <<<"$out")" "input,class,probability,class_2,probability_2"
expect_equal "$(tail -n +2 <<<"$out" | cut -d, -f1)" "$(cat list.txt; printf '%s\n' pics/*/*.jpg)"
expect_err_match '^18 images in [0-9.]+ s: [0-9.]+ images/s$'
one=$out
for ranks in 2 3; do
  run "${plain[@]}" predict a list.txt pics --csv --gpus 0 --replicas $ranks
  expect_code 0
  expect_equal "$out" "$one"
done
run "${plain[@]}" predict a pics/cat/1.jpg --top-k 1
expect_out_match '^pics/cat/1\.jpg: (cat|dog) [01]\.[0-9]{4}$'
run "${plain[@]}" predict a pics/cat/1.jpg --json
expect_out_match '^\{"input":"pics/cat/1\.jpg","class":"(cat|dog)","probability":[0-9.]+,"top":\['

begin "predictions counted by class are the confusion matrix of eval"
trained_images
run "${plain[@]}" eval a
run "${plain[@]}" predict a pics --csv
matrix=$(tail -n +2 <<<"$out" | awk -F, '
  { split($1, path, "/"); ++count[path[2] "," $2] }
  END { print "label,cat,dog,none"
        for (i = 1; i <= 2; ++i) { c = i == 1 ? "cat" : "dog"
          print c "," count[c ",cat"] + 0 "," count[c ",dog"] + 0 ",0" } }')
expect_equal "$matrix" "$(<a/eval/confusion.csv)"

begin "paths come from standard input, also to several ranks"
trained_images
run "${plain[@]}" predict a pics --csv
expected=$out
printf '%s\n' pics/*/*.jpg >list
out=$("${plain[@]}" predict a - --csv <list 2>err)
expect_equal "$out" "$expected"
out=$("${plain[@]}" predict a - --csv --gpus 0 --replicas 2 <list 2>err)
expect_equal "$out" "$expected"

begin "what cannot be opened or predicted is refused"
trained_images
run "${plain[@]}" eval pisc
expect_code 2
expect_err "no run or checkpoint 'pisc'; did you mean 'pics'?"
run "${plain[@]}" eval a --out run.yaml/tables
expect_code 7
expect_err "run.yaml"
expect_equal "$out" ""
run "${plain[@]}" predict pics pics/cat/1.jpg
expect_code 2
expect_err "'pics' is not a run folder: it has no config.yaml of a run; nor is it a checkpoint of one"
run "${plain[@]}" predict a
expect_code 2
expect_err "there is nothing to predict"
run "${plain[@]}" predict a pics/cat/9.jpg
expect_code 2
expect_err "no file or folder 'pics/cat/9.jpg' to predict; did you mean"
run "${plain[@]}" predict a run.yaml
expect_code 2
expect_err "'run.yaml' is neither an image (.jpg, .png, .webp, .gif, .bmp) nor a list of them"
head -c 100 pics/cat/1.jpg >cut.jpg
run "${plain[@]}" predict a pics/cat/1.jpg cut.jpg
expect_code 4
expect_err "cut.jpg"
run "${plain[@]}" predict a --text "a text"
expect_code 2
expect_err "--text: the model of this run reads images"
run "${plain[@]}" predict a pics --csv --json
expect_code 2
for part in config.yaml status.json; do mv "a/$part" "kept.$part"; done
run "${plain[@]}" eval "$(echo a/checkpoints/epoch-0002*)"
expect_code 9
expect_err "holds weights, but no folder above it is that of a run"
for part in config.yaml status.json; do mv "kept.$part" "a/$part"; done
printf x >>"$(echo a/checkpoints/epoch-0002*/weights.safetensors)"
run "${plain[@]}" predict a/checkpoints/last pics
expect_code 9
expect_err "weights.safetensors: damaged"

begin "a run is evaluated and predicts without its data, once it is told where others are"
trained_images
mv pics moved
run "${plain[@]}" predict a moved/cat/1.jpg
expect_code 0
run "${plain[@]}" eval a --data moved
expect_code 0
run "${plain[@]}" eval a
expect_code 4
expect_err "pics"
run "${plain[@]}" eval a --set data.val.root=moved
expect_code 0

begin "a model of text predicts what follows, with the characters as classes"
for _ in {1..80}; do printf 'abcabd'; done >a.txt
cat >text.yaml <<'YAML'
name: text
network:
  input: {tokens: 4, vocabulary: 6}
  layers: [embedding: 8, flatten, dense: 6, softmax]
data:
  train: {source: text, file: a.txt, vocabulary: 6, length: 4, stride: 1}
  val_fraction: 0.2
batch: {per_gpu: 16}
loss: cross_entropy
metrics: [accuracy]
optimizer: {adam: {lr: 0.05}}
epochs: 6
threads: 1
YAML
run "${plain[@]}" --config text.yaml --out t
expect_code 0
run "${plain[@]}" predict t --text ababca --text bdab --top-k 1
expect_code 0
expect_out "ababca: b"
expect_out "bdab: c"
expect_err "2 texts in "
printf 'dabc\n\nbdab\n' >lines.txt
run "${plain[@]}" predict t lines.txt --csv --top-k 1
expect_equal "$(cut -d, -f1,2 <<<"$out")" $'input,class\ndabc,a\nbdab,c'
run "${plain[@]}" predict t --text abc
expect_code 4
expect_err "'abc': has 3 tokens, but the network reads the last 4"
run "${plain[@]}" eval t
expect_code 0
expect_out_match 'accuracy: (1|0\.9)'

# write_tensors CHANNELS: eight random samples [CHANNELS, 8, 8] of bytes, in samples.safetensors.
write_tensors() {
  local bytes=$((8 * $1 * 64)) header
  header="{\"images\":{\"dtype\":\"U8\",\"shape\":[8,$1,8,8],\"data_offsets\":[0,$bytes]},"
  header+="\"labels\":{\"dtype\":\"I32\",\"shape\":[8],\"data_offsets\":[$bytes,$((bytes + 32))]}}"
  # shellcheck disable=SC2059  # an escape of printf
  printf "\\x$(printf %x ${#header})\\0\\0\\0\\0\\0\\0\\0%s" "$header" >samples.safetensors
  head -c "$bytes" /dev/urandom >>samples.safetensors
  head -c 32 /dev/zero >>samples.safetensors
}

begin "a run of tensors with other channels than images refuses images, and predicts tensors"
trained_images
for channels in 2 4 5; do
  write_tensors $channels
  sed -e "s/input: .*/input: [$channels, 8, 8]/" -e '/preprocess:/d' \
    -e 's/{source: image_folder.*}/{source: tensors, file: samples.safetensors, classes: 2}/' run.yaml >tensors.yaml
  run "${plain[@]}" --config tensors.yaml --out "b$channels"
  expect_code 0
  for image in pics/cat/1.jpg "$source_dir/tests/fuzz/corpus/image/accepted/rgb.png"; do
    run "${plain[@]}" predict "b$channels" "$image"
    expect_code 3
    expect_err "the samples of the run have $channels channels, and images are read with 1 (grey) or 3 (colour)"
  done
  run "${plain[@]}" eval "b$channels"
  expect_code 0
  run "${plain[@]}" predict "b$channels" samples.safetensors --csv
  expect_code 0
  expect_out "samples.safetensors[7],"
  expect_equal "$(printf '%s\n' "$out" | tail -n +2 | cut -d, -f2,3)" "$(tail -n +2 "b$channels/eval/predictions.csv" | cut -d, -f4,5)"
done

finish 11 0
