#!/usr/bin/env bash
# train export and train import: their files, their messages, and what --init makes of them.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

begin "a run's network becomes an ONNX file, which the output describes"
finished_run
run "${quick[@]}" export a --onnx tiny.onnx
expect_code 0
expect_out "tiny.onnx: ONNX opset 17, 7 nodes"
expect_out "  inputs: input float32 [batch, 3, 8, 8]"
expect_out "  outputs: output float32 [batch, 4]"
expect_file tiny.onnx
for word in Conv BatchNormalization Relu MaxPool Flatten Gemm Softmax bn1.running_var; do
  grep -q "$word" tiny.onnx || fail "the file has no $word"
done
run "${quick[@]}" export a --onnx small.onnx --fold-bn --logits
expect_out "5 nodes"
grep -q -e BatchNormalization -e Softmax small.onnx && fail "a node is left"
run "${quick[@]}" export a --onnx whole.onnx --preprocess
expect_out "9 nodes"
best=a/checkpoints/$(<a/checkpoints/best)
last=a/checkpoints/$(<a/checkpoints/last)
run "${quick[@]}" export "$best" --onnx best.onnx
expect_same_file best.onnx tiny.onnx
run "${quick[@]}" export "$last" --onnx last.onnx
expect_code 0
expect_other_file last.onnx tiny.onnx

begin "weights go out and in again with the same bytes, and start a run"
finished_run
run "${quick[@]}" export a --safetensors out.safetensors
expect_code 0
expect_out "out.safetensors: 8 tensors"
expect_same_file out.safetensors "a/checkpoints/$(<a/checkpoints/best)/weights.safetensors"
run "${quick[@]}" import out.safetensors --config tiny.yaml --output in.safetensors
expect_code 0
expect_out "in.safetensors: all 8 tensors of the network"
expect_same_file in.safetensors out.safetensors
run "${quick[@]}" --config tiny.yaml --out b --init in.safetensors --set epochs=1
expect_code 0
expect_out "init: loaded all 8 tensors of the network from in.safetensors"

begin "PyTorch's weights are named by a map, of layers or tensors"
cat >torch.yaml <<'YAML'
name: torch
network:
  profile: torch
  input: [3, 4, 3]
  layers:
    - conv: {filters: 4, kernel: 3, pad: 1, bias: false}
    - bn
    - prelu
    - conv_transpose: {filters: 5, kernel: 3, stride: 2, pad: 1}
    - group_norm: {groups: 5}
    - dense: 6
data:
  train: {source: synthetic, shape: [3, 4, 3], classes: 6, size: 32}
  val: {source: synthetic, shape: [3, 4, 3], classes: 6, size: 16, split: test}
batch: {per_gpu: 16}
loss: cross_entropy
optimizer: {sgd: {lr: 0.05}}
epochs: 1
threads: 1
YAML
printf '%s\n' "conv1 images.stem.0" "bn1 images.stem.1" "prelu1 images.stem.2" \
  "conv_transpose1 images.up" "group_norm1 images.norm" >names.txt
# shellcheck disable=SC2154  # set by lib.sh
weights=$source_dir/tests/export/torch_weights.safetensors
import=("${quick[@]}" import "$weights" --config torch.yaml --output in.safetensors)
run "${import[@]}" --names names.txt
expect_code 9
expect_err "has 10 of 12 tensors of the network"
expect_err "not in the file 2: dense1.weight, dense1.bias"
expect_err "with --partial"
expect_no_path in.safetensors
run "${import[@]}" --names names.txt --partial
expect_code 0
echo "dense1 images.fc" >>names.txt
run "${import[@]}" --names names.txt
expect_code 0
expect_out "all 12 tensors of the network"
expect_out "not used 11:"
run "${quick[@]}" --config torch.yaml --out a --init in.safetensors
expect_code 0
expect_out "loaded all 12 tensors"
run "${import[@]}"
expect_code 9
expect_err "is named as in this network"
expect_err "give a map with --names"
sed -i s/images.fc/steps.head/ names.txt
run "${import[@]}" --names names.txt
expect_code 9
expect_err "the network's dense1.weight is [6, 175], the file's steps.head.weight is [4, 5]"
sed -i s/conv1/conv2/ names.txt
run "${import[@]}" --names names.txt
expect_code 9
expect_err "names.txt:1:1: the network has no 'conv2'; did you mean 'conv1'?"

begin "what cannot be exported or imported is refused, with what to do"
finished_run
run "${quick[@]}" export a
expect_code 2
expect_err "give --onnx FILE or --safetensors FILE"
run "${quick[@]}" export b --onnx x.onnx
expect_code 2
run "${quick[@]}" export a --onnx nowhere/x.onnx
expect_code 2
expect_err "--onnx nowhere/x.onnx: the folder 'nowhere' does not exist; create it first"
run "${quick[@]}" export a --safetensors x --fold-bn
expect_code 2
expect_err "--onnx"
run "${quick[@]}" import tiny.yaml --config tiny.yaml -o x
expect_code 9
expect_err "tiny.yaml: expected a safetensors file, found a text file"
run "${quick[@]}" import a.safetensors --config tiny.yaml -o x
expect_code 9
expect_err "a.safetensors"
run "${quick[@]}" export a --safetensors x
run "${quick[@]}" import x --config tiny.yaml -o y --names map.yaml
expect_code 3
expect_err "map.yaml"

begin "a layer that ONNX cannot express is refused with its place in the network file"
cat >mask.yaml <<'YAML'
name: mask
network:
  input: {tokens: 6, vocabulary: 9}
  layers:
    - {identity: , as: tokens}
    - {embedding: 4, as: vectors}
    - {lstm: {units: 4, mask: true}, from: [vectors, tokens]}
    - dense: 3
    - softmax
data:
  train: {source: synthetic_sequences, steps: 6, vocabulary: 9, classes: 3, size: 32}
  val: {source: synthetic_sequences, steps: 6, vocabulary: 9, classes: 3, size: 16, split: test}
batch: {per_gpu: 16}
loss: cross_entropy
optimizer: {sgd: {lr: 0.05}}
epochs: 1
threads: 1
YAML
run "${quick[@]}" --config mask.yaml --out a
expect_code 0
run "${quick[@]}" export a --onnx x.onnx
expect_code 3
expect_err "ONNX (opset 17) cannot express 1 layer of this network:"
expect_err_match 'yaml:[0-9]+:[0-9]+: layer .lstm1. \(lstm\) leaves out steps by a mask'
expect_no_path x.onnx
run "${quick[@]}" export a --safetensors x.safetensors --onnx y.onnx --preprocess
expect_code 2
expect_err "--preprocess: the network reads tokens"

begin "a file without tensors, and a network without weights, have nothing to import"
write_tiny_run tiny.yaml
cp "$source_dir/tests/fuzz/corpus/safetensors/accepted/nothing.safetensors" e.safetensors
run "${quick[@]}" import e.safetensors --config tiny.yaml -o x
expect_code 9
expect_err "e.safetensors: nothing to import: the file has no tensors"
run "${quick[@]}" --config tiny.yaml --out a --set epochs=1
run "${quick[@]}" import a/weights/last.safetensors --config tiny.yaml -o x --set 'network.layers=[global_avg_pool]' --set loss=mse
expect_code 9
expect_err "a/weights/last.safetensors: nothing to import: the network of tiny.yaml has no weights"
expect_no_path x

finish 6 0
