#!/usr/bin/env bash
# What a run does between its steps and epochs: averaged weights, training metrics of a clean pass.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

flags=(--set 'average={ema: 0.9, warmup: true}' --set 'train_eval={every: every 2 epochs, samples: 33}'
  --set 'checkpoint={every: 4 steps}' --set epochs=6 --set data.train.size=480 --set output.classes=true)

newest() { echo "$1/checkpoints/$(cat "$1/checkpoints/last")"; }

# same_results A B: every result of two runs is equal, times aside.
same_results() {
  local file
  expect_equal "$(untimed "$1/metrics.csv")" "$(untimed "$2/metrics.csv")"
  for file in weights/last.safetensors weights/best.safetensors eval/classes.csv eval/confusion.csv \
    eval/mistakes.csv statistics.safetensors; do
    expect_same_file "$1/$file" "$2/$file"
  done
  for file in weights trained optimizer; do
    expect_same_file "$(newest "$1")/$file.safetensors" "$(newest "$2")/$file.safetensors"
  done
}

begin "a run with an average and a clean pass, killed and resumed, ends with the same files"
write_tiny_run tiny.yaml
run "${quick[@]}" --config tiny.yaml --out whole "${flags[@]}"
expect_code 0
for after in 1 4; do
  run_until "Epoch $after/6" "${quick[@]}" --config tiny.yaml --out "killed$after" "${flags[@]}"
  kill -KILL "$pid"
  wait_for_exit
  expect_code 137
  run "${quick[@]}" resume "killed$after"
  expect_code 0
  same_results whole "killed$after"
done
run "${quick[@]}" --config tiny.yaml --out other "${flags[@]}" --set seed=43
expect_other_file whole/weights/last.safetensors other/weights/last.safetensors

begin "the clean pass has columns, filled in every second epoch, on the line and in the table"
write_tiny_run tiny.yaml
run "${quick[@]}" --config tiny.yaml --out a "${flags[@]}"
expect_equal "$(head -n 1 a/metrics.csv | cut -d, -f 4-11)" \
  loss,accuracy,val_loss,val_accuracy,clean_loss,clean_accuracy,lr,grad_norm
expect_equal "$(tail -n +2 a/metrics.csv | awk -F, '{print ($8 != "") ($9 != "")}' | xargs)" "00 11 00 11 00 11"
expect_out_match "Epoch 2/6 .* - clean_loss: [0-9.e-]+ - clean_accuracy: [0-9.]+ - lr: "
expect_equal "$(grep -c clean_loss a/train.log)" 3

begin "the judged copy is saved as the weights, and is what --init takes"
write_tiny_run tiny.yaml
run "${quick[@]}" --config tiny.yaml --out a "${flags[@]}"
expect_out "parameters, their average (ema 0.9) is evaluated and saved"
expect_equal "$(grep -o '"judged_weights": "[a-z]*"' a/run.json)" '"judged_weights": "average"'
# Both hold the same tensors under different headers.
expect_equal "$(tail -c 2000 a/weights/last.safetensors | cksum)" \
  "$(tail -c 2000 "$(newest a)/weights.safetensors" | cksum)"
expect_other_file "$(newest a)/weights.safetensors" "$(newest a)/trained.safetensors"
run "${quick[@]}" --config tiny.yaml --out b --init a/weights/last.safetensors --set epochs=1
expect_code 0
expect_out "init: loaded all 8 tensors of the network from a/weights/last.safetensors"
run "${quick[@]}" --config tiny.yaml --out c "${flags[@]}" --set average.judged=trained
expect_out "parameters, evaluated and saved as trained, not their average (ema 0.9)"
expect_same_file "$(newest c)/weights.safetensors" "$(newest a)/trained.safetensors"
expect_same_file "$(newest c)/average.safetensors" "$(newest a)/weights.safetensors"
run "${quick[@]}" --config tiny.yaml --out d --set epochs=6 --set data.train.size=480
expect_same_file d/weights/last.safetensors c/weights/last.safetensors
expect_same_file "$(newest d)/weights.safetensors" "$(newest a)/trained.safetensors"
expect_equal "$(cut -d, -f 1-5 d/metrics.csv)" "$(cut -d, -f 1-5 a/metrics.csv)"

begin "the memory of a plan counts the average, a second copy of the weights"
write_tiny_run tiny.yaml
sed -i 's/dense: 4/dense: 1024\n    - dense: 4/' tiny.yaml
weights() { grep -o '[0-9.]* weights' <<<"$out" | cut -d ' ' -f 1; }
run "$train" summary --plan tiny.yaml
expect_equal "$(weights)" 0.5
run "$train" summary --plan tiny.yaml --set average.ema=0.9
expect_equal "$(weights)" 1.0

begin "with shards, two ranks average and measure as one"
write_tiny_run tiny.yaml
for ranks in 1 2; do
  run "${quick[@]}" --config tiny.yaml --out "ranks$ranks" --replicas "$ranks" "${flags[@]}" \
    --set 'batch={total: 16, shards: 2}'
  expect_code 0
done
same_results ranks1 ranks2

finish 5 0
