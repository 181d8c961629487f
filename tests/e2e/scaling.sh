#!/usr/bin/env bash
# train bench --scaling: what it prints and writes, on the CPU and through mpirun, what it refuses, and
# how it ends when a rank dies.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# shellcheck source=tests/e2e/lib_ranks.sh
source "$(dirname "$0")/lib_ranks.sh"

bench=("$train" bench --config tiny.yaml --gpus 0 --seconds 0.02 --windows 2)

# column NAME FILE.csv: its values, one per line.
column() {
  awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) at = i; next }
                        { print $at }' "$2"
}

begin "one and two ranks are measured in turn, with a table, a CSV and a plot"
write_tiny_run tiny.yaml
run "${bench[@]}" --scaling 1,2 --rounds 2
expect_code 0
expect_equal "$(grep -E '^round' <<<"$err" | tr '\n' ';')" \
  "round 1 of 2: 2 ranks;round 1 of 2: 1 rank;round 2 of 2: 2 ranks;round 2 of 2: 1 rank;"
expect_out "tiny: batch 16 (batch.per_gpu) and 1 thread for each rank, medians of 2 rounds"
expect_out_match 'ranks +images/s +rounds +speed-up +efficiency +ms/step +data +compute +communication +hidden'
expect_out_match "rank 1, $(hostname), cpu"
expect_out_match '2 ranks: [0-9.]+ of 2 times'
expect_out "Each all-reduce of a step alone, on 2 ranks:"
expect_out_match '1 +[0-9,]+ +[0-9.]+ +[0-9.]+  [0-9,]+ f32 elements and [0-9]+ f64 elements'
expect_equal "$(head -n 1 scaling.csv)" "ranks,rank,host,device,threads,batch,images_per_s,low,high,speedup,efficiency,step_ms,data_ms,compute_ms,communication_ms,hidden_communication_ms"
expect_equal "$(cut -d, -f1,2,4-6 scaling.csv | tail -n +2 | tr '\n' ' ')" "1,0,cpu,1,16 2,0,cpu,1,16 2,1,cpu,1,16 "
# Efficiency is the throughput divided by that of one rank and the count; the parts of a step add up to it.
expect_equal "$(awk -F, 'NR == 2 { one = $7 }
  NR > 1 { ideal = one * $1; parts = $13 + $14 + $15
           if ($11 <= 0 || ($7 / ideal - $11) ^ 2 > 1e-8 || ($12 - parts) ^ 2 > 1e-6) print }' scaling.csv)" ""
expect_equal "$(column communication_ms scaling.csv | head -n 1)" 0
expect_equal "$(head -c 4 scaling.png | tail -c 3)" PNG
expect_file scaling.gp
expect_no_path runs

begin "--json prints one line per count, and --plot sets the path of the files"
write_tiny_run tiny.yaml
run "${bench[@]}" --scaling 2,1 --rounds 1 --batch 8 --threads 1 --json --plot two.svg
expect_code 0
expect_equal "$(wc -l <<<"$out")" 2
expect_equal "$(grep -o '"ranks":[0-9]*' <<<"$out" | tr '\n' ' ')" '"ranks":1 "ranks":2 '
for key in images_per_s low high speedup efficiency step_ms data_ms compute_ms communication_ms \
  hidden_communication_ms all_reduces by_rank; do
  expect_equal "$(grep -c "\"$key\":" <<<"$out")" 2
done
expect_out '"batch":8,"threads":1,"rounds":1'
expect_equal "$(column batch two.csv | sort -u)" 8
expect_file two.svg
expect_no_path scaling.csv

begin "threads per rank are the cores divided by the largest count, and batches a share of the total"
write_tiny_run tiny.yaml
sed -i '/^threads/d; s/per_gpu: 16/total: 32/' tiny.yaml
run "${bench[@]}" --scaling 1,2 --rounds 1
expect_code 0
share=$(("$(env -u OMP_NUM_THREADS "$train" bench --config tiny.yaml --gpus 0 --seconds 0.02 --windows 1 --json |
  grep -o '"threads":[0-9]*' | cut -d: -f2)" / 2))
expect_equal "$(column threads scaling.csv | sort -u)" "$((share > 0 ? share : 1))"
expect_out "batch 16 (batch.total on 2 ranks)"

begin "synchronised statistics, accumulation and epochs of a few batches are measured as they are"
write_tiny_run tiny.yaml
sed -i 's/- bn$/- bn: {sync: true}/' tiny.yaml
run "${bench[@]}" --scaling 2 --rounds 1 --set accumulate=3
expect_code 0
expect_out "images/s"

begin "without gnuplot the numbers are printed, and a requested plot is refused first"
write_tiny_run tiny.yaml
run env PATH=/nonexistent "${bench[@]}" --scaling 1 --rounds 1
expect_code 0
expect_err "gnuplot was not found: no plots are drawn"
expect_err "scaling.csv has all the numbers"
expect_file scaling.csv
expect_no_path scaling.png
run env PATH=/nonexistent "${bench[@]}" --scaling 1 --output b.png
expect_code 2
expect_err "--plot: gnuplot was not found"
run "${bench[@]}" --scaling 1 --output b.pdf
expect_code 2
expect_err "ends neither in .png nor in .svg"
expect_no_err "round 1"

begin "invalid flags are refused before anything is measured"
write_tiny_run tiny.yaml
refused() {
  run "$train" bench --config tiny.yaml "${@:2}"
  expect_code 2
  expect_err "$1"
  expect_no_err "round 1"
}
refused "'x' is not a number of ranks from 1 to 256" --gpus 0 --scaling 1,x
refused "2 appears twice" --gpus 0 --scaling 2,2
refused "--scaling itself gives the numbers of ranks" --gpus 0 --scaling 1,2 --replicas 2
refused "--sync-dir copies to the hosts of --hosts" --gpus 0 --scaling 1,2 --sync-dir /data
refused "--layers" --gpus 0 --scaling 1,2 --layers
refused "--node-times" --gpus 0 --scaling 1,2 --node-times nodes.jsonl
for flag in "--rounds 2" "--plot a.png" "--replicas 2" "--hosts hosts.txt"; do
  # shellcheck disable=SC2086  # a flag and its value
  refused "--scaling" --gpus 0 $flag
done
refused "--scaling needs 4 GPUs, but --gpus 2 selects 2" --gpus 2 --scaling 1,4
refused "--scaling gives each rank its own batch, but 'batch.shards: 4' makes one batch for all" \
  --gpus 0 --scaling 1,2 --set 'batch={total: 32, shards: 4}'
run "$train" bench --config tiny.yaml --gpus 4 --scaling 1,4
expect_code 8
# No GPU part, no driver, or no GPU (lib.sh hides existing ones).
expect_err_match "--gpus 4: (the GPU part of train is not there|no NVIDIA driver was found|the GPUs cannot be used)"
run "${bench[@]}" --scaling 1,2 --set epocs=1
expect_code 3
expect_equal "$(grep -c epocs <<<"$err")" 1
run env RANK=0 WORLD_SIZE=1 "${bench[@]}" --scaling 1
expect_code 2
expect_err "--scaling starts the ranks, but RANK and WORLD_SIZE say that this is already one"

begin "errors in the data are reported once, by the largest count"
write_tiny_run tiny.yaml
run "${bench[@]}" --scaling 1,2 --batch 64
expect_code 3
expect_equal "$(grep -c "fewer than one global batch of 128" <<<"$err")" 1
expect_equal "$(grep -c '^round' <<<"$err")" 1
expect_no_path scaling.csv

begin "training that diverges is not measured"
write_tiny_run tiny.yaml
run "${bench[@]}" --scaling 2 --rounds 1 --set optimizer.sgd.lr=1e30
expect_code 5
expect_err "training diverged within the first steps"

begin "a rank that dies, and Ctrl-C, end all"
write_tiny_run tiny.yaml
# rank_of_bench N: waits for rank N of the bench started in this folder.
rank_of_bench() {
  local process=
  until [[ -n $process ]]; do process=$(rank_process --scaling "$1"); done
  echo "$process"
}
slow=("$train" bench --config tiny.yaml --gpus 0 --scaling "1,2" --seconds 60)
run_until "round 1 of 3: 2 ranks" "${slow[@]}"
kill -KILL "$(rank_of_bench 1)"
wait_for_exit
expect_code 8
expect_out "rank 1 ("
expect_equal "$(grep -c 'train: error' <<<"$out")" 1
run_until "round 1 of 3: 2 ranks" "${slow[@]}"
rank_of_bench 0 >/dev/null
kill -INT "$pid"
wait_for_exit
expect_code 130
expect_nobody_left --scaling
expect_no_path scaling.csv

begin "ranks fill the hosts one after another, through mpirun"
write_tiny_run tiny.yaml
printf 'node1\nnode2\n' >hosts.txt
mkdir bin
cat >bin/mpirun <<SH
#!/bin/sh
printf '%s ' "\$@" | cut -d' ' -f1-6 >>"$PWD/mpirun.arguments"
exit 6
SH
chmod +x bin/mpirun
for counts in 1 2 4; do
  run env PATH="$PWD/bin:$PATH" "${bench[@]}" --scaling "$counts" --hosts hosts.txt --replicas 2
  expect_code 6
done
expect_equal "$(tr '\n' ';' <mpirun.arguments)" \
  "--host node1:1 -np 1 -N 1;--host node1:2 -np 2 -N 2;--host node1:2,node2:2 -np 4 -N 2;"
run env PATH="$PWD/bin:$PATH" "${bench[@]}" --scaling 1,3 --hosts hosts.txt --replicas 2
expect_code 2
expect_err "3 ranks do not fill the hosts of hosts.txt, which take 2 each; use up to 2, or a multiple of it up to 4"

begin "ranks started by mpirun return their measurements"
if has_open_mpi; then
  write_tiny_run tiny.yaml
  echo localhost >hosts.txt
  run "${bench[@]}" --scaling 1,2 --rounds 1 --hosts hosts.txt --replicas 2
  expect_code 0
  expect_equal "$(cut -d, -f1,2 scaling.csv | tail -n +2 | tr '\n' ' ')" "1,0 2,0 2,1 "
else
  skip "Open MPI or ssh is missing"
fi

finish 11 1
