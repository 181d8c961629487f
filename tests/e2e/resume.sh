#!/usr/bin/env bash
# Checkpoints: which one is taken, what is refused.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

quick=(env PATH=/nonexistent "$train")

# A finished run of three epochs in a/.
finished_run() {
  write_tiny_run tiny.yaml
  run "${quick[@]}" --config tiny.yaml --out a
  expect_code 0
}

checkpoints() { find a/checkpoints -mindepth 1 -maxdepth 1 -type d | sort; }

begin "a finished run has nothing to resume, says so, and trains further when told to"
finished_run
run "${quick[@]}" resume a
expect_code 0
run "${quick[@]}" resume a --set epochs=5
expect_code 0
expect_equal "$(wc -l <a/metrics.csv | tr -d ' ')" 6

begin "a run that began with another library or instruction set goes on with a warning"
finished_run
grep -q '"libraries": "oneDNN [23]' a/run.json || fail "run.json names no library"
sed -i 's/"instruction_set": "[^"]*"/"instruction_set": "other"/' a/run.json
run "${quick[@]}" resume a --set epochs=4
expect_code 0
expect_err 'the run was begun with instruction_set "other" and goes on with "x86-64-v'
echo '{' >a/run.json
run "${quick[@]}" resume a --set epochs=5
expect_code 0
expect_err "whether the run began on such a machine is not known"

begin "a damaged checkpoint is passed over with a warning for the one before"
finished_run
newest=$(checkpoints | tail -n 1)
file=$(find "$newest" -name '*.safetensors' | head -n 1)
printf 'x' | dd of="$file" bs=1 seek=300 conv=notrunc status=none
run "${quick[@]}" resume a --set epochs=4
expect_code 0
expect_err "${newest##*/}"
expect_equal "$(wc -l <a/metrics.csv | tr -d ' ')" 5

begin "a checkpoint without its manifest is none"
finished_run
newest=$(checkpoints | tail -n 1)
rm "$newest"/MANIFEST.json
run "${quick[@]}" resume a --set epochs=4
expect_code 0
expect_err "${newest##*/}"

begin "where every checkpoint is damaged, resume ends with exit 9"
finished_run
for folder in $(checkpoints); do
  for file in "$folder"/*; do truncate -s 10 "$file"; done
done
run "${quick[@]}" resume a --set epochs=4
expect_code 9
expect_err "a/checkpoints"

begin "a folder that is no run is refused"
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

begin "--resume goes on with the newest unfinished run of the config"
write_tiny_run tiny.yaml
run "${quick[@]}" --config tiny.yaml --max-time 0.001 --set epochs=4
expect_code 75
run "${quick[@]}" --config tiny.yaml --resume --set epochs=4
expect_code 0
expect_equal "$(cd runs/tiny && echo *)" 0001
expect_equal "$(wc -l <runs/tiny/0001/metrics.csv | tr -d ' ')" 5

begin "--init starts from named weights and refuses files that do not fit"
finished_run
weights=$(find a/weights -name '*.safetensors' | sort | head -n 1)
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

finish 10 0
