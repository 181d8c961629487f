#!/usr/bin/env bash
# check, summary, schema, bench, plot: what they print and what they do not touch.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

begin "check prints its result in at most 20 lines, with the memory, and writes nothing"
write_tiny_run tiny.yaml
run env PATH=/nonexistent "$train" check --config tiny.yaml
expect_code 0
expect_no_out "nesterov"
expect_out_match '[0-9] (KiB|MiB|GiB)'
expect_out "best checkpoint: by val_accuracy, more is better"
expect_out "the run can start, with 1 warning above; nothing was written"
expect_err "gnuplot was not found"
[[ $(wc -l <<<"$out$err") -le 20 ]] || fail "expected at most 20 lines"
expect_equal "$(ls)" tiny.yaml

begin "check --show-config prints every default as a valid run file"
write_tiny_run tiny.yaml
run "$train" check tiny.yaml --show-config
expect_code 0
expect_out "nesterov"
printf '%s\n' "$out" >full.yaml
run "$train" check full.yaml
expect_code 0
expect_out "no problems found; nothing was written"

begin "check refuses what train refuses before step 1, in the same words"
write_tiny_run tiny.yaml
echo text >file
# refused CODE TEXT FLAGS...
refused() {
  local expected=$1 text=$2 said
  shift 2
  run "$train" check tiny.yaml "$@"
  expect_code "$expected"
  expect_err "$text"
  said=$err
  run "$train" tiny.yaml "$@"
  expect_code "$expected"
  expect_equal "$err" "$said"
  expect_no_path runs
}
refused 3 "did you mean 'val_accuracy'?" --set checkpoint.best.metric=val_acuracy
refused 2 "ends neither in .png nor in .svg" --output curves.docx
refused 2 "the folder 'nowhere' does not exist" --output nowhere/curves.png
refused 2 "give the run's folder with --out" --plot nowhere/
refused 7 "cannot make the folder 'file'" --out file/below
refused 7 "/proc/nowhere" --out /proc/nowhere/a
refused 2 "'.' is not empty" --out .
refused 2 "is not a plain folder name" --name a/b
refused 9 "nowhere.safetensors" --init nowhere.safetensors
refused 3 "fewer than one global batch" --set batch.per_gpu=1000

begin "check tries a batch on every rank and prints its result once"
write_tiny_run tiny.yaml
run "$train" check tiny.yaml --replicas 2
expect_code 0
expect_out "32 samples per step on 2 ranks"
expect_equal "$(grep -c 'nothing was written' <<<"$out")" 1
run "$train" check tiny.yaml --replicas 2 --set batch='{total: 15}'
expect_code 3
expect_err "is not divisible by 2"
expect_equal "$(ls)" tiny.yaml

begin "the output of check and train is in order in one pipe"
write_tiny_run tiny.yaml
run bash -c 'PATH=/nonexistent "$0" check tiny.yaml 2>&1 | cat' "$train"
expect_equal "$(tail -n 2 <<<"$out" | cut -d' ' -f 1-3 | xargs)" "train: warning: gnuplot the run can"
run bash -c 'PATH=/nonexistent "$0" tiny.yaml --set nowhere=1 2>&1 | cat' "$train"
expect_out "unknown key 'nowhere'"
run bash -c 'PATH=/nonexistent "$0" tiny.yaml --epochs 1 2>&1 | cat' "$train"
expect_equal "$(cut -d' ' -f 1-2 <<<"$out" | head -n 3 | xargs)" "run runs/tiny/0001 train: warning: Epoch 1/1"

begin "summary lists paths, shapes and totals"
write_tiny_run tiny.yaml
run "$train" summary --config tiny.yaml
expect_code 0
for text in conv1 bn1 max_pool1 dense1 "[8, 4, 4]"; do expect_out "$text"; done
# conv 8 * (27 + 1), bn 2 * 8, dense 4 * (128 + 1)
expect_out "756"
expect_out "softmax (computed with the loss)"

begin "summary --json is one JSON object with the same totals"
write_tiny_run tiny.yaml
run "$train" summary --config tiny.yaml --json
expect_code 0
expect_out_match '^\{'
expect_out "conv1"
expect_out "756"

begin "summary folds a long table by block, and --depth and --all say how far"
run "$train" summary --config "$source_dir/configs/minigooglenet_cifar10.yaml"
expect_code 0
expect_out_match 'inc1 +7 layers +\[64, 32, 32\]'
expect_out '73 layers in 15 rows; --depth N shows N levels of blocks, --all each layer'
run "$train" summary --config "$source_dir/configs/minigooglenet_cifar10.yaml" --all
expect_out "inc1.concat1.0.cbr1.conv1"
expect_no_out "layers in"
write_tiny_run tiny.yaml
run "$train" summary --config tiny.yaml
expect_no_out "layers in"
run "$train" summary --config tiny.yaml --depth 0
expect_code 2
run "$train" summary --config tiny.yaml --depth 1 --json
expect_code 2

begin "summary --svg draws the network with Graphviz"
write_tiny_run tiny.yaml
run env PATH=/nonexistent "$train" summary --config tiny.yaml --svg tiny.svg
expect_code 2
expect_err "--svg: dot was not found, which draws the network; install it (apt-get install graphviz)"
if type -P dot >/dev/null; then
  run "$train" summary --config tiny.yaml --svg tiny.svg
  expect_code 0
  expect_out "conv1"
  grep -q '>max_pool 2×2 /2</text>' tiny.svg || fail "the image lacks a layer: $(cat tiny.svg)"
  grep -q '^</svg>' tiny.svg || fail "the image is not complete"
fi
run "$train" summary --config tiny.yaml --svg tiny.png
expect_code 2
expect_err "--svg: 'tiny.png' does not end in .svg"

begin "summary --plan lists steps and offsets"
write_tiny_run tiny.yaml
run "$train" summary --config tiny.yaml --plan
expect_code 0
expect_out "conv1 forward_train"
expect_out "conv1 backward_parameters"

begin "summary --plan --target cuda shows the plan for a GPU that is not present"
write_tiny_run tiny.yaml
run "$train" summary --config tiny.yaml --plan --target cuda --precision bf16
expect_code 0
expect_out "plan for cuda"
expect_out_match 'bf16 \[16, 3, 8, 8\] nhwc'
expect_out_match 'memory: .* activations [+] [0-9.]+ workspace'
expect_out_match 'a step of 16 samples: [0-9]+ nodes, [0-9.]+ GB of own bytes: '
expect_out_match 'predicted: H200 [0-9.]+ ms, H100 [0-9.]+ ms, A100 [0-9.]+ ms, RTX 4090 [0-9.]+ ms'
run "$train" summary --config tiny.yaml --plan --target cuda --precision bf16 --json
expect_code 0
for key in nodes own_bytes kinds predicted node_rates share memory_gbyte_per_s peak_gflops assumptions; do
  expect_out "\"$key\":"
done
run "$train" summary --config tiny.yaml --plan --json
expect_code 2
expect_err "--plan with --json gives what a step launches on a GPU: add --target cuda"
run "$train" summary --config tiny.yaml --plan --target cuda --precision fp64
expect_code 2
expect_err "not in fp64"
run "$train" summary --config tiny.yaml --target cuda
expect_code 2
expect_err "--plan"

begin "a precision that the device lacks ends with exit 8"
write_tiny_run tiny.yaml
run "$train" check --config tiny.yaml --precision fp16
expect_code 8
expect_err "'precision: fp16' needs a GPU or --device reference; the CPU computes in fp32"
run "$train" check --config tiny.yaml --set precision=tf32
expect_code 8
run "$train" --config tiny.yaml --device reference --precision bf16 --set epochs=1
expect_code 0
expect_out "Epoch 1/1"
expect_equal "$(grep precision runs/tiny/0001/config.yaml)" "precision: bf16"

begin "summary of the shipped networks has the published parameter counts"
run "$train" summary --config "$source_dir/configs/minigooglenet_cifar10.yaml"
expect_code 0
expect_out "1,652,826"
expect_out "234,597,920"
run "$train" summary --config "$source_dir/configs/resnet_cifar10.yaml" --set network.vars.n=3
expect_code 0
expect_out "40,813,184"

begin "schema prints a draft-07 JSON Schema and the reference, for runs and networks"
run "$train" schema
expect_code 0
expect_out "draft-07"
expect_out '"epochs"'
run "$train" schema --network
expect_code 0
expect_out '"filters"'
run "$train" schema --reference
expect_code 0
expect_out "epochs"
# shellcheck disable=SC2016 # backticks of Markdown
expect_equal "$(grep -A2 '^### `data.val' <<<"$out")" '### `data.val`

As `data.train`.'

begin "bench prints one JSON line with the numbers"
write_tiny_run tiny.yaml
run "$train" bench --config tiny.yaml --batch 16 --windows 1 --seconds 0.02 --json
expect_code 0
for key in net batch threads images_per_s ms_per_step forward_ms backward_ms update_ms peak_mib \
  first_step_s gflop_per_step peak_gflops share_of_peak gbyte_per_step peak_gbyte_per_s launches \
  launch_us arithmetic_floor_ms memory_floor_ms latency_floor_ms share_of_floor parameters; do
  expect_out "\"$key\":"
done
for key in launch_us latency_floor_ms; do expect_out "\"$key\":null"; done
for key in peak_gflops peak_gbyte_per_s gbyte_per_step memory_floor_ms share_of_floor; do
  expect_out_match "\"$key\":[0-9.]*[1-9]"
done

begin "bench prints the roofline of a step and the share of it that the step reaches"
write_tiny_run tiny.yaml
run "$train" bench --config tiny.yaml --batch 16 --windows 1 --seconds 0.02
expect_code 0
expect_out_match "roofline: arithmetic [0-9.]+ ms, memory [0-9.]+ ms \([0-9.]+ GB at [0-9.]+ GB/s\), latency -; [0-9]+ % of the roofline"

begin "bench --layers names the algorithm of each product, and its share of the peak"
write_tiny_run tiny.yaml
run "$train" bench --config tiny.yaml --batch 16 --windows 1 --seconds 0.02 --layers
expect_code 0
expect_out "conv1 forward_train, oneDNN"
expect_out "% of the peak"
expect_out "all else"

begin "bench --node-times is of a GPU"
write_tiny_run tiny.yaml
run "$train" bench --config tiny.yaml --gpus 0 --batch 16 --node-times nodes.jsonl
expect_code 2
expect_err "--node-times is of a GPU, and this run is on the CPU; choose one with --gpus"
expect_no_path nodes.jsonl

begin "bench --compare prints another program's throughput next to ours"
write_tiny_run tiny.yaml
printf '%s\n' '{"hardware": "none"}' \
  '{"peer": "other 1.0", "mode": "fp32", "net": "tiny", "batch": 16, "images_per_s": 0.5}' >peer.jsonl
run "$train" bench --config tiny.yaml --batch 16 --windows 1 --seconds 0.02 --compare peer.jsonl
expect_code 0
expect_out "vs. other 1.0, fp32: 0.5 images/s, ratio "
run "$train" bench --config tiny.yaml --batch 16 --windows 1 --seconds 0.02 --compare peer.jsonl --json
expect_out '"peers":[{"peer":"other 1.0, fp32","images_per_s":0.5,"ratio":'
run "$train" bench --config tiny.yaml --batch 8 --compare peer.jsonl
expect_code 4
expect_err 'peer.jsonl: no line has "net": "tiny", "batch": 8 and "images_per_s"'

begin "bench --compare with a missing file suggests the nearest one"
write_tiny_run tiny.yaml
echo >peers.jsonl
run "$train" bench --config tiny.yaml --compare peer.jsonl
expect_code 4
expect_err "--compare: there is no file 'peer.jsonl'; did you mean 'peers.jsonl'?"

begin "bench reports the cost of shards, for a batch that they divide"
write_tiny_run tiny.yaml
shards=(--set 'batch={total: 32, shards: 4}')
run "$train" bench --config tiny.yaml --batch 16 --windows 1 --seconds 0.02 "${shards[@]}"
expect_code 0
expect_out_match 'shards 4: [0-9.]+ ms per step vs\. [0-9.]+ ms in one pass, [0-9.]+ times as long'
run "$train" bench --config tiny.yaml --batch 16 --windows 1 --seconds 0.02 "${shards[@]}" --json
expect_code 0
expect_out_match '"shards":4,"shards_ms_per_step":[0-9.]*[1-9][0-9.]*,"shards_ratio":[0-9.]*[1-9]'
run "$train" bench --config tiny.yaml --batch 18 "${shards[@]}"
expect_code 2
expect_err "a batch of 18 samples is not divisible by 'batch.shards: 4'; give a --batch that is a multiple of 4"
run "$train" bench --config tiny.yaml --batch 16 --windows 1 --seconds 0.02 --json
expect_no_out '"shards'

begin "the shipped configs are found by name and expand"
for config in "$source_dir"/configs/*.yaml; do
  run "$train" summary --config "$config"
  expect_code 0
  expect_equal "$(grep -c 'yaml-language-server' "$config")" 1
done

begin "an installed program finds the shipped configs by name, lists them with those of this folder, and has manual pages and completions"
run cmake --install "$(dirname "$train")/.." --prefix "$PWD/prefix"
expect_code 0
for file in man/man1/train.1 man/man1/train-find-lr.1 bash-completion/completions/train \
  zsh/site-functions/_train zsh/vendor-completions/_train fish/vendor_completions.d/train.fish; do
  expect_file "prefix/share/$file"
done
mkdir elsewhere
cd elsewhere || exit 1
run ../prefix/bin/train summary --config quickstart
expect_code 0
expect_out "global_avg_pool1"
mkdir -p configs models
printf '# yaml-language-server: x\n# A tiny run: of\n# no use.\nname: tiny\n' >configs/tiny.yaml
printf '# A network of one\n# layer. It learns nothing.\n' >models/tiny_net.yml
run ../prefix/bin/train configs
expect_code 0
expect_out_match '^configs:
  tiny  +A tiny run
models:
  tiny_net  +A network of one layer
/.*/share/trainyard/configs:
  airbench94_cifar10 '
for file in "$source_dir"/configs/*.yaml "$source_dir"/models/*.yaml; do
  grep -qx "  $(basename "$file" .yaml)\( .*\)\?" <<<"$out" || fail "expected $file"
done
expect_equal "$(awk 'length > 100' <<<"$out")" ""

begin "where no config is found, configs says where it looked"
mkdir ../empty
cd ../empty || exit 1
run "$train" configs
expect_code 3
expect_err "no configs or networks were found (looked at 'configs', 'models', '"

finish 24 0
