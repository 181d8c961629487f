#!/usr/bin/env bash
# The runs of docs/own_data.md, from init to predict, judged by pandas, scikit-learn and onnxruntime.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

begin "a table, texts and two lists of images: init, train, eval, export, predict, and what the judges find"
python=${TRAINYARD_JUDGES:-}/bin/python
if [[ -z ${TRAINYARD_JUDGES:-} ]]; then
  skip "pandas and scikit-learn come from pip: scripts/judges.sh"
else
  run "$python" "$source_dir/scripts/own_data.py" .
  expect_code 0
  for name in houses tickets things dials; do
    run "$train" init "$name.csv"
    run "$train" "$name.yaml" --gpus 0
    expect_code 0
    for action in "eval" "export --onnx $name.onnx"; do
      read -ra words <<<"$action"
      run "$train" "${words[0]}" "runs/$name/0001" "${words[@]:1}"
      expect_code 0
    done
    run "$train" predict "runs/$name/0001" "$name.csv" --output "${name}_predictions.csv"
    expect_code 0
  done
  run "$python" "$source_dir/scripts/own_data_judge.py" .
  expect_code 0
  expect_out "all agree"
fi

finish 1 1
