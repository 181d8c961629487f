#!/usr/bin/env bash
# train bench --suite: its table, CSV and chart, what it says of rows that cannot be measured, and what it
# refuses; train bench --inference. One cheap row, and never the whole suite.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

short=(--windows 1 --seconds 0.02 --threads 1)

begin "a row is measured on the CPU, and the published rates stand beside it"
cp -r "$source_dir/configs" "$source_dir/models" .
run "$train" bench --suite keras-mxnet --rows lstm_synthetic --gpus 0 "${short[@]}" --plot lstm.svg
expect_code 0
expect_err "lstm_synthetic: CPU"
expect_out "LSTM, synthetic (lstm_synthetic), seq/s, training"
expect_out_match "  CPU +train +[0-9.]+  .*, 1 thread"
expect_out_match "Keras-MXNet +2083  c5.18xlarge \(36 cores\)"
expect_out_match "  8 GPUs +Keras-MXNet +2632  p3.16xlarge \(8 V100\)"
expect_equal "$(head -n 1 lstm.csv)" "suite,row,config,task,by,hardware,device,ranks,batch,images_per_s,low,high,speedup,unit,step_ms,data_ms,compute_ms,communication_ms,versions,source,state,reason"
expect_equal "$(wc -l <lstm.csv)" 10
expect_equal "$(grep -c ',measured,$' lstm.csv)" 1
grep -qE 'keras-mxnet,"LSTM, synthetic",lstm_synthetic,training,train,.*,cpu,1,128,[0-9.]+,[0-9.]+,[0-9.]+,,seq,.*"train [0-9].*, oneDNN [0-9].*",,measured,$' lstm.csv ||
  fail "no measured line in the CSV: $(cat lstm.csv)"
grep -q "LSTM, synthetic" lstm.svg || fail "the chart has no panel for the row"
expect_file lstm.gp

begin "rows without their data or GPUs say so in the table and in the CSV"
cp -r "$source_dir/configs" "$source_dir/models" .
run env PATH=/nonexistent "$train" bench --suite keras-mxnet --rows lstm_nietzsche,lstm_synthetic --scaling 1,4 "${short[@]}"
expect_code 0
expect_err "lstm_nietzsche: 4 GPUs"
expect_err "  not measured: "
expect_err "gnuplot was not found"
expect_out_match 'LSTM, Nietzsche .*  CPU +train +-  not measured: .*nietzsche.txt'
expect_out_match '  1 GPU +train +-  not measured: .*(GPU|driver)'
expect_equal "$(grep -c ',not measured,.' keras-mxnet.csv)" 5
expect_equal "$(grep -c ',measured,$' keras-mxnet.csv)" 1
run "$train" bench --suite keras-mxnet --rows lstm_nietzsche --gpus 0 "${short[@]}" --json
expect_code 4
expect_out '"state":"not measured"'
expect_equal "$(grep -c '"state":"published"' <<<"$out")" 8

begin "inference is measured for a suite and for a run"
cp -r "$source_dir/configs" "$source_dir/models" .
write_tiny_run tiny.yaml
run "$train" bench --suite keras-mxnet --rows lstm_synthetic --gpus 0 --inference "${short[@]}" --json
expect_code 0
expect_out '"task":"inference"'
expect_equal "$(wc -l <<<"$out")" 1
run "$train" bench --config tiny.yaml --gpus 0 --scaling 1,2 --rounds 1 --inference --windows 1 --seconds 0.02
expect_code 0
expect_out_match '  2 +[0-9.]+ '
expect_equal "$(cut -d, -f13,15 scaling.csv | tail -n +2 | sort -u)" "0,0"

begin "what a suite cannot be or do is refused"
write_tiny_run tiny.yaml
refused() {
  run "$train" bench "${@:2}"
  expect_code 2
  expect_err "$1"
}
mkdir -p configs/suites
cp "$source_dir/configs/suites/keras-mxnet.csv" configs/suites
sed '2s/,13,/,x,/' configs/suites/keras-mxnet.csv >configs/suites/bad.csv
run "$train" bench --suite bad
expect_code 3
expect_err "configs/suites/bad.csv:2: images_per_s: 'x' is not a number above 0"
rm configs/suites/bad.csv
refused "there is no suite 'keras'; known: keras-mxnet" --suite keras
refused "keras-mxnet has no row 'lstm'; it has resnet50_synthetic," --suite keras-mxnet --rows lstm
refused "--config" --suite keras-mxnet --config tiny.yaml
refused "--layers" --suite keras-mxnet --layers
refused "--node-times" --suite keras-mxnet --node-times nodes.jsonl
refused "--hosts" --suite keras-mxnet --hosts hosts.txt
refused "--rows" --config tiny.yaml --rows lstm_synthetic
refused "--inference needs --scaling or --suite" --config tiny.yaml --inference
refused "bench needs a run file, --config FILE, or a suite, --suite keras-mxnet"
refused "'0' is not a number of ranks" --suite keras-mxnet --scaling 0

begin "Ctrl-C ends it, and nothing is written"
cp -r "$source_dir/configs" "$source_dir/models" .
run_until "lstm_synthetic: CPU" "$train" bench --suite keras-mxnet --rows lstm_synthetic --gpus 0 --seconds 60
sleep 1
kill -INT "$pid"
wait_for_exit
expect_code 130
expect_no_path keras-mxnet.csv

finish 5 0
