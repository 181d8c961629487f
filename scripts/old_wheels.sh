#!/usr/bin/env bash
# Installs the oldest libraries that the GPU part is tested with into a folder, laid out as a virtual
# environment: 1.6 GB of Python wheels, with pip. TRAINYARD_WHEELS=FOLDER then makes the test
# backend_wheels use them.
#
#   scripts/old_wheels.sh FOLDER [12.8|12.9]

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

[[ $# -ge 1 ]] || die "requires a folder"
case ${2:-12.8} in
  12.8) cuda=(nvidia-cublas-cu12==12.8.4.1 nvidia-cuda-nvrtc-cu12==12.8.93) ;;
  12.9) cuda=(nvidia-cublas-cu12==12.9.1.4 nvidia-cuda-nvrtc-cu12==12.9.86) ;;
  *) die "CUDA must be 12.8 or 12.9, found $2" ;;
esac
python3 -m pip install --quiet --no-deps --target "$1/lib/python3/site-packages" \
  nvidia-cudnn-cu12==9.8.0.87 nvidia-nccl-cu12==2.21.5 "${cuda[@]}"
say "TRAINYARD_WHEELS=$1"
