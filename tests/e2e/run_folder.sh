#!/usr/bin/env bash
# The files of a run, and that equal runs write equal files.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

header=epoch,step,samples,loss,accuracy,val_loss,val_accuracy,lr,grad_norm,skipped_steps,is_best
header+=,elapsed_s,epoch_s,images_per_s,gpu_mem_mib,gpu_util_percent,data_wait_percent

begin "a run leaves a complete folder"
write_tiny_run tiny.yaml
run "$train" --config tiny.yaml --set epochs=2 --set output.steps=true
expect_code 0
folder=runs/tiny/0001
for file in config.yaml config.orig.yaml command.txt run.json status.json metrics.csv steps.csv \
  train.log summary.txt network.txt checkpoints/last checkpoints/best; do
  expect_file "$folder/$file"
done
last=$folder/checkpoints/$(cat "$folder/checkpoints/last")
expect_file "$(find "$last" -name '*.safetensors' | head -n 1)"
expect_file "$(find "$folder/weights" -name '*.safetensors' | head -n 1)"
expect_file "$(find "$folder/plots" -name '*.png' | head -n 1)"
expect_file "$(find "$folder/plots" -name '*.svg' | head -n 1)"
expect_same_file "$folder/config.orig.yaml" tiny.yaml
"$train" summary tiny.yaml >network.txt
expect_same_file "$folder/network.txt" network.txt
expect_equal "$(find "$folder" -name '*.tmp*')" ""

begin "metrics.csv has its fixed header, one row per epoch, and LF line ends"
write_tiny_run tiny.yaml
run "$train" --config tiny.yaml --set epochs=2 --set output.steps=true
expect_equal "$(head -n 1 runs/tiny/0001/metrics.csv)" "$header"
# No GPU measurements if no GPU is used; a share of time spent waiting for data always.
expect_equal "$(tail -n 1 runs/tiny/0001/metrics.csv | grep -cE ',,,[0-9]+(\.[0-9])?$')" 1
expect_equal "$(wc -l <runs/tiny/0001/metrics.csv | tr -d ' ')" 3
expect_equal "$(cut -d, -f 1-3 runs/tiny/0001/metrics.csv | tail -n 2 | xargs)" "1,6,96 2,12,192"
expect_equal "$(tr -dc '\r' <runs/tiny/0001/metrics.csv | wc -c | tr -d ' ')" 0
expect_equal "$(wc -l <runs/tiny/0001/steps.csv | tr -d ' ')" 13

begin "metrics per class have columns, and output.classes tables that agree with the accuracy"
write_tiny_run tiny.yaml
run "$train" --config tiny.yaml --set epochs=2 --set 'metrics=[accuracy, precision, recall, f1]' \
  --set output.classes=true
expect_code 0
expect_equal "$(head -n 1 runs/tiny/0001/metrics.csv | cut -d, -f 4-13)" \
  loss,accuracy,precision,recall,f1,val_loss,val_accuracy,val_precision,val_recall,val_f1
expect_equal "$(head -n 1 runs/tiny/0001/eval/classes.csv)" \
  class,name,samples,predicted,right,precision,recall,f1,auc
right=$(tail -n +2 runs/tiny/0001/eval/classes.csv | awk -F, '{r += $5; n += $3} END {print r / n}')
expect_equal "$right" "$(tail -n 1 runs/tiny/0001/metrics.csv | cut -d, -f 10)"
recall=$(tail -n +2 runs/tiny/0001/eval/classes.csv | awk -F, '{r += $7} END {printf "%.6f", r / NR}')
expect_equal "$recall" "$(tail -n 1 runs/tiny/0001/metrics.csv | cut -d, -f 12 | xargs printf %.6f)"
expect_equal "$(tail -n +2 runs/tiny/0001/eval/confusion.csv | tr , '\n' | awk '/^[0-9]+$/ {n += $1} END {print n}')" \
  "$(tail -n +2 runs/tiny/0001/eval/classes.csv | awk -F, '{n += $3 + $1} END {print n}')"

wrong=$(tail -n +2 runs/tiny/0001/eval/classes.csv | awk -F, '{w += $3 - $5} END {print w}')
expect_equal "$(head -n 1 runs/tiny/0001/eval/mistakes.csv)" sample,label,predicted,probability
expect_equal "$(tail -n +2 runs/tiny/0001/eval/mistakes.csv | awk -F, '$2 != $3 && $4 > 0.25' | wc -l | tr -d ' ')" "$wrong"

begin "stdout has one line per epoch in the documented form"
write_tiny_run tiny.yaml
run "$train" --config tiny.yaml --set epochs=2
number='[0-9]+\.[0-9]{4}(e[-+][0-9]+)?'
expect_out_match "Epoch 1/2 - .*loss: $number - accuracy: $number - val_loss: $number - val_accuracy: $number - lr: 5\.000e-02"
expect_out "Epoch 2/2"
expect_no_out $'\033'
expect_no_err $'\033'

begin "the next run takes the next number"
write_tiny_run tiny.yaml
run "$train" --config tiny.yaml --set epochs=1
run "$train" --config tiny.yaml --set epochs=1
expect_code 0
expect_equal "$(cd runs/tiny && echo *)" "0001 0002"

begin "two runs with one seed differ only in times, and another seed gives another run"
write_tiny_run tiny.yaml
"$train" --config tiny.yaml --out a >/dev/null 2>&1
"$train" --config tiny.yaml --out b >/dev/null 2>&1
"$train" --config tiny.yaml --out c --set seed=7 >/dev/null 2>&1
for folder in a b c; do untimed $folder/metrics.csv >$folder.csv; done
expect_file a.csv
expect_same_file a.csv b.csv
expect_other_file a.csv c.csv
for folder in a b c; do cp $folder/weights/last.safetensors $folder.weights; done
expect_same_file a.weights b.weights
expect_other_file a.weights c.weights

begin "config.yaml of a run can be run again with the same result"
write_tiny_run tiny.yaml
run "$train" --config tiny.yaml --out a --set epochs=2
expect_code 0
run "$train" --config a/config.yaml --out b
expect_code 0
untimed a/metrics.csv >a.csv
untimed b/metrics.csv >b.csv
expect_file a.csv
expect_same_file a.csv b.csv
expect_same_file a/config.yaml b/config.yaml

begin "loader threads do not change a run"
write_tiny_run tiny.yaml
for workers in 0 1 4; do
  run "$train" --config tiny.yaml --out w$workers --set data.workers=$workers
  expect_code 0
  untimed w$workers/metrics.csv >w$workers.csv
done
expect_file w0.csv
expect_same_file w0.csv w1.csv
expect_same_file w0.csv w4.csv

begin "a non-empty folder is not written to"
write_tiny_run tiny.yaml
mkdir out
echo mine >out/notes.txt
run "$train" --config tiny.yaml --out out
expect_differs "$code" 0
expect_err "out"
expect_equal "$(ls out)" notes.txt

begin "--plot, also as --output, draws the curves to the given path"
write_tiny_run tiny.yaml
run "$train" --config tiny.yaml --set epochs=2 --plot curves.png
expect_code 0
expect_equal "$(head -c 4 curves.png | tail -c 3)" PNG
run "$train" --config tiny.yaml --set epochs=2 --output curves.svg
expect_code 0
expect_equal "$(grep -c '<svg' curves.svg)" 1

begin "the weights of the last and of the best epoch are saved side by side"
write_tiny_run tiny.yaml
run "$train" tiny.yaml --out a
expect_code 0
expect_equal "$(cat a/checkpoints/best)" epoch-0001_step-000006
run "$train" tiny.yaml --out b --epochs 1 # at the same learning rate
expect_code 0
expect_same_file a/weights/best.safetensors b/weights/last.safetensors
expect_other_file a/weights/best.safetensors a/weights/last.safetensors
expect_same_file b/weights/best.safetensors b/weights/last.safetensors

begin "summary.txt says what flags changed, and both validation values of the best epoch"
write_tiny_run tiny.yaml
run "$train" tiny.yaml --out a --seed 7 --epochs 2 --set checkpoint.best.metric=val_loss
expect_code 0
expect_equal "$(head -n 1 a/summary.txt)" "run: a (set: checkpoint.best.metric=val_loss, seed=7, epochs=2)"
expect_equal "$(grep -c '^best: val_loss [0-9.]*, val_accuracy [0-9.]* (epoch [12])$' a/summary.txt)" 1
expect_equal "$(tr -d '\n ' <a/run.json | grep -c '"overrides":\["checkpoint.best.metric=val_loss","seed=7","epochs=2"\]')" 1
run "$train" resume a --set epochs=3
expect_code 0
expect_equal "$(head -n 1 a/summary.txt)" "run: a (set: checkpoint.best.metric=val_loss, seed=7, epochs=3)"
expect_equal "$(grep -c '^best: val_loss [0-9.]*, val_accuracy ' a/summary.txt)" 1

begin "-q prints errors only"
write_tiny_run tiny.yaml
run "$train" --config tiny.yaml --set epochs=1 -q
expect_code 0
expect_equal "$err" ""

begin "--log json prints one object per line"
write_tiny_run tiny.yaml
run "$train" --config tiny.yaml --set epochs=2 --log json
expect_code 0
expect_equal "$(grep -c '^{.*"val_loss":.*}$' <<<"$out")" 2

begin "a non-finite loss ends with exit 5, names the layer, and does not save such weights"
write_tiny_run tiny.yaml
run "$train" --config tiny.yaml --set optimizer.sgd.lr=1e30 --set epochs=5
expect_code 5
expect_err_match 'layer|dense1|conv1|bn1'
expect_equal "$(find runs -name '*.safetensors' -path '*checkpoints*' | wc -l | tr -d ' ')" 0

begin "early stop ends well before the last epoch"
write_tiny_run tiny.yaml
run "$train" --config tiny.yaml --set epochs=50 --set optimizer.sgd.lr=0 \
  --set early_stop.patience=2
expect_code 0
expect_equal "$(wc -l <runs/tiny/0001/metrics.csv | tr -d ' ')" 4

begin "with closed standard streams no console text ends up in the run's files"
write_tiny_run tiny.yaml
PATH=/nonexistent "$train" --config tiny.yaml --out a <&- >&- 2>&-
expect_equal $? 0
expect_equal "$(cut -d, -f 1 a/metrics.csv | xargs)" "epoch 1 2 3"
expect_equal "$(grep -rlI 'Epoch 1/3' a)" a/train.log
run env PATH=/nonexistent "$train" resume a --set epochs=5
expect_code 0
expect_equal "$(cut -d, -f 1 a/metrics.csv | xargs)" "epoch 1 2 3 4 5"

begin "an invalid line in metrics.csv stops a resume with its position, and nothing is lost"
write_tiny_run tiny.yaml
run env PATH=/nonexistent "$train" --config tiny.yaml --out a
sed -i '2a Epoch 1/3 - loss: 1' a/metrics.csv
cp a/metrics.csv before.csv
run env PATH=/nonexistent "$train" resume a --set epochs=5
expect_code 9
expect_err "a/metrics.csv:3:1: this is not a row of the table: found 'Epoch 1/3 - loss: 1'"
expect_same_file a/metrics.csv before.csv
sed -i 3d a/metrics.csv
run env PATH=/nonexistent "$train" resume a --set epochs=5
expect_code 0
sed -i 3d a/metrics.csv
run env PATH=/nonexistent "$train" resume a --set epochs=6
expect_code 0
expect_err "metrics.csv lacks rows from before the resume: 2;"

begin "pipes, devices and folders in place of a run's files give a message, never a hang"
write_tiny_run tiny.yaml
run env PATH=/nonexistent "$train" --config tiny.yaml --out a
for file in train.log metrics.csv .lock .tmp-status.json; do
  for kind in pipe device folder; do
    cp -r a b
    rm -f b/$file
    case $kind in
      pipe) mkfifo b/$file ;;
      device) ln -s /dev/null b/$file ;;
      folder) mkdir b/$file ;;
    esac
    run env PATH=/nonexistent "$train" resume b --set epochs=4
    if [[ $file == .tmp-* ]]; then
      expect_code 0
    else
      expect_code 7
      expect_err "b/$file"
    fi
    rm -rf b
  done
done

begin "a pipe in place of any file of the folder is avoided or named"
write_tiny_run tiny.yaml
run env PATH=/nonexistent "$train" --config tiny.yaml --out a
mapfile -t files < <(cd a && find . -type f -printf '%P\n' | sort)
for file in "${files[@]}"; do
  cp -r a b
  rm b/"$file"
  mkfifo b/"$file"
  run env PATH=/nonexistent "$train" resume b --set epochs=4
  case $code in
    0) ;;
    2 | 7 | 9) expect_err_match "b/$file|'b' .* no $file" ;;
    *) fail "a pipe in place of $file" ;;
  esac
  rm -r b
done

begin "a folder left by a failed start can be used again"
write_tiny_run tiny.yaml
# shellcheck disable=SC2016  # expanded by the inner shell
run env PATH=/nonexistent /bin/bash -c 'ulimit -f 1; exec "$0" "$@"' "$train" --config tiny.yaml --out a
expect_code 7
expect_no_path a/config.yaml
run env PATH=/nonexistent "$train" --config tiny.yaml --out a
expect_code 0
expect_file a/config.yaml

finish 21 0
