#!/usr/bin/env bash
# Ranks: who starts them, which flags and variables contradict each other, and what happens to a job
# whose ranks die, are stopped or are restarted.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# shellcheck source=tests/e2e/lib_ranks.sh
source "$(dirname "$0")/lib_ranks.sh"

# rank_of FOLDER: the process that writes to a run folder.
rank_of() { sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$1/status.json"; }

# fake NAME: a program bin/NAME that writes its arguments, one per line, to NAME.arguments, and the
# variables that ranks read to NAME.variables.
fake() {
  mkdir -p bin
  cat >"bin/$1" <<SH
#!/bin/sh
printf '%s\n' "\$@" >>"$PWD/$1.arguments"
env | grep -E '^(TRAINYARD_|MASTER_)' | sort >"$PWD/$1.variables"
exit \${${1^^}_CODE:-0}
SH
  chmod +x "bin/$1"
}

begin "invalid numbers of ranks are refused"
write_tiny_run tiny.yaml
for count in 0 -1 257 two; do
  run "$train" --config tiny.yaml --replicas "$count"
  expect_code 2
  expect_err "--replicas"
done
expect_no_path runs

begin "an error of the config is printed once, before ranks are started"
write_tiny_run tiny.yaml
run "$train" --config tiny.yaml --replicas 3 --set epocs=1
expect_code 3
expect_err "unknown key 'epocs'"
expect_equal "$(grep -c epocs <<<"$err")" 1

begin "launchers that contradict each other or the flags are refused, naming both"
write_tiny_run tiny.yaml
two=(RANK=1 WORLD_SIZE=2 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500)
run env "${two[@]}" OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK=0 \
  OMPI_COMM_WORLD_LOCAL_SIZE=2 "$train" --config tiny.yaml
expect_code 2
expect_err "RANK=1 and OMPI_COMM_WORLD_RANK=0 contradict each other"
run env "${two[@]}" "$train" --config tiny.yaml --replicas 4
expect_code 2
expect_err "--replicas 4 asks for 4 ranks on this host, but LOCAL_WORLD_SIZE=2 means 2"
run env "${two[@]}" "$train" --config tiny.yaml --gpus 3
expect_code 2
expect_err "--gpus 3 asks for 3 ranks on this host, but LOCAL_WORLD_SIZE=2 means 2"
run env "${two[@]}" "$train" --config tiny.yaml --gpus auto:2
expect_code 2
expect_err "--gpus auto:2: ranks that train did not start (environment) would each find different GPUs idle"
run env "${two[@]}" "$train" --config tiny.yaml --max-restarts 1
expect_code 2
expect_err "--max-restarts is for ranks that train starts"
touch hosts.txt
run env "${two[@]}" "$train" --config tiny.yaml --hosts hosts.txt --gpus 2
expect_code 2
expect_err "--hosts starts the ranks, but RANK and WORLD_SIZE say that this is already one"
expect_no_path runs

begin "a rank that a launcher started does not start others, and waits for rank 0 in vain"
write_tiny_run tiny.yaml
run env "${two[@]}" "$train" --config tiny.yaml --replicas 2 --set limits.first_step=1
expect_code 8
expect_err "127.0.0.1:29500"
run env RANK=0 WORLD_SIZE=1 "$train" --config tiny.yaml --set epochs=1
expect_code 0

begin "verbs that do not train or check ignore the rank variables"
write_tiny_run tiny.yaml
run env RANK=none "$train" summary --config tiny.yaml
expect_code 0
run env RANK=none "$train" --config tiny.yaml
expect_code 2
expect_err "RANK='none' is not a whole number from 0 to"

begin "a killed rank is restarted from its last checkpoint, and ends like one never killed"
write_tiny_run tiny.yaml
run_until "Epoch 2/" "${quick[@]}" --config tiny.yaml --set epochs=60 --max-restarts 1
kill -KILL "$(rank_of runs/tiny/0001)"
wait_for_exit
expect_code 0
expect_out "rank 0 ("
expect_out "was killed by signal 9"
expect_out "starting again from the last checkpoint (1 of 1)"
expect_no_path runs/tiny/0002
run "${quick[@]}" --config tiny.yaml --set epochs=60 --out whole
expect_code 0
expect_same_run runs/tiny/0001 whole

begin "a rank killed more often than it may be restarted ends with exit code 8"
write_tiny_run tiny.yaml
run_until "Epoch 2/" "${quick[@]}" --config tiny.yaml --set epochs=100000 --out a --max-restarts 1
kill -KILL "$(rank_of a)"
wait_for_line "starting again from the last checkpoint (1 of 1)"
wait_for_line "Epoch "
kill -KILL "$(rank_of a)"
wait_for_exit
expect_code 8
expect_equal "$(grep -c 'was killed by signal 9' <<<"$out")" 2
expect_equal "$(grep -c 'starting again' <<<"$out")" 1

begin "ranks die with a launcher that is killed"
write_tiny_run tiny.yaml
run_until "Epoch 2/" "${quick[@]}" --config tiny.yaml --set epochs=100000 --out a --max-restarts 1
kill -KILL "$pid"
wait_for_exit # until the end of the rank's output, when the rank has ended
expect_code 137

begin "signals sent to the launcher save and stop its ranks, and end it the same way"
write_tiny_run tiny.yaml
for pair in INT:130 TERM:143 HUP:129; do
  signal=${pair%:*}
  run_until "Epoch 2/" "${quick[@]}" --config tiny.yaml --set epochs=60 --out "$signal" \
    --max-restarts 3
  kill "-$signal" "$pid"
  wait_for_exit
  expect_code "${pair#*:}"
  expect_out "resume with: train resume"
  run "${quick[@]}" resume "$signal" --max-restarts 1
  expect_code 0
done
run "${quick[@]}" --config tiny.yaml --set epochs=60 --out whole
expect_same_run TERM whole

begin "a rank's own time limit and errors become the launcher's, and are not retried"
write_tiny_run tiny.yaml
run "${quick[@]}" --config tiny.yaml --set epochs=100000 --out a --max-time 1 --max-restarts 3
expect_code 75
expect_no_err "starting again"
run "${quick[@]}" --config tiny.yaml --out a --max-restarts 3
expect_code 2
expect_no_err "starting again"
expect_equal "$(grep -c 'train: error' <<<"$err")" 1

begin "errors in a host file are reported with their lines before anything is started"
write_tiny_run tiny.yaml
printf 'node1\nnode2 slots=none\n' >hosts.txt
run "$train" --config tiny.yaml --hosts hosts.txt --gpus 2
expect_code 3
expect_err "hosts.txt:2:1: 'slots=none' after host 'node2'"
printf 'node1 slots=1\n' >hosts.txt
run "$train" --config tiny.yaml --hosts hosts.txt --gpus 2
expect_code 3
expect_err "hosts.txt:1:1: host 'node1' has slots=1, but 2 ranks are requested"
run "$train" --config tiny.yaml --hosts host.txt --gpus 2
expect_code 3
expect_err "--hosts: there is no file 'host.txt'; did you mean 'hosts.txt'?"

begin "--hosts needs a count, and --sync-dir needs --hosts and an absolute folder"
write_tiny_run tiny.yaml
echo node1 >hosts.txt
for gpus in all auto:2; do
  run "$train" --config tiny.yaml --hosts hosts.txt --gpus "$gpus"
  expect_code 2
  expect_err "the same number of ranks on every host, but --gpus $gpus does not give it"
done
run "$train" --config tiny.yaml --hosts hosts.txt
expect_code 2
expect_err "give --gpus N, or --replicas N with --gpus 0"
run "$train" --config tiny.yaml --sync-dir /data
expect_code 2
expect_err "--sync-dir copies to the hosts of --hosts"
fake mpirun
fake rsync
run env PATH="$PWD/bin:$PATH" "$train" --config tiny.yaml --hosts hosts.txt --gpus 2 --sync-dir data
expect_code 2
expect_err "--sync-dir 'data' is not absolute"
expect_no_path mpirun.arguments

begin "without mpirun or rsync the message says how to install them"
write_tiny_run tiny.yaml
echo node1 >hosts.txt
run "${quick[@]}" --config tiny.yaml --hosts hosts.txt --gpus 2
expect_code 2
expect_err "--hosts: mpirun was not found in PATH; install Open MPI (Debian, Ubuntu: apt install openmpi-bin"
fake mpirun
run env PATH="$PWD/bin" "$train" --config tiny.yaml --hosts hosts.txt --gpus 2 --sync-dir /data
expect_code 2
expect_err "--sync-dir: rsync was not found in PATH; install rsync here and on the hosts"

begin "--hosts passes mpirun the hosts, the arguments as typed, and a token hidden from process lists"
write_tiny_run tiny.yaml
printf '# ours\nnode1\nnode2 slots=8\n' >hosts.txt
fake mpirun
run env PATH="$PWD/bin:$PATH" "$train" --config tiny.yaml --hosts hosts.txt --gpus 8
expect_code 0
expect_equal "$(head -n 8 mpirun.arguments | tr '\n' ' ')" \
  "--host node1:8,node2:8 -np 16 -N 8 --bind-to none "
expect_equal "$(tail -n 7 mpirun.arguments | tr '\n' ' ')" \
  "$train --config tiny.yaml --hosts hosts.txt --gpus 8 "
expect_equal "$(grep -c '^MASTER_ADDR=node1$' mpirun.arguments)" 1
expect_equal "$(grep -c '^TRAINYARD_TOKEN$' mpirun.arguments)" 1
token=$(sed -n 's/^TRAINYARD_TOKEN=//p' mpirun.variables)
expect_equal "${#token}" 32
expect_equal "$(grep -c -- "$token" mpirun.arguments)" 0
run env PATH="$PWD/bin:$PATH" MPIRUN_CODE=213 "$train" --config tiny.yaml --hosts hosts.txt --gpus 8
expect_code 8
expect_err "mpirun ended with exit code 213; see mpirun's output above"
run env PATH="$PWD/bin:$PATH" MPIRUN_CODE=4 "$train" --config tiny.yaml --hosts hosts.txt --gpus 8
expect_code 4
expect_equal "$err" ""

begin "--sync-dir copies the current folder to every host first, and the ranks run there"
write_tiny_run tiny.yaml
printf 'node1\nlocalhost.example\n' >hosts.txt
fake mpirun
fake rsync
run env PATH="$PWD/bin:$PATH" "$train" --config tiny.yaml --hosts hosts.txt --gpus 0 --replicas 2 \
  --sync-dir /data/job
expect_code 0
expect_equal "$(grep -cE '^(node1|localhost.example):/data/job/$' rsync.arguments)" 2
expect_equal "$(grep -A1 -e --wdir mpirun.arguments | tail -n 1)" /data/job
rm mpirun.arguments
run env PATH="$PWD/bin:$PATH" RSYNC_CODE=12 "$train" --config tiny.yaml --hosts hosts.txt --gpus 2 \
  --sync-dir /data/job
expect_code 8
expect_err "copying to node1 with rsync failed with exit code 12"
expect_no_path mpirun.arguments

begin "a rank under mpirun trains to the same bytes, and a signal to the launcher saves its work"
if has_open_mpi; then
  write_tiny_run tiny.yaml
  echo localhost >hosts.txt
  mkdir bin # with mpirun and the ssh it needs, without gnuplot
  ln -s "$(command -v mpirun)" "$(command -v ssh)" bin/
  on_hosts=(env PATH="$PWD/bin" "$train" --hosts hosts.txt --gpus 0 --config tiny.yaml)
  run_until "Epoch 2/" "${on_hosts[@]}" --set epochs=200 --out stopped
  kill -TERM "$pid"
  wait_for_exit
  expect_code 143
  expect_out "resume with: train resume"
  run "${quick[@]}" resume stopped
  expect_code 0
  run "${on_hosts[@]}" --set epochs=200 --out whole
  expect_code 0
  expect_same_run stopped whole
  run mpirun --oversubscribe -np 2 "$train" --config tiny.yaml --hosts hosts.txt --gpus 2
  expect_code 2
  expect_err "--hosts starts the ranks, but mpirun has already started this one"
else
  skip "Open MPI or ssh is missing"
fi

finish 16 1
