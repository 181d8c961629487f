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
  # The limit at which the dynamic linker finds room for the program's libraries depends on their versions.
  least=40000
  limited() {
    # shellcheck disable=SC2016  # expanded by the inner shell
    run bash -c 'ulimit -v "$1" && shift && PATH=/nonexistent exec "$@"' bash "$@"
  }
  until limited "$least" "$train" --version && [[ $code -eq 0 ]]; do
    least=$((least + 1000))
    [[ $least -lt 1000000 ]] || break
  done
  for more in 0 8000 18000 33000 48000 63000 78000; do
    kib=$((least + more))
    # Libraries that begin threads of their own fail before the program begins at some limits, not only the lowest.
    limited "$kib" "$train" --version
    [[ $code -eq 0 ]] || continue
    limited "$kib" "$train" --config tiny.yaml --out "out$kib"
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
