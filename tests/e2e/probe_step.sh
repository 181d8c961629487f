#!/usr/bin/env bash
# tests/probe/probe_step on a stand-in GPU, whose steps take as long as they take: that every way of running a
# step runs, and is a row.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
unset CUDA_VISIBLE_DEVICES
export STANDIN_CACHE=$scratch/cache
probe=$(dirname "$train")/probe_step

# on_gpu ARGUMENTS...: probes steps of the tiny network.
on_gpu() { run "$source_dir/scripts/standin.sh" h200 "$probe" --config tiny.yaml --batch 4 --steps 2 "$@"; }

# nodes NAME: of a step in the row NAME.
nodes() { sed -n "s/.*\"name\":\"$1\".*\"nodes\":\([0-9]*\).*/\1/p" rows.jsonl; }

begin "each way of running a step is a row"
write_tiny_run tiny.yaml
on_gpu --output rows.jsonl
expect_code 0
expect_out "7 cases, 0 failed, 0 skipped"
expect_equal "$(wc -l <rows.jsonl)" 7
expect_equal "$(grep -c '"unit":"us","median":[0-9].*"predicted":".*","decides":"' rows.jsonl)" 7
expect_equal "$(grep -c '"name":"M12.two".*"alone_us":[0-9.]*,"gain":[0-9.]*,' rows.jsonl)" 1
expect_equal "$(nodes M5.main)" "$(nodes M5.beside.8)"
# A convolution and a dense layer with a bias, which is a sum of its own.
expect_equal "$(($(nodes M5.main) - $(nodes M5.none)))" 3

begin "measurements are chosen by --only"
write_tiny_run tiny.yaml
on_gpu --only M12
expect_code 0
expect_out "1 cases, 0 failed, 0 skipped"

begin "wrong words are refused with the usage"
write_tiny_run tiny.yaml
on_gpu --batch none
expect_code 2
expect_err "unknown, or not a number: --batch none"
expect_err "probe_step [--config FILE]"

begin "without a GPU it is skipped"
write_tiny_run tiny.yaml
run env CUDA_VISIBLE_DEVICES= "$probe" --config tiny.yaml
expect_code 77
expect_out "skipped, no GPU: "

finish 4 0
