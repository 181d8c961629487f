#!/usr/bin/env bash
# `train schema` judged by a JSON Schema validator and a YAML reader that are not ours. The cases need a
# Python with jsonschema and ruamel.yaml, python3 or that of PEER_PYTHON:
#
#   python3 -m venv peers && peers/bin/pip install jsonschema ruamel.yaml
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

python=${PEER_PYTHON:-python3}
has_peers() { "$python" -c 'import jsonschema, ruamel.yaml' 2>/dev/null; }
judge() { run "$python" "$source_dir/scripts/peer_schema.py" "$@"; }

begin "a third party's validator accepts every shipped run and network"
if has_peers; then
  "$train" schema >run.json
  "$train" schema --network >network.json
  judge run.json "$source_dir"/configs/*.yaml
  expect_code 0
  expect_equal "$out" ""
  judge network.json "$source_dir"/models/*.yaml
  expect_code 0
  expect_equal "$out" ""
else
  skip "$python has no jsonschema or no ruamel.yaml"
fi

begin "it flags a mistyped key and a wrong value where they are, at any depth"
if has_peers; then
  "$train" schema >run.json
  "$train" schema --network >network.json
  # flagged SCHEMA FILE SED TEXT: the file, changed by a sed command, has an error with this text.
  flagged() {
    sed "$3" "$source_dir/$2" >changed.yaml
    ! cmp -s changed.yaml "$source_dir/$2" || fail "expected sed '$3' to change $2"
    judge "$1" changed.yaml
    expect_code 1
    expect_out "$4"
  }
  flagged run.json configs/quickstart.yaml 's/^epochs:/epoch:/' "(top): Additional properties are not allowed ('epoch' was unexpected)"
  flagged run.json configs/quickstart.yaml 's/momentum:/momentun:/' "optimizer.sgd: Additional properties are not allowed ('momentun' was unexpected)"
  flagged run.json configs/quickstart.yaml 's/shuffle:/shufle:/' "'shufle' was unexpected"
  flagged run.json configs/quickstart.yaml 's/keras2/keras3/' "profile: 'keras3' is not one of"
  flagged run.json configs/resnet56v1_cifar10.yaml 's/^extends:/extend:/' "'extend' was unexpected"
  flagged network.json models/shapes_cnn.yaml 's/^layers:/layer:/' "'layer' was unexpected"
  flagged network.json models/fashion_cnn.yaml 's/^input:/inputs:/' "'inputs' was unexpected"
else
  skip "$python has no jsonschema or no ruamel.yaml"
fi

finish 2 2
