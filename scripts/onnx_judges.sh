#!/usr/bin/env bash
# Installs the programs that judge exported networks into a virtual environment, with pip: onnx, onnxruntime and OpenCV,
# 300 MB. TRAINYARD_JUDGES=FOLDER then makes the test export_judges use them.
#
#   scripts/onnx_judges.sh FOLDER

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

[[ $# -eq 1 ]] || die "requires a folder"
python3 -m venv "$1"
"$1/bin/pip" install --quiet onnx onnxruntime opencv-python-headless numpy
say "TRAINYARD_JUDGES=$1"
