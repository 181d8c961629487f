#!/usr/bin/env bash
# The command line: verbs, flags, exit code 2 and what it says.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

begin "--version and --help print on stdout and end well"
run "$train" --version
expect_code 0
expect_out_match '^train [0-9]+\.[0-9]+\.[0-9]+'
run "$train" --help
expect_code 0
for verb in train resume check summary schema bench data doctor; do expect_out "$verb"; done
expect_equal "$err" ""

begin "every verb explains itself"
for verb in train resume check summary schema bench data doctor; do
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

begin "a config that is not there is named with the places and the nearest name"
mkdir configs
write_tiny_run configs/tiny.yaml
run "$train" check --config tinny.yaml
expect_code 3
expect_err "no config file 'tinny.yaml' (looked at 'tinny.yaml', 'configs/tinny.yaml', "
expect_err ", each with .yaml too); did you mean 'tiny.yaml'?"
run "$train" check --config tinny
expect_code 3
expect_err "did you mean 'tiny'?"

begin "a config is found in configs/, with and without its ending"
mkdir configs
write_tiny_run configs/tiny.yaml
run "$train" check --config tiny.yaml
expect_code 0
run "$train" check --config tiny
expect_code 0

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

begin "more GPUs than there are end with exit 8 before data is read"
write_tiny_run tiny.yaml
sed -i 's/train: {.*/train: {source: cifar10, root: nowhere}/' tiny.yaml
run "$train" --config tiny.yaml --gpus 4
expect_code 8
expect_err "--gpus 4"
expect_no_path runs

begin "--gpus 0 is the CPU"
write_tiny_run tiny.yaml
run "$train" check --config tiny.yaml --gpus 0
expect_code 0

finish 11 0
