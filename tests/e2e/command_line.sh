#!/usr/bin/env bash
# The command line: verbs, flags, exit code 2 and its messages.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

begin "--version and --help print on stdout and exit with 0"
run "$train" --version
expect_code 0
expect_out_match '^train [0-9]+\.[0-9]+\.[0-9]+'
run "$train" --help
expect_code 0
verbs=$(sed -n '/^Verbs/,$s/^  \([a-z][a-z-]*\)   *[a-z].*/\1/p' <<<"$out")
[[ $(wc -l <<<"$verbs") -ge 22 ]] || fail "expected at least 22 verbs, found: $verbs"
expect_equal "$err" ""

begin "every verb has --help"
for verb in $verbs; do
  run "$train" "$verb" --help
  expect_code 0
  expect_out "--help"
done

begin "no command is a command line error"
run "$train"
expect_code 2
expect_err "train: error:"

begin "an unknown verb is refused with the nearest one"
run "$train" sumary --config x.yaml
expect_code 2
expect_err "did you mean 'summary'"

begin "an unknown flag is refused with the nearest one"
write_tiny_run tiny.yaml
run "$train" --config tiny.yaml --epocs 3
expect_code 2
expect_err "--epocs"
run "$train" summary --confg tiny.yaml
expect_code 2
expect_err "did you mean '--config'"
expect_no_path runs

begin "a missing config is reported with the paths tried and the nearest name"
mkdir configs
write_tiny_run configs/tiny.yaml
run "$train" check --config tinny.yaml
expect_code 3
expect_err "no config file 'tinny.yaml' (looked at 'tinny.yaml', 'configs/tinny.yaml', "
expect_err ", each with .yaml too); did you mean 'tiny.yaml'?"
run "$train" check --config tinny
expect_code 3
expect_err "did you mean 'tiny'?"

begin "--set without a value is a command line error"
write_tiny_run tiny.yaml
run "$train" check --config tiny.yaml --set epochs
expect_code 2
expect_err "epochs"
run "$train" check --config tiny.yaml --set =3
expect_code 2

begin "--set of an unknown key is refused with the nearest one"
write_tiny_run tiny.yaml
run "$train" check --config tiny.yaml --set epocs=3
expect_code 3
expect_err "unknown key 'epocs'"
expect_err "did you mean 'epochs'"
run "$train" check --config tiny.yaml --set optimizer.sgd.momentun=0.5
expect_code 3
expect_err "did you mean 'momentum'"
run "$train" check --config tiny.yaml --set epochs=many
expect_code 3
expect_err "epochs"
expect_no_path runs

begin "asking for more GPUs than there are ends with exit 8 before data is read"
write_tiny_run tiny.yaml
sed -i 's/train: {.*/train: {source: cifar10, root: nowhere}/' tiny.yaml
run "$train" --config tiny.yaml --gpus 4
expect_code 8
expect_err "--gpus 4"
expect_no_path runs

begin "a path needs no --config, and help and version work without dashes"
write_tiny_run tiny.yaml
run "$train" tiny.yaml --epochs 1 --max-time 1h30m --quiet
expect_code 0
expect_file runs/tiny/0001/metrics.csv
run "$train" summary tiny.yaml
expect_code 0
expect_out "conv1"
run "$train" version
expect_code 0
expect_out_match '^train [0-9]'
run "$train" help
expect_code 0
expect_out "Usage: train --config FILE"
run "$train" help check
expect_code 0
expect_out "Usage: train check --config FILE"
run "$train" tiny
expect_code 2
expect_err "unknown verb 'tiny'"

begin "for a flag of other programs ours is suggested, or the key that --set changes"
write_tiny_run tiny.yaml
sed 's/sgd: {lr: 0.05, momentum: 0.9}/adam: {lr: 0.05}/' tiny.yaml >adam.yaml
while read -r config typed meant; do
  # shellcheck disable=SC2086  # the flag and its value
  run "$train" --config "$config.yaml" ${typed//_/ }
  expect_code 2
  expect_err "unknown flag '${typed%%_*}'; did you mean '$meant'?"
done <<'END'
tiny --lr_0.1 --set optimizer.sgd.lr=0.1
adam --lr_0.1 --set optimizer.adam.lr=0.1
tiny --learning-rate --set optimizer.sgd.lr=VALUE
tiny --batch-size_64 --set batch.per_gpu=64
tiny --momentun_0.5 --set optimizer.sgd.momentum=0.5
tiny --patience_3 --set early_stop.patience=3
tiny --num-epochs_3 --epochs
tiny --weights_w --init
tiny --repicas_2 --replicas
END
run "$train" --confg tiny.yaml
expect_code 2
expect_err "unknown flag '--confg'; did you mean '--config'?"
sed 's/by: epoch/by: epoch, warmup: {epochs: 1}/' tiny.yaml >warm.yaml
run "$train" bench --config warm.yaml --epochs 3
expect_code 2
expect_err "unknown flag '--epochs'; did you mean '--set epochs=3'?"
run "$train" schema --batch-size 3
expect_no_err "--set"
expect_no_path runs

begin "invalid values are refused under the flag's name, in short lines"
write_tiny_run tiny.yaml
while read -r flag value range; do
  run "$train" --config tiny.yaml "$flag" "$value"
  expect_code 2
  expect_err "$flag: expected $range, found '$value'"
  expect_equal "$(printf '%s' "$err" | awk 'length > 120')" ""
done <<'END'
--epochs 0 a whole number of 1 or more
--epochs two a whole number of 1 or more
--seed -1 a whole number of 0 or more
--threads 5000 a whole number from 0 to 1024
--replicas 0 a whole number from 1 to 256
--max-time 0 a time above 0, such as 90, 90s, 5m, 2h or 1h30m
--max-time 5x a time above 0, such as 90, 90s, 5m, 2h or 1h30m
--max-time 1m2h a time above 0, such as 90, 90s, 5m, 2h or 1h30m
--log kears one of keras, json, plain
END
expect_err "did you mean 'keras'?"
run "$train" bench --config tiny.yaml --seconds 1e9
expect_code 2
expect_err "--seconds: expected a number from 0.01 to 3600, found '1e9'"
expect_no_path runs

begin "--max-time accepts hours"
write_tiny_run tiny.yaml
run "$train" --config tiny.yaml --max-time 0.0001h --set epochs=100000
expect_code 75

begin "a network file given as config is recognised"
write_tiny_run tiny.yaml
printf 'input: [4]\nlayers:\n  - dense: 2\n  - softmax\n' >net.yaml
run "$train" check --config net.yaml
expect_code 3
expect_err "net.yaml:3:3: this is a network file"
expect_err "network: {file: net.yaml}"

begin "for a missing file or run the nearest name is suggested"
write_tiny_run tiny.yaml
mkdir -p sub/run_a
printf 'input: [3, 8, 8]\nlayers:\n  - dense: 4\n  - softmax\n' >sub/small.yaml
run "$train" check ./tinny.yaml
expect_code 3
expect_err "did you mean './tiny.yaml'?"
sed -e '/^network:/,/softmax/d' -e '1a network: {file: sub/smal.yaml}' tiny.yaml >named.yaml
run "$train" summary named.yaml
expect_code 3
expect_err "did you mean 'sub/small.yaml'?"
printf 'extends: tinny.yaml\n' >other.yaml
run "$train" check other.yaml
expect_code 3
expect_err "did you mean 'tiny.yaml'?"
run "$train" resume sub/run_b
expect_code 2
expect_err "did you mean 'sub/run_a'?"

begin "a missing or misspelt command of a verb is named"
run "$train" data
expect_code 2
expect_err "'train data' needs a command; its commands are: make"
run "$train" data make --seed 3
expect_code 2
expect_err "'train data make' needs a command; its commands are: shapes"
run "$train" data mak shapes x
expect_code 2
expect_err "unknown command 'mak' of 'train data'; did you mean 'make'?"
run "$train" data make shape x
expect_err "unknown command 'shape' of 'train data make'; did you mean 'shapes'?"
run "$train" data make shapes
expect_err "'train data make shapes' needs FOLDER; usage: train data make shapes FOLDER [FLAGS]"

begin "help fits 80 columns and 40 lines, names the program, types and defaults"
for verb in "" train $verbs "data make shapes"; do
  # shellcheck disable=SC2086  # the verb's words
  run "$train" $verb --help
  expect_code 0
  expect_equal "$(printf '%s\n' "$out" | awk 'length > 80 || NR > 40')" ""
  expect_out "Usage: train"
  expect_equal "$(printf '%s\n' "$out" | grep -wE 'TEXT|FLOAT|INT')" ""
done
run "$train" doctor --help
expect_out "Usage: train doctor"
run "$train" --help
expect_out_match 'Usage: train --config FILE.*  resume '
run "$train" train --help
expect_out_match 'Usage: train --config FILE.*--config FILE .*--epochs N .*--max-time TIME '
run "$train" bench --help
expect_out_match 'starts of each number of ranks.*\(default: +3\)'

finish 17 0
