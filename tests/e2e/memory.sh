#!/usr/bin/env bash
# Limits of the address space, beginning with one at which the program just starts.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

begin "too little memory ends with exit 6 and the amount needed, before step 1, at any limit"
if grep -q __asan_init "$train"; then
  skip "the limit is set by ulimit -v, and ASan itself reserves more memory"
else
  write_tiny_run tiny.yaml
  refusal=
  for kib in 72000 80000 90000 105000 120000 135000 150000; do
    # shellcheck disable=SC2016  # expanded by the inner shell
    run bash -c 'ulimit -v "$1" && shift && PATH=/nonexistent exec "$@"' bash "$kib" \
      "$train" --config tiny.yaml --out "out$kib"
    [[ $code -ne 0 ]] || continue
    expect_code 6
    expect_no_out "Epoch 1"
    refusal=$err
  done
  err=$refusal
  expect_err "MiB besides the model, but"
  expect_err "ulimit -v"
fi

finish 1 1
