#!/usr/bin/env bash
# Runs by the name of their folder, as every verb takes them; flags and words of the command line.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# Three runs, of which one is in a folder of its own.
cd "$scratch" || exit 1
write_tiny_run tiny.yaml
tiny() { env PATH=/nonexistent "$train" "$scratch/tiny.yaml" -q --epochs 1 "$@" 2>/dev/null; }
tiny --seed 1
tiny --seed 2
tiny --seed 1 --name other
made=$scratch/runs
runs() { cp -r "$made" runs; }
newest="'runs/tiny': its newest run is runs/tiny/0002"

begin "runs/NAME is the newest run of that name for every verb, and the verb says so"
runs
cp "$scratch/tiny.yaml" .
mkdir images
while read -r words; do
  # shellcheck disable=SC2086 # the verb's words
  run "$train" $words
  expect_code 0
  expect_equal "$words: $(grep -cF "$newest" <<<"$err")" "$words: 1"
done <<'END'
eval runs/tiny
export runs/tiny --safetensors a.safetensors
resume runs/tiny
resume runs/tiny --replicas 2 --gpus 0
diff runs/tiny runs/other/0001
doctor runs/tiny
summary runs/tiny
check runs/tiny
browse runs/tiny
find-lr runs/tiny --steps 3
bench --config runs/tiny --windows 1 --seconds 0.01
sweep runs/tiny --grid seed=1,2 --dry-run
train tiny.yaml --init runs/tiny --epochs 1 --name b
check tiny.yaml --init runs/tiny
eval runs/tiny --json --replicas 2 --gpus 0
END
for verb in predict generate; do
  run "$train" "$verb" runs/tiny
  expect_err "$newest"
done
run "$train" resume runs/tiny -q
expect_code 0
expect_equal "$err" ""
run "$train" eval runs/tiny/0001
expect_out "runs/tiny/0001"
expect_no_err "its newest run"

begin "what names no single run is refused, with a run to name"
runs
for verb in eval export resume doctor summary; do
  run "$train" "$verb" runs
  expect_code 2
  expect_err "'runs' is not a run, but has runs in it: name one, such as 'runs/tiny'"
  run "$train" "$verb" tiny
  expect_code 2
  expect_err "there is no 'tiny'; did you mean 'runs/tiny'?"
done
mkdir -p empty runs/none/0001
for folder in empty runs/none; do
  run "$train" resume $folder
  expect_code 2
  expect_err "'$folder' is not a run folder"
done
run "$train" runs/tiny/0001
expect_code 2
expect_err "'train resume runs/tiny/0001' continues it, 'train --config runs/tiny/0001/config.yaml' trains"
run "$train" compare runs/tiny/0001 runs/tiny
expect_code 0
expect_equal "$(grep -c '^runs/' <<<"$out")" 2

begin "a complete run is drawn by resume --plot"
runs
for ending in png svg; do
  run "$train" resume runs/tiny/0001 --plot "a.$ending"
  expect_code 0
  expect_out "is complete"
  expect_file "a.$ending"
done
run "$train" resume runs/tiny/0001 --plot a.docx
expect_code 2
run env PATH=/nonexistent "$train" resume runs/tiny/0001 --plot b.png
expect_code 2
expect_err "gnuplot was not found"

begin "a run does not continue with another optimizer's state, and --set says what it replaces"
write_tiny_run tiny.yaml
run env PATH=/nonexistent "$train" tiny.yaml --epochs 1 --set optimizer.adam.lr=0.001
expect_code 0
expect_err "--set replaces optimizer.sgd with its lr, momentum, of tiny.yaml"
run "$train" resume runs/tiny --set optimizer.sgd.lr=0.1 --set epochs=2
expect_code 2
expect_err "the run of runs/tiny/0001 has trained with adam, whose state sgd cannot continue"
expect_err "train --config runs/tiny/0001/config.yaml --set optimizer.sgd.lr=RATE --init runs/tiny/0001"
run env PATH=/nonexistent "$train" resume runs/tiny --set optimizer.adam.lr=0.1 --set epochs=2
expect_code 0

begin "the last of a repeated flag counts, lists collect, and a flag and --set must agree"
write_tiny_run tiny.yaml
run env PATH=/nonexistent "$train" --config nowhere --config tiny.yaml --name a --name b --epochs 9 --epochs 1 \
  --log json --log keras -q -q --set seed=1 --set batch.per_gpu=8
expect_code 0
expect_equal "$out" ""
expect_equal "$(sed -n 's/^seed: //p' runs/b/0001/config.yaml) $(sed -n 's/^  per_gpu: //p' runs/b/0001/config.yaml)" "1 8"
while read -r flag value key; do
  run "$train" tiny.yaml "$flag" "$value" --set "$key"
  expect_code 2
  expect_err "$flag $value and --set $key contradict each other; give one of them"
done <<'END'
--epochs 3 epochs=5
--seed 1 seed=2
--name a name=b
--precision fp32 precision=bf16
--threads 1 threads=2
END
run "$train" check tiny.yaml --epochs 3 --set epochs=3
expect_code 0
for flag in --name --init --out; do
  run "$train" tiny.yaml "$flag" ''
  expect_code 2
  expect_err "$flag: '' is not a value; give one, or leave it out"
done
run "$train" tiny.yaml --name "my run"
expect_code 2
expect_err "'my run' is not a plain folder name: it must have no blanks"

begin "messages and usage name RUN and FILE, and words without use"
while IFS='%' read -r words said; do
  # shellcheck disable=SC2086 # the words
  run "$train" $words
  expect_code 2
  expect_err "$said"
done <<'END'
diff%'train diff' needs RUN, RUN; usage: train diff RUN RUN [FLAGS]
diff a%'train diff' needs RUN; usage: train diff RUN RUN [FLAGS]
compare%'train compare' needs RUN...; usage: train compare RUN... [FLAGS]
eval%'train eval' needs RUN|CHECKPOINT; usage: train eval RUN|CHECKPOINT [FLAGS]
import%'train import' needs FILE, --config FILE, -o, --output FILE; usage: train import FILE --config FILE
check%'train check' needs --config FILE; usage: train check --config FILE [FLAGS]
schema x y%'train schema' has no use for x, y; usage: train schema [FLAGS]
resume a b%'train resume' has no use for b; usage: train resume RUN [FLAGS]
END
while IFS='%' read -r verb usage; do
  run "$train" "$verb" --help
  expect_out "Usage: train $verb $usage [FLAGS]"
  expect_out "Example: train $verb "
  expect_out "Arguments:"
done <<'END'
plot%[RUN...]
compare%RUN...
predict%RUN|CHECKPOINT [INPUT...]
resume%RUN
doctor%[RUN]
END
run "$train" --help
for heading in "Before training:" "Searching:" "Looking at runs:" "Using a model:" "Tools:"; do
  expect_out $'\n'"$heading"$'\n'"  "
done

begin "summary shows a network file, and a network that the loss does not fit before the error"
printf 'input: [3, 8, 8]\nlayers:\n  - conv: {filters: 4, kernel: 3}\n  - relu\n' >net.yaml
run "$train" summary net.yaml
expect_code 0
expect_out "conv1"
expect_out_match "parameters +112 "
run "$train" summary net.yaml --set epochs=3
expect_code 2
expect_err "'net.yaml' is a network; --plan and --set need a run file that names it: network: {file: net.yaml}"
printf 'input: [3, 8, 8]\nlayers:\n  - cnov: {filters: 4, kernel: 3}\n' >bad.yaml
run "$train" summary bad.yaml
expect_code 3
expect_err "bad.yaml:3:5"
write_tiny_run tiny.yaml
sed -e '/^network:/,/softmax/d' -e '1a network: {file: net.yaml}' -e 's/^loss: .*/loss: binary_cross_entropy/' tiny.yaml >maps.yaml
run "$train" summary maps.yaml
expect_code 3
expect_out "conv1"
expect_err "binary_cross_entropy"
sed 's/^loss: .*/loss: binary_cross_entropy/' tiny.yaml >closing.yaml
run "$train" summary closing.yaml
expect_code 3
expect_out "dense1"
expect_err "the network ends with softmax"

begin "find-lr takes the flags of train"
runs
write_tiny_run tiny.yaml
run "$train" find-lr tiny.yaml --init runs/tiny/0001 --seed 3 --epochs 2 --csv a.csv
expect_code 0
expect_equal "$(wc -l <a.csv)" 13
run "$train" find-lr tiny.yaml --seed 3 --epochs 2 --csv b.csv
[[ $(sed -n 2p a.csv) != "$(sed -n 2p b.csv)" ]] || fail "expected another loss with --init"
run "$train" find-lr tiny.yaml --steps 1000000 --from 1e-30 --to 1e-20 --max-time 1 --csv c.csv
expect_code 0
expect_err "--max-time: the higher learning rates were not tried"
run "$train" find-lr tiny.yaml --steps 10 --epochs 2
expect_code 2
expect_err "--epochs"

begin "compare groups runs by a key, sorts them, and prints the command of the best"
runs
run "$train" compare runs --by name --csv a.csv
expect_code 0
expect_out_match $'\n'"tiny +2 +0\.[0-9]+ \+- "
expect_equal "$(head -n 1 a.csv | cut -d , -f 1-7)" "name,seeds,left_out,best_metric,best,best_deviation,elapsed_s"
run "$train" compare runs --sort seed
expect_code 0
expect_out "*: the best val_accuracy; to train it again: train --config runs/"
run "$train" compare runs --sort sed
expect_code 2
expect_err "--sort: there is no column 'sed'; did you mean 'seed'?"
run "$train" compare runs --by optimizer.sgd.lrr
expect_code 2
expect_err "--by: no run has a key 'optimizer.sgd.lrr'"

begin "a table of runs fits the terminal"
write_tiny_run tiny.yaml
for seed in 1 2; do "$train" tiny.yaml --set "output.plot.title=run $seed" --seed "$seed" -q; done
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
  run env COLUMNS=60 script -qec "$train compare runs" /dev/null
  expect_equal "$(printf '%s\n' "$out" | tr -d '\r' | grep '^runs' | awk 'length > 60')" ""
  expect_out "left out for lack of room"
else
  skip "no terminal can be created here"
fi

finish 10 1
