#!/usr/bin/env bash
# Checkpoints: which one is used, which are refused.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

checkpoints() { find a/checkpoints -mindepth 1 -maxdepth 1 -type d | sort; }

begin "a finished run says that nothing is left, and trains further on request"
finished_run
cp -r a before
for way in "resume a" "--config tiny.yaml --out a --resume"; do
  read -ra words <<<"$way"
  run "${quick[@]}" "${words[@]}"
  expect_code 0
  expect_out "the run a is complete: 3 of 3 epochs trained, nothing was changed; to add epochs: train resume 'a' --set epochs=N, with N above 3"
  diff -r a before || fail "'$way' changed the folder of a complete run"
done
run "${quick[@]}" resume a --log json
expect_out '{"event":"complete","run":"a","message":"the run a is complete'
run "${quick[@]}" resume a --set epochs=5
expect_code 0
expect_equal "$(wc -l <a/metrics.csv | tr -d ' ')" 6

begin "a run of 2.5 epochs ends within the third, resumes exactly and cannot be extended"
write_tiny_run tiny.yaml
run "${quick[@]}" --config tiny.yaml --out a --set epochs=2.5
expect_code 0
steps_per_epoch=$(tail -n +2 a/metrics.csv | head -1 | cut -d , -f 2)
expect_equal "$(tail -1 a/metrics.csv | cut -d , -f 1,2)" "3,$(((5 * steps_per_epoch + 1) / 2))"
run "${quick[@]}" --config tiny.yaml --out b --set epochs=2.5 --max-time 0.001
expect_code 75
run "${quick[@]}" resume b
expect_code 0
expect_same_file a/weights/last.safetensors b/weights/last.safetensors
run "${quick[@]}" --config tiny.yaml --out c --set "steps=$(((5 * steps_per_epoch + 1) / 2))"
expect_code 0
expect_same_file a/weights/last.safetensors c/weights/last.safetensors
run "${quick[@]}" resume a
expect_out "the run a is complete: 3 of 3 epochs trained, nothing was changed"
expect_no_out "to add epochs"
cp -r a before
run "${quick[@]}" resume a --set epochs=4
expect_code 2
expect_err "the run a is complete and ended within epoch 3, so it cannot be extended; start a new run with its weights: train --config a/config.yaml --init a"
diff -r a before || fail "the folder of a complete run was changed"

begin "a run that stopped early is complete, and trains further with more patience"
write_tiny_run tiny.yaml
run "${quick[@]}" --config tiny.yaml --out a --set epochs=9 --set 'early_stop={patience: 1, min_delta: 9}'
expect_code 0
cp -r a before
run "${quick[@]}" resume a
expect_code 0
expect_out "it stopped early after 2 of 9 epochs"
diff -r a before || fail "the folder of a complete run was changed"
run "${quick[@]}" resume a --set early_stop.patience=2
expect_code 0
expect_equal "$(wc -l <a/metrics.csv | tr -d ' ')" 4

begin "changes made by a resume stay with the run, and metrics.changes.csv records them"
write_tiny_run tiny.yaml
run "${quick[@]}" --config tiny.yaml --out a --max-time 0.001
expect_code 75
cp a/config.yaml first.yaml
run "${quick[@]}" resume a --set epochs=4 --set optimizer.sgd.lr=0.001 --max-time 0.001
expect_code 75
expect_same_file a/config.1.yaml first.yaml
expect_equal "$(grep -c -e '^epochs: 4' -e 'lr: 0.001' a/config.yaml)" 2
run "${quick[@]}" resume a
expect_code 0
expect_equal "$(wc -l <a/metrics.csv | tr -d ' ')" 5
[[ ! -e a/config.2.yaml ]] || fail "a resume without changes saved a config"
run "${quick[@]}" resume a --set epochs=5
expect_code 0
expect_equal "$(cut -d , -f 1,3- a/metrics.changes.csv | sort)" "$(printf '%s\n' \
  1,epochs,3,4,config.1.yaml 1,optimizer.sgd.lr,0.05,0.001,config.1.yaml \
  5,epochs,4,5,config.2.yaml epoch,key,before,after,former_config | sort)"
expect_equal "$(grep -c '"former_config": "config.[12].yaml"' a/run.json)" 2

begin "a resume that is refused leaves the config as it was"
finished_run
cp a/config.yaml first.yaml
run "${quick[@]}" resume a --set epochs=4 --set 'checkpoint.best={metric: val_lots}'
expect_differs "$code" 0
expect_same_file a/config.yaml first.yaml
[[ ! -e a/config.1.yaml ]] || fail "a refused resume saved a config"

begin "--resume with the config of another run is refused with the differences"
finished_run
sed -e 's/lr: 0.05/lr: 0.2/' -e 's/filters: 8/filters: 9/' tiny.yaml >other.yaml
cp -r a before
run "${quick[@]}" --config other.yaml --out a --resume --set epochs=4
expect_code 2
expect_err "--resume: other.yaml is not the config of a"
expect_err "optimizer.sgd.lr: 0.05 -> 0.2"
expect_err "network.layers[0].conv.filters: 8 -> 9"
diff -r a before || fail "a refused resume changed the folder"
run "${quick[@]}" --config tiny.yaml --out a --resume --set epochs=4
expect_code 0

begin "a run that began with another library or instruction set is resumed with a warning"
finished_run
grep -q '"libraries": "oneDNN [23]' a/run.json || fail "run.json names no library"
sed -i 's/"instruction_set": "[^"]*"/"instruction_set": "other"/' a/run.json
run "${quick[@]}" resume a --set epochs=4
expect_code 0
expect_err 'the run was started with instruction_set "other" and continues with "x86-64-v'
echo '{' >a/run.json
run "${quick[@]}" resume a --set epochs=5
expect_code 0
expect_err "it is not known whether the run began on a machine like this"

begin "a damaged checkpoint is skipped with a warning for the one before"
finished_run
newest=$(checkpoints | tail -n 1)
file=$(find "$newest" -name '*.safetensors' | head -n 1)
printf 'x' | dd of="$file" bs=1 seek=300 conv=notrunc status=none
run "${quick[@]}" resume a --set epochs=4
expect_code 0
expect_err "${newest##*/}"
expect_equal "$(wc -l <a/metrics.csv | tr -d ' ')" 5

begin "a checkpoint without its manifest is skipped"
finished_run
newest=$(checkpoints | tail -n 1)
rm "$newest"/MANIFEST.json
run "${quick[@]}" resume a --set epochs=4
expect_code 0
expect_err "${newest##*/}"

begin "if every checkpoint is damaged, resume ends with exit 9"
finished_run
for folder in $(checkpoints); do
  for file in "$folder"/*; do truncate -s 10 "$file"; done
done
run "${quick[@]}" resume a --set epochs=4
expect_code 9
expect_err "a/checkpoints"

begin "a checkpoint of another run with the same config is refused, naming both runs"
finished_run
id_of() { sed -n 's/^ *"id": "\([0-9a-f]*\)".*/\1/p' "$1/run.json"; }
run "${quick[@]}" --config tiny.yaml --out b --set epochs=4
expect_code 0
own=$(id_of a)
foreign=$(id_of b)
expect_equal "${#own}" 32
expect_differs "$own" "$foreign"
last=$(<b/checkpoints/last)
cp -r "b/checkpoints/$last" a/checkpoints/
run "${quick[@]}" resume a --set epochs=5
expect_code 9
expect_err "a/checkpoints/$last: is a checkpoint of run $foreign, but 'a' is run $own; move it away"
expect_err "train --config FILE --init a/checkpoints/$last"
rm -r "a/checkpoints/$last"
run "${quick[@]}" resume a --set epochs=4
expect_code 0
grep -q "\"run\": \"$own\"" "a/checkpoints/$(<a/checkpoints/last)/MANIFEST.json" ||
  fail "a resumed run saves under a different id"

begin "a folder that is not a run is refused"
mkdir a
run "${quick[@]}" resume a
expect_differs "$code" 0
expect_err "a"
run "${quick[@]}" resume nowhere
expect_differs "$code" 0
expect_err "nowhere"

begin "a change of shape is refused"
finished_run
run "${quick[@]}" resume a --set epochs=4 --set 'network.layers=[dense: 4]'
expect_differs "$code" 0
expect_no_err "internal error"

begin "--resume continues the newest unfinished run of the config"
write_tiny_run tiny.yaml
run "${quick[@]}" --config tiny.yaml --max-time 0.001 --set epochs=4
expect_code 75
run "${quick[@]}" --config tiny.yaml --resume --set epochs=4
expect_code 0
expect_equal "$(cd runs/tiny && echo *)" 0001
expect_equal "$(wc -l <runs/tiny/0001/metrics.csv | tr -d ' ')" 5

begin "--init starts from the given weights and refuses files that do not fit"
finished_run
weights=a/weights/last.safetensors
run "${quick[@]}" --config tiny.yaml --out b --init "$weights" --set epochs=1
expect_code 0
untimed a/metrics.csv | sed -n 2p >a.csv
untimed b/metrics.csv | sed -n 2p >b.csv
expect_other_file a.csv b.csv
sed 's/filters: 8/filters: 9/' tiny.yaml >wide.yaml
run "${quick[@]}" --config wide.yaml --out c --init "$weights"
expect_differs "$code" 0
expect_err "conv1"
printf 'no weights' >bad.safetensors
run "${quick[@]}" --config tiny.yaml --out d --init bad.safetensors
expect_differs "$code" 0
expect_err "bad.safetensors"

begin "shared, frozen and slower layers, without statistics of the data, resume to the same bytes"
write_tiny_run tiny.yaml
sed -i -e '/preprocess:/d' \
  -e 's/    - bn/    - {conv: {filters: 8, kernel: 3, pad: 1}, as: mix}\n    - {conv: {filters: 8, kernel: 3, pad: 1}, share: mix}\n    - bn/' \
  -e '$a freeze: [bn1]\nlr_mult: {"conv*": 0.5}' tiny.yaml
run "${quick[@]}" --config tiny.yaml --out a
expect_code 0
run "${quick[@]}" --config tiny.yaml --out b --max-time 0.001
expect_code 75
run "${quick[@]}" resume b
expect_code 0
expect_same_file a/weights/last.safetensors b/weights/last.safetensors
expect_equal "$(grep -ao 'conv[0-9].weight' a/weights/last.safetensors | sort -u | xargs)" \
  "conv1.weight conv2.weight"
run "${quick[@]}" --config tiny.yaml --out c --set freeze=[] --set 'lr_mult={}'
expect_other_file a/weights/last.safetensors c/weights/last.safetensors
run "${quick[@]}" --config tiny.yaml --set freeze=[conv9]
expect_code 3
expect_err "freeze: no layer with parameters is named by 'conv9'; did you mean 'conv1'?"

begin "statistics are stored once, and a resume takes them from the run folder"
write_tiny_run tiny.yaml
zca=(--set 'data.preprocess=[mean_rgb: train, zca: train]')
run "${quick[@]}" --config tiny.yaml --out a "${zca[@]}"
expect_code 0
expect_file a/statistics.safetensors
expect_equal "$(find a/checkpoints -name 'data.safetensors')" ""
run "${quick[@]}" --config tiny.yaml --out b "${zca[@]}" --max-time 0.001
expect_code 75
expect_same_file a/statistics.safetensors b/statistics.safetensors
cp -r b c
run "${quick[@]}" resume b
expect_code 0
expect_same_file a/weights/last.safetensors b/weights/last.safetensors
printf X | dd of=c/statistics.safetensors bs=1 seek=200 conv=notrunc 2>/dev/null
run "${quick[@]}" resume c
expect_code 9
expect_err "statistics.safetensors: the statistics have the hash"
rm c/statistics.safetensors
run "${quick[@]}" resume c
expect_code 9
expect_err "statistics.safetensors"

begin "an attempt to extend a complete run that fails before its first step leaves it complete"
for class in a b; do
  mkdir -p images/$class
  for i in 1 2 3 4; do cp "$source_dir/tests/fuzz/corpus/image/accepted/rgb.png" images/$class/$i.png; done
done
cat >run.yaml <<'YAML'
name: images
network: {input: [3, 8, 8], layers: [dense: 2, softmax]}
data:
  train: {source: image_folder, root: images, size: 8, memory_mib: 0}
  val: {source: image_folder, root: images, size: 8, memory_mib: 0, limit: 4}
batch: {per_gpu: 4}
loss: cross_entropy
optimizer: {sgd: {lr: 0.01}}
epochs: 2
threads: 1
YAML
run "${quick[@]}" --config run.yaml --out a
expect_code 0
cp -r a before
mv images away
run "${quick[@]}" resume a --set epochs=3
expect_code 4
diff -r a before || fail "an attempt without its data changed a complete run"
mv away images
for file in images/*/*.png; do # damaged behind the header: found when the first batch is decoded
  touch -r "$file" time
  printf XX | dd of="$file" bs=1 seek=48 conv=notrunc status=none
  touch -r time "$file"
done
run "${quick[@]}" resume a --set epochs=3
expect_code 4
diff -r -x train.log a before || fail "an attempt that failed in its first batch changed a complete run"
grep -q 'nothing was trained: the run is complete as before' a/train.log || fail "train.log does not tell of it"
run "${quick[@]}" resume a
expect_out "the run a is complete: 2 of 2 epochs trained"

begin "a run whose start died before its first checkpoint begins with the weights of --init again"
finished_run
run "${quick[@]}" --config tiny.yaml --out b --init a/weights/last.safetensors --set epochs=1
expect_code 0
cp -r b c
rm -r c/checkpoints c/weights c/metrics.csv c/samples.json
sed -i 's/"state": "completed"/"state": "running"/' c/status.json
cp -r c d
run "${quick[@]}" resume c
expect_code 0
expect_same_file c/weights/last.safetensors b/weights/last.safetensors
expect_same_file c/samples.json b/samples.json
cp b/weights/last.safetensors a/weights/
run "${quick[@]}" resume d
expect_code 9
expect_err "a/weights/last.safetensors: has other weights than when the run of d was started with --init a/weights/last.safetensors; nothing has been trained: start it again"

# A run whose process died after its last checkpoint was in place, in a/; the best epoch is the last.
died_at_the_end() {
  write_tiny_run tiny.yaml
  for keep in 1 2; do
    run "${quick[@]}" --config tiny.yaml --out $keep --set epochs=2 --set checkpoint.keep=$keep \
      --set checkpoint.best.metric=val_loss
    expect_code 0
  done
  mv 1 whole
  mv 2 a
  sed -i 's/keep: 2/keep: 1/' a/config.yaml
  best=$(<a/checkpoints/best)
  expect_equal "$(cat a/checkpoints/last)" "$best"
  echo epoch-0001_step-000006 | tee a/checkpoints/best >a/checkpoints/last
  rm a/weights/* a/summary.txt
  sed -i 's/"state": "completed"/"state": "saving"/' a/status.json
}

begin "a resume repairs last, best and weights/, and keeps as many checkpoints as the run says"
died_at_the_end
run "${quick[@]}" resume a
expect_code 0
for file in checkpoints/last checkpoints/best weights/last.safetensors weights/best.safetensors; do
  expect_same_file a/$file whole/$file
done
expect_equal "$(checkpoints)" "a/checkpoints/$best"
grep -v -e '^time' -e '^run' a/summary.txt >found
grep -v -e '^time' -e '^run' whole/summary.txt >expected
expect_same_file found expected

begin "a run that died after it had stopped early is not trained further by a resume"
write_tiny_run tiny.yaml
run "${quick[@]}" --config tiny.yaml --out a --set epochs=9 --set 'early_stop={patience: 1, min_delta: 9}'
expect_code 0
cp -r a whole
sed -i 's/"state": "completed"/"state": "saving"/' a/status.json
rm a/weights/* a/summary.txt
run "${quick[@]}" resume a
expect_code 0
expect_equal "$(wc -l <a/metrics.csv | tr -d ' ')" 3
expect_same_file a/weights/last.safetensors whole/weights/last.safetensors
grep -q '"state": "completed"' a/status.json || fail "the run is not complete"

begin "eval takes the checkpoint of the best epoch whatever the pointer says, and says so"
died_at_the_end
for way in stale missing garbage; do
  case $way in
    missing) rm a/checkpoints/best ;;
    garbage) echo nonsense >a/checkpoints/best ;;
  esac
  run "${quick[@]}" eval a
  expect_code 0
  expect_out "a/checkpoints/$best (epoch 2"
  expect_err_match "'a/checkpoints/best' names (no checkpoint|epoch-0001_step-000006), but the best epoch is 2, as after a run that was killed; taken: a/checkpoints/$best/weights.safetensors"
done
run "${quick[@]}" eval a/checkpoints/last
expect_code 0
expect_out "a/checkpoints/epoch-0001_step-000006 (epoch 1"
run "${quick[@]}" eval whole
expect_no_err "best"
echo epoch-0001_step-000006 >a/checkpoints/best
run "${quick[@]}" export a/checkpoints/best --safetensors out.safetensors
expect_code 0
expect_same_file out.safetensors "whole/checkpoints/$best/weights.safetensors"
expect_err "but the best epoch is 2"

begin "without the checkpoint of the best epoch eval is refused, and a resume says that it is lost"
finished_run # whose best epoch is the first
rm -r a/checkpoints/epoch-0001*
run "${quick[@]}" eval a
expect_code 9
expect_err "the checkpoint of the best epoch of 'a', 1, is missing or damaged; name the weights to take: 'a/checkpoints/last' or, as they were when the run last completed, 'a/weights/best.safetensors'"
run "${quick[@]}" predict a x.png
expect_code 9
run "${quick[@]}" eval a/weights/best.safetensors
expect_code 0
run "${quick[@]}" resume a --set epochs=4
expect_code 0
expect_err "the checkpoint of the best epoch so far, 1, is missing or damaged: there are no best weights until a later epoch is better"
expect_no_path a/checkpoints/best
rm -r a/checkpoints
run "${quick[@]}" eval a
expect_code 0
expect_err "'a' has no checkpoints; taken: a/weights/best.safetensors"

finish 23 0
