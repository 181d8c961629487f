#!/usr/bin/env bash
# Lines of functions and files of a checkout, per folder of src: count, median, 90th percentile and most.
#
#   scripts/code_size.sh [ROOT]   (default: this checkout)

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

build release code_size
exec build/release/tests/layers/code_size "${1:-.}"
