#!/usr/bin/env bash
# Installs the programs that judge exported networks and event files into a virtual environment, with pip: onnx,
# onnxruntime, OpenCV and TensorBoard, 400 MB. TRAINYARD_JUDGES=FOLDER then makes the tests export_judges and
# e2e_tensorboard use them.
#
#   scripts/onnx_judges.sh FOLDER

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

[[ $# -eq 1 ]] || die "requires a folder"
python3 -m venv "$1"
"$1/bin/pip" install --quiet onnx onnxruntime opencv-python-headless numpy tensorboard
say "TRAINYARD_JUDGES=$1"
