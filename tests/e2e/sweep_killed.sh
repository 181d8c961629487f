#!/usr/bin/env bash
# A sweep of 12 runs, killed in the middle.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/lib_sweep.sh
source "$(dirname "$0")/lib_sweep.sh"

begin "a sweep of 12 runs that is killed in the middle and started again gives the table of one left alone"
killed_sweep " 6/12" --grid optimizer.sgd.lr=log:1e-3..1e-1:3 --grid batch.per_gpu=16,32 --grid seed=1,2 --set epochs=200
expect_equal "$(wc -l <killed.csv)" 13
expect_equal "$(grep -c ",complete," killed.csv)" 12

finish 1 0
