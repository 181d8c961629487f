#!/usr/bin/env bash
# Sequences: a text from its file to generated text, its vocabulary, and what is for images alone.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# A text in which each letter follows from the two before it, and a run that learns it.
write_text_run() {
  for _ in {1..80}; do printf 'abcabd'; done >a.txt
  cat >text.yaml <<'END'
name: text
network:
  input: {tokens: 4, vocabulary: 6}
  layers:
    - embedding: 8
    - flatten
    - dense: 6
    - softmax
data:
  train: {source: text, file: a.txt, vocabulary: 6, length: 4, stride: 1}
  val_fraction: 0.2
batch: {per_gpu: 16}
loss: cross_entropy
metrics: [accuracy]
optimizer: {adam: {lr: 0.05}}
epochs: 6
threads: 1
output: {generate: {temperatures: [0.1, 1], length: 30}}
END
}

begin "a model of a text is trained, writes after each epoch, and goes on as the text does"
write_text_run
run "${quick[@]}" --config text.yaml --out a
expect_code 0
expect_out_match ' - [0-9.]+ seq/s'
for epoch in 1 2 3 4 5 6; do [[ -s a/samples/epoch-$epoch.txt ]] || fail "no text of epoch $epoch"; done
grep -q -- '--- temperature 0.1:' a/samples/epoch-6.txt || fail "no text of temperature 0.1"
grep -q 'abcabdabcabdabcabd' a/samples/epoch-6.txt || fail "the text is not learned: $(<a/samples/epoch-6.txt)"
grep -q '"words"' a/vocabulary.json || fail "the vocabulary is not kept"

begin "generate continues a prompt, the same each time, and otherwise with another seed"
write_text_run
run "${quick[@]}" --config text.yaml --out a
run "$train" generate a --prompt abca --length 20 --temperatures 0.1,1.5
expect_code 0
expect_out "--- begin:
abca
--- temperature 0.1:
bdabcabdabcabdabcabd
--- temperature 1.5:"
first=$out
run "$train" generate a --prompt abca --length 20 --temperatures 0.1,1.5
expect_equal "$out" "$first"
run "$train" generate a --prompt abca --length 200 --temperatures 9 --seed 1
first=$out
run "$train" generate a --prompt abca --length 200 --temperatures 9 --seed 2
expect_differs "$out" "$first"

begin "generate prints the prompt and its continuation alone, and temperature 0 takes the likeliest tokens"
write_text_run
sed 's/embedding: 8/embedding: 8\n    - lstm: {units: 12, return_sequences: true}/; s/- flatten//; s/dense: 6/dense: {units: 6, per_position: true}/; s/stride: 1/stride: 1, predict: every/' text.yaml >lstm.yaml
run "${quick[@]}" --config lstm.yaml --out a
expect_code 0
run "$train" generate a --prompt cab --length 6 --temperatures 0
expect_equal "$out" "--- begin:
cab
--- temperature 0:
dabcab"
expect_equal "$err" ""
long=abcabdabcabdabc
run "$train" generate a --prompt $long --length 6 --temperatures 0,0
expect_equal "$out" "--- begin:
$long
--- temperature 0:
abdabc
--- temperature 0:
abdabc"
run "${quick[@]}" --config text.yaml --out b
run "$train" generate b --prompt ab --length 6 --temperatures 0
expect_code 0
expect_out_match '--- begin:
ab
--- temperature 0:'
expect_err "warning: --prompt has 2 tokens, and this network always reads 4: those before the prompt are taken from the training text, and not printed"

begin "generate names the tokens of a prompt that the vocabulary lacks"
write_text_run
sed 's/vocabulary: 6, length/vocabulary: 6, lower_case: true, length/' text.yaml >small.yaml
run "${quick[@]}" --config small.yaml --out a --set epochs=1
run "$train" generate a --prompt ABC日本日 --length 3 --temperatures 0
expect_code 0
expect_out "ABC日本日"
expect_err "warning: --prompt: the run's vocabulary lacks \"日\", \"本\"; the model reads each as unknown"
expect_no_err '"A"'
for _ in {1..60}; do printf 'one two three '; done >a.txt
sed 's/vocabulary: 6, length/vocabulary: 6, unit: words, length/' text.yaml >words.yaml
run "${quick[@]}" --config words.yaml --out b --set epochs=1
run "$train" generate b --prompt 'one four' --length 3 --temperatures 0
expect_out "one four"
expect_err '"four"'
run "$train" generate b --prompt '  ' --length 3 --temperatures 0 # no word: as without a prompt
expect_code 0
expect_out_match '--- begin:
(one|two|three)'

begin "generate takes the seeds that other verbs take"
write_text_run
run "${quick[@]}" --config text.yaml --out a --set epochs=1
for seed in ' 5' +5 010 0x10 -1 99999999999999999999 1.0 x; do
  run "$train" generate a --seed="$seed"
  expect_code 2
  expect_err "--seed: expected a whole number of 0 or more, found '$seed'"
done
run "$train" generate a --seed ''
expect_code 2
run "$train" generate a --length 3 --temperatures=-1
expect_code 2
expect_err "expected a number from 0 to 100, found '-1'"

begin "generate refuses a prompt that it cannot read, and a run that writes no text"
write_text_run
run "${quick[@]}" --config text.yaml --out a --set epochs=1
run "$train" generate a --prompt $'a\xff'
expect_code 2
expect_err "'--prompt', line 1, byte 2: 0xff is not UTF-8"
write_tiny_run tiny.yaml
run "${quick[@]}" --config tiny.yaml --out b --set epochs=1
run "$train" generate b
expect_code 3
expect_err "text is written by a network that reads tokens and scores the next one: this one reads no tokens"
run "$train" generate c
expect_code 2
expect_err "no run or checkpoint 'c'"

begin "a run is resumed with its own vocabulary alone"
write_text_run
run "${quick[@]}" --config text.yaml --out a --set epochs=1
sed -i 's/"c"/"e"/' a/vocabulary.json
run "$train" resume a --set epochs=2
expect_code 9
expect_err "is not the vocabulary of the data"

begin "sequences with lengths are trained, and the area under the curve selects the best model"
cat >lengths.yaml <<'END'
name: lengths
network:
  input: {steps: 6, features: 3, lengths: true}
  layers: [lstm: {units: 8, return_sequences: true}, pool_steps: average, dense: 1, sigmoid]
data:
  train: {source: synthetic_sequences, steps: 6, features: 3, lengths: true, classes: 2, size: 64, learnable: true}
  val: {source: synthetic_sequences, steps: 6, features: 3, lengths: true, classes: 2, size: 30, split: test, learnable: true}
batch: {per_gpu: 16}
loss: binary_cross_entropy
metrics: [accuracy, auc]
optimizer: {adam: {lr: 0.02}}
checkpoint: {best: {metric: val_auc, mode: max}}
epochs: 3
threads: 1
END
run "${quick[@]}" --config lengths.yaml --out a
expect_code 0
areas=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
  { print ($at["auc"] == "" && $at["val_auc"] > 0 && $at["val_auc"] <= 1) ? "right" : $0 }' a/metrics.csv)
expect_equal "$areas" "right
right
right"
run "$train" check --config lengths.yaml --set data.train.lengths=false --set data.val.lengths=false
expect_code 3
expect_err "the data have no field 'length'"

begin "what is for images alone is refused with its place"
write_text_run
sed 's/^batch:/  preprocess: [scale: 0.5]\n&/' text.yaml >scaled.yaml
run "$train" check --config scaled.yaml
expect_code 3
expect_err "scaled.yaml:12:15: 'preprocess' is for images, but the samples of source 'text' are sequences of 4 tokens"
sed 's/^batch:/  augment: [hflip]\n&/' text.yaml >flipped.yaml
run "$train" check --config flipped.yaml
expect_code 3
expect_err "flipped.yaml:12:12: 'augment' is for images"
run "$train" browse --config text.yaml
expect_code 3
expect_err "text.yaml:10:19: 'browse' shows images, but the samples of source 'text' are sequences of 4 tokens"
run "$train" data pack source=text file=a.txt a.pack
expect_code 4
expect_err "the samples are sequences of 40 tokens, and a pack holds images"

begin "a hostile text is refused before step 1 with file, line and byte"
write_text_run
printf 'abc\nab\xff' >>a.txt
run "$train" check --config text.yaml
expect_code 4
expect_err "a.txt', line 2, byte 3: 0xff is not UTF-8"

begin "splits with other tokens are refused, with the same vocabulary they are taken"
write_text_run
printf 'abdabdabdbbbbaa' >b.txt
sed 's/val_fraction: 0.2/val: {source: text, file: b.txt, vocabulary: 6, length: 4, stride: 1}/' text.yaml >split.yaml
run "$train" check --config split.yaml
expect_code 4
expect_err "the training split holds sequences of 4 tokens from a vocabulary of 6, the validation split sequences of 4 tokens from a vocabulary of 6 with other words; both must have the same steps, labels and vocabulary"
run "$train" check --config split.yaml --set data.val.length=3
expect_code 4
expect_err "the validation split sequences of 3 tokens from a vocabulary of 6; both must have"
run "$train" check --config split.yaml --set data.val.vocabulary_from=a.txt
expect_code 0

begin "check names the tokens, and a network of other sizes is refused"
write_text_run
run "$train" check --config text.yaml
expect_code 0
expect_out "samples of 4 tokens of 6 classes"
run "$train" check --config text.yaml --set data.train.length=5
expect_code 3
run "$train" check --config text.yaml --set data.train.vocabulary=7
expect_code 3

begin "weights that are not finite are refused by generate, eval and predict"
write_text_run
run "${quick[@]}" --config text.yaml --out a --set epochs=1
expect_code 0
for value in '\0\0\300\177' '\0\0\200\177'; do # nan, inf
  cp a/weights/best.safetensors a/weights/bad.safetensors
  # shellcheck disable=SC2059  # an escape of printf
  printf "$value" | dd of=a/weights/bad.safetensors bs=1 conv=notrunc status=none \
    seek=$(($(stat --format %s a/weights/bad.safetensors) - 4))
  for verb in generate eval "predict --text abca"; do
    read -ra words <<<"$verb"
    run "${quick[@]}" "${words[0]}" a/weights/bad.safetensors "${words[@]:1}"
    expect_code 9
    expect_err_match "a/weights/bad.safetensors: '[a-z0-9.]+' holds (nan|inf) at element [0-9]+; take the weights of a checkpoint"
  done
done

finish 13 0
