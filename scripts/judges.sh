#!/usr/bin/env bash
# Installs the programs that judge exported networks, metrics and event files into a virtual environment, with pip:
# onnx, onnxruntime, OpenCV, TensorBoard, pandas and scikit-learn, 700 MB. TRAINYARD_JUDGES=FOLDER then makes the tests
# export_judges, e2e_tensorboard and e2e_own_data use them.
#
#   scripts/judges.sh FOLDER

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

[[ $# -eq 1 ]] || die "requires a folder"
python3 -m venv "$1"
"$1/bin/pip" install --quiet onnx onnxruntime opencv-python-headless numpy tensorboard pandas scikit-learn
say "TRAINYARD_JUDGES=$1"
