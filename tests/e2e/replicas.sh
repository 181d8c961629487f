#!/usr/bin/env bash
# Several ranks that train one model: the same bytes from run to run and from any launcher, shards,
# resume on a different number of ranks, and how a job ends when a rank dies.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# shellcheck source=tests/e2e/lib_ranks.sh
source "$(dirname "$0")/lib_ranks.sh"

limits=(--set limits.silence=2 --set limits.step=20)

begin "two ranks train one model, with the same bytes each time"
write_tiny_run tiny.yaml
for folder in one again; do
  run "${quick[@]}" --config tiny.yaml --replicas 2 --out "$folder"
  expect_code 0
  expect_out "2 ranks, each CPU, 1 thread, sums in shared memory, global batch 32 = 16 x 2, 3 steps"
  expect_equal "$(grep -c '^Epoch' <<<"$out")" 3
done
expect_same_run again one
[[ -e one/logs/rank1.log ]] || fail "rank 1 has no log"
run "${quick[@]}" --config tiny.yaml --replicas 2 --out other --seed 7
expect_differs "$(untimed other/metrics.csv)" "$(untimed one/metrics.csv)"
expect_equal "$(grep -o '"ranks": [0-9]*' one/run.json)" '"ranks": 2'

begin "with a 16-bit gradient dtype the ranks still have the same model"
write_tiny_run tiny.yaml
for transport in fp32 bf16; do
  run "${quick[@]}" --config tiny.yaml --replicas 2 --out "$transport" \
    --set "ranks={transport: $transport, check_weights: 1}"
  expect_code 0
done
expect_differs "$(untimed bf16/metrics.csv)" "$(untimed fp32/metrics.csv)"
run "${quick[@]}" --config tiny.yaml --replicas 2 --out fp64 --device reference --precision fp64 \
  --set ranks.transport=bf16
expect_code 3
expect_err "'ranks.transport: bf16' would round the gradients of 'precision: fp64' to 16 bits"

begin "with shards any number of ranks gives the same bytes, also after a stop and resume"
write_tiny_run tiny.yaml
shards=(--set 'batch={total: 32, shards: 4}' --set epochs=6)
for ranks in 1 2 4; do
  run "${quick[@]}" --config tiny.yaml "${shards[@]}" --replicas "$ranks" --out "$ranks"
  expect_code 0
done
expect_same_run 2 1
expect_same_run 4 1
run_until "Epoch 2/" "${quick[@]}" --config tiny.yaml "${shards[@]}" --replicas 4 --out killed
kill -KILL "$pid"
wait_for_exit
run "${quick[@]}" resume killed --replicas 1
expect_code 0
expect_same_run killed 1
run "${quick[@]}" --config tiny.yaml "${shards[@]}" --replicas 3 --out three
expect_code 3
expect_err "4"

begin "fixed statistics of batch norm give the same bytes on any number of ranks, also after a kill"
write_tiny_run run.yaml
sed -i 's/^batch: .*/batch: {total: 32}/; s/^epochs: .*/epochs: 6/' run.yaml
expect_same_bytes --set 'freeze_statistics=["*"]' --set 'average={ema: 0.9}'

begin "bf16 on the CPU has the same bits on any number of ranks and threads, or is refused"
write_tiny_run tiny.yaml
bf16=(--config tiny.yaml --precision bf16 --set 'batch={total: 32, shards: 4}' --set epochs=6)
if grep -qw avx512_bf16 /proc/cpuinfo; then
  run "${quick[@]}" "${bf16[@]}" --replicas 1 --out bf16-one
  expect_code 0
  run "${quick[@]}" "${bf16[@]}" --replicas 1 --threads 3 --out bf16-threads
  expect_same_file bf16-threads/weights/last.safetensors bf16-one/weights/last.safetensors
  run_until "Epoch 2/" "${quick[@]}" "${bf16[@]}" --replicas 2 --out bf16-killed
  kill -KILL "$pid"
  wait_for_exit
  run "${quick[@]}" resume bf16-killed --replicas 1
  expect_code 0
  expect_same_run bf16-killed bf16-one
else
  run "${quick[@]}" "${bf16[@]}" --replicas 1
  expect_code 8
  expect_err "--set precision:1:1: 'precision: bf16' needs a processor with AVX512-BF16"
fi

begin "a killed rank ends all with one message that names it, and the run can be resumed"
write_tiny_run tiny.yaml
for rank in 0 1 2; do
  run_until "Epoch 2/" "${quick[@]}" --config tiny.yaml --replicas 3 --set epochs=100000 \
    --out "killed$rank" "${limits[@]}"
  kill -KILL "$(rank_process "--out killed$rank" "$rank")"
  wait_for_exit
  expect_code 8
  expect_out "rank $rank ("
  expect_equal "$(grep -c 'train: error' <<<"$out")" 1
  expect_nobody_left "--out killed$rank"
  # Rank 0 writes the folder: unless it is the one that died, the folder names the cause.
  [[ $rank -eq 0 ]] || grep -q "\"message\": \"rank $rank (" "killed$rank/status.json" ||
    fail "status.json does not name rank $rank"
  run "${quick[@]}" resume "killed$rank" --replicas 3 --max-time 1
  expect_code 75
done

begin "a stopped rank ends all within the limit"
write_tiny_run tiny.yaml
run_until "Epoch 2/" "${quick[@]}" --config tiny.yaml --replicas 2 --set epochs=100000 --out a \
  "${limits[@]}"
kill -STOP "$(rank_process "--out a" 1)"
wait_for_exit
expect_code 8
expect_out "rank 1 ("
expect_out "no heartbeat for 2 s"
expect_equal "$(grep -o '"state": "[a-z]*"' a/status.json)" '"state": "failed"'
expect_nobody_left "--out a"

begin "a signal to any rank saves once and stops all after the same step"
write_tiny_run tiny.yaml
for rank in 0 1; do
  run_until "Epoch 2/" "${quick[@]}" --config tiny.yaml --replicas 2 --set epochs=60 --out "term$rank"
  kill -TERM "$(rank_process "--out term$rank" "$rank")"
  wait_for_exit
  expect_code 143
  expect_out "resume with: train resume"
  expect_nobody_left "--out term$rank"
  run "${quick[@]}" resume "term$rank" --replicas 2
  expect_code 0
done
run "${quick[@]}" --config tiny.yaml --replicas 2 --set epochs=60 --out whole
expect_same_run term1 whole

begin "a job whose rank died restarts by itself"
write_tiny_run tiny.yaml
run_until "Epoch 2/" "${quick[@]}" --config tiny.yaml --replicas 2 --set epochs=60 --out a \
  --max-restarts 1
kill -KILL "$(rank_process "--out a" 1)"
wait_for_exit
expect_code 0
expect_out "starting again from the last checkpoint (1 of 1)"
run "${quick[@]}" --config tiny.yaml --replicas 2 --set epochs=60 --out whole
expect_same_run a whole

begin "ranks started by mpirun train like local ones, and a missing one is named"
write_tiny_run tiny.yaml
run "${quick[@]}" --config tiny.yaml --replicas 2 --out local
if has_open_mpi; then
  run mpirun --oversubscribe -np 2 env PATH=/nonexistent "$train" --config tiny.yaml --out mpi
  expect_code 0
  expect_same_run mpi local
else
  skip "Open MPI or ssh is missing"
fi
run env RANK=0 WORLD_SIZE=2 LOCAL_RANK=0 LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29517 \
  TRAINYARD_TOKEN=t "$train" --config tiny.yaml --out alone --set limits.first_step=1
expect_code 8
expect_err "rank 1"
expect_no_path alone

begin "ranks that cannot share memory all-reduce over TCP, and train to the same bytes"
write_tiny_run tiny.yaml
run "${quick[@]}" --config tiny.yaml --replicas 2 --out local
expect_out "sums in shared memory"
if unshare --map-root-user --pid --fork true 2>/dev/null; then
  place=(WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29520 TRAINYARD_TOKEN=t)
  env "${place[@]}" RANK=1 LOCAL_RANK=1 unshare --map-root-user --pid --fork \
    "$train" --config tiny.yaml --out b >other.log 2>&1 &
  run env "${place[@]}" RANK=0 LOCAL_RANK=0 "$train" --config tiny.yaml --out apart
  expect_code 0
  expect_out "sums over TCP"
  expect_same_run apart local
  wait
else
  skip "no PID namespace can be created here"
fi

begin "ranks that see different data end before the first step"
write_tiny_run tiny.yaml
sed 's/size: 96/size: 128/' tiny.yaml >larger.yaml
place=(WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29518 TRAINYARD_TOKEN=t)
env "${place[@]}" RANK=1 LOCAL_RANK=1 "$train" --config larger.yaml --out b >other.log 2>&1 &
run env "${place[@]}" RANK=0 LOCAL_RANK=0 "$train" --config tiny.yaml --out a
expect_code 8
expect_err "rank 1 has a different config than rank 0"
wait
expect_no_path a

begin "ranks that start with different weights end before the first step"
write_tiny_run tiny.yaml
for seed in 1 2; do
  run "${quick[@]}" --config tiny.yaml --epochs 1 --seed "$seed" --out "from$seed"
  expect_code 0
done
place=(WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29519 TRAINYARD_TOKEN=t)
env "${place[@]}" RANK=1 LOCAL_RANK=1 "$train" --config tiny.yaml --out b \
  --init from1/weights/last.safetensors >other.log 2>&1 &
run env "${place[@]}" RANK=0 LOCAL_RANK=0 "$train" --config tiny.yaml --out a \
  --init from2/weights/last.safetensors
expect_code 8
expect_err "rank 1 has a different model to begin with than rank 0"
wait
expect_no_path a

begin "a batch that grew with the ranks is scaled as configured, or warned about"
write_tiny_run tiny.yaml
run "${quick[@]}" --config tiny.yaml --replicas 2 --out silent
expect_code 0
expect_err "the global batch 32 is 2 times that of one rank, but the learning rate is unchanged"
grep -q "the global batch 32 is 2 times" silent/train.log || fail "the log lacks the warning"
run "${quick[@]}" --config tiny.yaml --replicas 2 --out none --set lr_scaling=none
expect_no_err "learning rate"
expect_same_run none silent
run "${quick[@]}" --config tiny.yaml --replicas 2 --out linear \
  --set 'lr_scaling={linear: {warmup_epochs: 1}}'
expect_code 0
expect_no_err "learning rate"
expect_out "3 steps, lr x 2 |"
# rates FOLDER: the learning rates of epochs 2 and 3.
rates() { awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "lr") at = i }
                   NR > 2 { printf "%.6g ", $at }' "$1/metrics.csv"; }
expect_equal "$(rates none)" "0.0333333 0.0166667 "
expect_equal "$(rates linear)" "0.0666667 0.0333333 "

begin "a run resumed with another global batch keeps its position, and reports it"
write_tiny_run tiny.yaml
run_until "Epoch 2/" "${quick[@]}" --config tiny.yaml --replicas 2 --set epochs=60 --out moved
kill -KILL "$pid"
wait_for_exit
run "${quick[@]}" resume moved --replicas 1
expect_code 0
expect_err "the run was saved with a global batch of 32 and continues with 16"
expect_equal "$(tail -n 1 moved/metrics.csv | cut -d, -f1)" 60
expect_equal "$(tail -n 1 moved/metrics.csv | cut -d, -f3)" "$((60 * 96))"

begin "ranks compare their models as often as configured"
write_tiny_run tiny.yaml
run "${quick[@]}" --config tiny.yaml --replicas 2 --out checked --set ranks.check_weights=2
expect_code 0
run "${quick[@]}" --config tiny.yaml --replicas 2 --out unchecked
expect_same_run checked unchecked

finish 16 2
