#!/usr/bin/env bash
# --init: the initial weights of a run, their possible sources, and the messages about them.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# A network with a wider head in wide.yaml.
write_wide_run() { sed 's/dense: 4/dense: 7/; s/classes: 4/classes: 7/' tiny.yaml >wide.yaml; }

begin "--init summarises what it loaded on the console, and lists all in the log and run.json"
finished_run
run "${quick[@]}" --config tiny.yaml --out b --init a/weights/last.safetensors --set epochs=1
expect_code 0
expect_out "init: loaded all 8 tensors of the network from a/weights/last.safetensors"
expect_out_match '
  loaded 8: [a-z0-9_.]+, [a-z0-9_.]+, [a-z0-9_.]+, [a-z0-9_.]+ and 4 more
'
expect_no_out "left new"
untimed a/metrics.csv | sed -n 2p >a.csv
untimed b/metrics.csv | sed -n 2p >b.csv
expect_other_file a.csv b.csv
grep -q 'loaded 8: .*bn1.running_var' b/train.log || fail "train.log does not name all tensors"
grep -q 'and 4 more' b/train.log && fail "train.log names some tensors only"
grep -q '"file": "a/weights/last.safetensors"' b/run.json || fail "run.json does not name the file"
run "${quick[@]}" --config tiny.yaml --out c --init a/weights/last.safetensors --set epochs=1 --log json
expect_out '"init":"init: loaded all 8 tensors'
run "${quick[@]}" --config tiny.yaml --out d --init a/weights/last.safetensors --set epochs=1 -q
expect_equal "$out" ""

begin "a run folder means its best checkpoint, a checkpoint folder itself"
finished_run
best=a/checkpoints/$(<a/checkpoints/best)
last=a/checkpoints/$(<a/checkpoints/last)
expect_differs "$best" "$last"
number=0
while read -r given read_file; do
  number=$((number + 1))
  run "${quick[@]}" --config tiny.yaml --out "b$number" --init "$given" --set epochs=1
  expect_code 0
  expect_out "tensors of the network from $read_file"
done <<END
a $best/weights.safetensors
a/ $best/weights.safetensors
a/checkpoints $best/weights.safetensors
a/weights/ $best/weights.safetensors
$best $best/weights.safetensors
$last/ $last/weights.safetensors
END
rm a/checkpoints/best
run "${quick[@]}" --config tiny.yaml --out f --init a --set epochs=1
expect_out "tensors of the network from $best/weights.safetensors"
rm -r "$best"
run "${quick[@]}" --config tiny.yaml --out c --init a --set epochs=1
expect_code 9
expect_err "the checkpoint of the best epoch of 'a', 1, is missing or damaged"
rm -r a/checkpoints
run "${quick[@]}" --config tiny.yaml --out c --init a --set epochs=1
expect_out "tensors of the network from a/weights/best.safetensors"
rm a/weights/best.safetensors
run "${quick[@]}" --config tiny.yaml --out d --init a --set epochs=1
expect_out "tensors of the network from a/weights/last.safetensors"
rm a/weights/*
run "${quick[@]}" --config tiny.yaml --out e --init a
expect_code 9
expect_err "the run 'a' has saved no weights yet"

begin "--init accepts the weights of a foreign checkpoint that a resume refuses"
finished_run
run "${quick[@]}" --config tiny.yaml --out b --set epochs=4
last=$(<b/checkpoints/last)
cp -r "b/checkpoints/$last" a/checkpoints/
run "${quick[@]}" resume a --set epochs=5
expect_code 9
run "${quick[@]}" --config tiny.yaml --out c --init "a/checkpoints/$last" --set epochs=1
expect_code 0

begin "a damaged checkpoint is refused"
finished_run
best=a/checkpoints/$(<a/checkpoints/best)
printf 'x' | dd of="$best/weights.safetensors" bs=1 seek=900 conv=notrunc status=none
run "${quick[@]}" --config tiny.yaml --out b --init a
expect_code 9
expect_err "$best/weights.safetensors: damaged: "
expect_no_path b

begin "a new head is refused, naming the flag to skip it, and accepted with that flag"
finished_run
write_wide_run
run "${quick[@]}" --config wide.yaml --out b --init a
expect_code 9
expect_err "dense1.weight: has shape [4, 128], expected [7, 128]"
expect_err "for a new head: --init-skip dense1"
expect_no_path b
run "${quick[@]}" --config wide.yaml --out b --init a --init-skip 'dense1*' --set epochs=1
expect_code 0
expect_out "init: loaded 6 of 8 tensors of the network"
expect_out "skipped as asked 2: dense1."
expect_out "left new 2: dense1."
grep -q '"dense1\*"' b/run.json || fail "run.json does not have the pattern"
run "${quick[@]}" --config tiny.yaml --out c --init a --init-skip bn1,dense1 --set epochs=1
expect_out "init: loaded 2 of 8 tensors"
run "${quick[@]}" --config tiny.yaml --out d --init a --init-skip bn1 --init-skip dense1 --set epochs=1
expect_out "init: loaded 2 of 8 tensors"
run "${quick[@]}" --config tiny.yaml --out e --init a --init-skip dens1
expect_code 9
expect_err "init skips 'dens1', which names no tensor of"
expect_err "did you mean 'dense1'?"
run "${quick[@]}" --config tiny.yaml --out f --init-skip dense1
expect_code 2
expect_err "--init"

begin "a file of another kind is named as such, and for a missing one the nearest name is suggested"
write_tiny_run tiny.yaml
refused_as() {
  run "${quick[@]}" --config tiny.yaml --out b --init "$1"
  expect_code 9
  expect_err "$1: expected a safetensors file, found $2"
  expect_no_err "header claims"
  expect_no_path b
}
printf 'PK\3\4\24\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\20\0\0\0archive/data.pklxxx' >w.pt
printf '\211HDF\r\n\032\n\0\0\0\0\0' >w.h5
printf 'PK\3\4\24\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\11\0\0\0arr_0.npyxxx' >w.npz
printf '\211PNG\r\n\032\n\0\0\0\rIHDR' >w.png
refused_as w.pt "a zip archive of PyTorch (.pt, .pth)"
refused_as w.h5 "an HDF5 file (Keras .h5)"
refused_as w.npz "a zip archive of NumPy arrays (.npz)"
refused_as w.png "a PNG image"
refused_as tiny.yaml "a text file"
run "${quick[@]}" --config tiny.yaml --out b --init w.ptt
expect_code 9
expect_err "no file or folder 'w.ptt' to take weights from; did you mean 'w.pt'?"
mkdir empty
run "${quick[@]}" --config tiny.yaml --out b --init empty
expect_code 9
expect_err "'empty' is neither a checkpoint folder, with a MANIFEST.json, nor a run folder"

begin "--skip-done distinguishes initial weights, also after a resume"
finished_run
run "${quick[@]}" --config tiny.yaml --out b --set seed=7
expect_code 0
count() { find runs/tiny -mindepth 1 -maxdepth 1 | wc -l | tr -d ' '; }
with() { run "${quick[@]}" --config tiny.yaml --skip-done "$@"; }
with
expect_equal "$(count)" 1
with --init a
expect_equal "$(count)" 2
with --init b
expect_equal "$(count)" 3
with --init a --init-skip dense1
expect_equal "$(count)" 4
for flags in "" "--init a" "--init b" "--init a --init-skip dense1"; do
  read -ra words <<<"$flags"
  with "${words[@]}"
  expect_code 0
  expect_out "skipped: runs/tiny/"
done
cp a/weights/last.safetensors w.safetensors
with --init w.safetensors --max-time 0.001
expect_code 75
run "${quick[@]}" --config tiny.yaml --resume --init w.safetensors
expect_code 0
expect_equal "$(count)" 5
with --init w.safetensors
expect_out "skipped: runs/tiny/0005 is done"

begin "--resume with an --init other than the run's is refused"
finished_run
run "${quick[@]}" --config tiny.yaml --out b --init a --max-time 0.001
expect_code 75
run "${quick[@]}" --config tiny.yaml --out b --resume --init a --init-skip dense1
expect_code 2
expect_err "the run of b was started with --init a, not with --init a --init-skip dense1"
run "${quick[@]}" --config tiny.yaml --out b --resume
expect_code 0
run "${quick[@]}" --config tiny.yaml --out c --max-time 0.001
run "${quick[@]}" --config tiny.yaml --out c --resume --init a
expect_code 2
expect_err "the run of c was started without --init"

begin "all ranks start with the weights, which rank 0 reports once"
finished_run
run "${quick[@]}" --config tiny.yaml --out b --init a --gpus 0 --replicas 2 --set batch.per_gpu=8 --set epochs=1
expect_code 0
expect_equal "$(grep -c -e 'init: loaded' <<<"$out")" 1
expect_equal "$(grep -c '"id"' b/run.json)" 1
run "${quick[@]}" --config tiny.yaml --out c --init nowhere --gpus 0 --replicas 2
expect_code 9
expect_equal "$(grep -c 'no file or folder' <<<"$err")" 1

begin "the key 'init' is --init: relative to its file, replaced by the flag, the same after a resume"
finished_run
mkdir files
cp a/weights/last.safetensors files/w.safetensors
{ cat tiny.yaml; echo 'init: {from: w.safetensors, skip: [dense1]}'; } >files/tuned.yaml
run "${quick[@]}" --config files/tuned.yaml --out b --set epochs=1
expect_code 0
expect_out "init: loaded 6 of 8 tensors of the network from $PWD/files/w.safetensors"
run "${quick[@]}" --config tiny.yaml --out c --init files/w.safetensors --init-skip dense1 --set epochs=1
untimed b/metrics.csv >b.csv
untimed c/metrics.csv >c.csv
expect_same_file b.csv c.csv
run "${quick[@]}" --config files/tuned.yaml --out d --init a/weights/last.safetensors --set epochs=1
expect_out "init: loaded all 8 tensors of the network from a/weights/last.safetensors"
run "${quick[@]}" --config files/tuned.yaml --out e --set epochs=1 --max-time 0.001
expect_code 75
run "${quick[@]}" --config files/tuned.yaml --out e --set epochs=1 --resume
expect_code 0
untimed e/metrics.csv >e.csv
expect_same_file b.csv e.csv
run "${quick[@]}" --config tiny.yaml --out f --set 'init={skip: [dense1]}'
expect_code 3
expect_err "init"
run "${quick[@]}" --config tiny.yaml --out f --set init=w.safetensors
expect_code 9
expect_err "w.safetensors"

finish 10 0
