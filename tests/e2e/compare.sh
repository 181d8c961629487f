#!/usr/bin/env bash
# compare, diff, plot and find-lr: runs read back, and what they say of runs that ended in any way.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# Three runs for all cases: two that completed, one that diverged.
cd "$scratch" || exit 1
write_tiny_run tiny.yaml
tiny() { env PATH=/nonexistent "$train" "$scratch/tiny.yaml" -q --set output.steps=true "$@" 2>/dev/null; }
tiny --set optimizer.sgd.lr=0.05
tiny --set optimizer.sgd.lr=0.1
tiny --set optimizer.sgd.lr=1e30
made=$scratch/runs
runs() { cp -r "$made" runs; }

begin "compare lists every run, with the keys that differ, its state and its exit code"
runs
run "$train" compare 'runs/*'
expect_code 0
expect_out_match "run +state +epoch +best val_accuracy +at .*optimizer.sgd.lr"
expect_out_match "runs/tiny/0001  complete +3/3 .* 0\.05  \*"$'\n'
expect_out_match "runs/tiny/0003  diverged \(5\) +0/3 .* 1e\+30"
expect_equal "$err" ""
run "$train" compare runs --csv table.csv --json
expect_code 0
expect_out '"keys":["optimizer.sgd.lr"]'
expect_equal "$(head -n 1 table.csv)" "run,state,exit_code,epoch,epochs,best_metric,best,best_epoch,elapsed_s,images_per_s,last_loss,best_loss,last_accuracy,best_accuracy,last_val_loss,best_val_loss,last_val_accuracy,best_val_accuracy,optimizer.sgd.lr"
expect_equal "$(sed -n 4p table.csv)" "runs/tiny/0003,diverged,5,0,3,,,,,,,,,,,,,,1e+30"
run "$train" compare runs/tiny/0001 --keys seed,batch.per_gpu
expect_out_match "time +seed +batch.per_gpu"$'\n'".* 42 +16$"

begin "compare has a row for killed runs, for runs without a status and for damaged ones"
runs
sed -i 's/"state": "completed"/"state": "running"/; s/"exit_code": 0/"exit_code": null/' runs/tiny/0001/status.json
rm runs/tiny/0002/status.json
echo "x,y" >>runs/tiny/0002/metrics.csv
run "$train" compare runs
expect_code 0
expect_out_match "runs/tiny/0001  dead +3/3"
expect_out_match "runs/tiny/0002  unknown"
expect_err "train: warning: 'runs/tiny/0002' has no status.json: how its run ended is not known"
expect_err "train: warning: runs/tiny/0002/metrics.csv:5:1: expected"

begin "arguments without a run are refused by compare, diff and plot alike"
mkdir empty
for verb in compare plot; do
  run "$train" "$verb" 'nothing/*'
  expect_code 2
  expect_err "train: error: no run matches 'nothing/*'"
  run "$train" "$verb" empty
  expect_code 2
  expect_err "'empty' is not a run folder, and there are no runs in it"
  run "$train" "$verb" emtpy
  expect_code 2
  expect_err "there is no run folder 'emtpy'; did you mean 'empty'?"
done
run "$train" diff empty empty
expect_code 2
expect_equal "$(ls)" empty

begin "diff lists the keys and values of two resolved configs"
runs
run "$train" diff runs/tiny/0001 runs/tiny/0002
expect_code 0
expect_equal "$out" "optimizer.sgd.lr: 0.05 -> 0.1"
run "$train" diff runs/tiny/0001 runs/tiny/0002 --json
expect_equal "$out" '{"optimizer.sgd.lr":{"before":"0.05","after":"0.1"}}'
run "$train" diff runs/tiny/0001 runs/tiny/0001
expect_equal "$out" "the configs are the same"
run "$train" diff runs runs/tiny/0001
expect_code 2
expect_err "'runs' is not a run, but has runs in it: name one, such as 'runs/tiny'"
rm runs/tiny/0002/config.yaml
run "$train" diff runs/tiny/0001 runs/tiny/0002
expect_code 4
expect_err "the config of 'runs/tiny/0002' cannot be read"

begin "plot draws runs as PNG, SVG and PDF, against epochs or steps, and smooths on request"
runs
for ending in png svg pdf; do
  run "$train" plot runs -o "a.$ending"
  expect_code 0
  expect_equal "$out" "a.$ending: 3 runs"
  expect_file "a.$ending"
done
expect_equal "$(head -c 4 a.png | tail -c 3) $(head -c 4 a.pdf)" "PNG %PDF"
for word in loss accuracy lr images/s grad_norm runs/tiny/0002; do
  grep -q ">$word<" a.svg || fail "expected '$word' in a.svg"
done
run "$train" plot runs/tiny/0001 runs/tiny/0002 --steps --smooth 0.9 --curves loss,lr --title Title -o b.svg
expect_code 0
for word in loss lr step Title; do grep -q ">$word<" b.svg || fail "expected '$word' in b.svg"; done
! grep -q ">accuracy<" b.svg || fail "expected no accuracy in b.svg"
expect_equal "$(ls)" "$(printf '%s\n' a.gp a.pdf a.png a.svg b.gp b.svg runs)"

begin "plot says what it cannot draw"
runs
run "$train" plot
expect_code 2
expect_err "name run folders, or a run file with --schedule FILE"
run "$train" plot runs/tiny/0003
expect_code 4
expect_err "'runs/tiny/0003' has no finished epoch to draw"
run "$train" plot runs --curves los
expect_code 2
expect_err "--curves: no run has a column 'los'; did you mean 'loss'?"
rm runs/tiny/0001/steps.csv
run "$train" plot runs --steps
expect_code 4
expect_err "'runs/tiny/0001' has no steps.csv; runs with --set output.steps=true write it"
run "$train" plot runs -o a.jpg
expect_code 2
expect_err "--output: 'a.jpg' ends neither in .png, .svg nor .pdf"
run "$train" plot runs -o nowhere/a.png
expect_err "the folder 'nowhere' does not exist"
run env PATH=/nonexistent "$train" plot runs
expect_code 2
expect_err "gnuplot was not found"
expect_equal "$(ls)" runs

begin "plot --schedule draws the learning rates of a run file without its data"
run "$train" plot --schedule "$source_dir/configs/resnet20v1_cifar10.yaml" -o a.svg
expect_code 0
expect_equal "$out" "a.svg: resnet20v1_cifar10: 200 epochs of 1562 steps"
grep -q ">learning rate<" a.svg || fail "expected the learning rate in a.svg"
write_tiny_run tiny.yaml
run "$train" plot --schedule tiny.yaml --set epochs=7 --replicas 2 -o b.svg
expect_code 0
expect_out "b.svg: tiny: 7 epochs of 3 steps"
run "$train" plot --schedule tiny.yaml --set data.train.source=image_folder
expect_code 3
run "$train" plot --schedule "$source_dir/configs/text_lstm.yaml" --set data.train.file=a.txt
expect_code 2
expect_err "the number of samples of source 'text' is not in the file; give it with --samples N"
run "$train" plot --schedule tiny.yaml runs
expect_code 2
expect_err "leave out the run folders"

begin "find-lr raises the rate until the loss diverges, suggests one and leaves no trace"
write_tiny_run tiny.yaml
run "$train" find-lr tiny.yaml --steps 60 --from 1e-5 --to 1e6 --csv a.csv -o a.svg
expect_code 0
expect_out_match "^[0-9]+ steps, learning rate 1e-05 to [0-9.e+-]+, where the loss diverged"
expect_out_match "suggested: --set optimizer.sgd.lr=[0-9.e-]+$"
expect_equal "$(head -n 1 a.csv)" "step,lr,loss,smoothed_loss"
[[ $(wc -l <a.csv) -lt 61 ]] || fail "expected an end before step 60"
grep -q ">suggested: " a.svg || fail "expected the suggestion in a.svg"
expect_equal "$(ls)" "$(printf '%s\n' a.csv a.gp a.svg tiny.yaml)"
cp a.csv first.csv
run "$train" find-lr tiny.yaml --steps 60 --from 1e-5 --to 1e6 --csv a.csv --json
expect_out_match '"diverged":true,"lowest":[0-9.e-]+,.*"key":"optimizer.sgd.lr"'
expect_same_file a.csv first.csv
run "$train" find-lr tiny.yaml --from 1 --to 0.1
expect_code 2
expect_err "--from must be below --to"
run "$train" find-lr tiny.yaml --from 1e25 --to 1e30 --steps 3
expect_code 2
expect_err "--from"

finish 8 0
