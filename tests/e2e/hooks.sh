#!/usr/bin/env bash
# Shell commands that a run starts at its events.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# Without gnuplot in PATH, but with the tools of hooks.
mkdir "$scratch/bin"
for tool in cat sleep; do ln -s "$(command -v $tool)" "$scratch/bin/$tool"; done
quick=(env PATH="$scratch/bin" "$train")

# write_hooked_run FILE: a tiny run with the hooks on stdin.
write_hooked_run() {
  write_tiny_run "$1"
  { echo hooks: && sed 's/^/  /'; } >>"$1"
}

begin "hooks are told every epoch, every better one and the end, and change nothing"
# shellcheck disable=SC2016 # expanded by the hooks
write_hooked_run tiny.yaml <<'YAML'
epoch: cat >>events.txt; echo $TRAINYARD_EPOCH/$TRAINYARD_EPOCHS $TRAINYARD_STEP $TRAINYARD_VAL_LOSS >>epochs.txt
best: test -s "$TRAINYARD_WEIGHTS" && echo $TRAINYARD_BEST_METRIC $TRAINYARD_BEST_VALUE $TRAINYARD_BEST_EPOCH >>best.txt
end: |
  echo $TRAINYARD_EVENT $TRAINYARD_STATE $TRAINYARD_EXIT_CODE $TRAINYARD_EPOCH $TRAINYARD_RUN $TRAINYARD_WEIGHTS >>end.txt
YAML
run "${quick[@]}" tiny.yaml --out a
expect_code 0
expect_no_err hooks
tail -n +2 a/metrics.csv | awk -F, '{printf "%d/3 %d %.9g\n", $1, $2, $6}' >expected.txt
awk '{printf "%s %d %.9g\n", $1, $2, $3}' epochs.txt >told.txt
expect_same_file told.txt expected.txt
expect_equal "$(grep -c '^{"event":"epoch","run":".*/a","state":"running","exit_code":null,.*"val_loss":.*}$' events.txt)" 3
tail -n +2 a/metrics.csv | awk -F, '$11 == 1 {print "val_accuracy " $7 " " $1}' >expected.txt
expect_same_file best.txt expected.txt
expect_equal "$(cat end.txt)" "end completed 0 3 $PWD/a $PWD/a/weights/best.safetensors"
run "${quick[@]}" tiny.yaml --out b --set hooks=off
expect_code 0
expect_equal "$(wc -l <epochs.txt | tr -d ' ')" 3
for file in weights/last.safetensors weights/best.safetensors; do expect_same_file a/$file b/$file; done

begin "a resume tells its epochs alone, and of several ranks only the first"
# shellcheck disable=SC2016 # expanded by the hooks
write_hooked_run tiny.yaml <<'YAML'
epoch: echo $TRAINYARD_EPOCH >>epochs.txt
YAML
run "${quick[@]}" tiny.yaml --out a --replicas 2 --set batch.per_gpu=8
expect_code 0
run "${quick[@]}" resume a --replicas 2 --set epochs=5
expect_code 0
expect_equal "$(xargs <epochs.txt)" "1 2 3 4 5"

begin "hooks that fail, hang or are missing are one warning each, and the run is complete"
write_hooked_run tiny.yaml <<'YAML'
epoch: echo "no route to host" >&2; exit 7
best: no-such-program
end: sleep 100
time_limit: 3
YAML
run "${quick[@]}" tiny.yaml --out a
expect_code 0
expect_equal "$(grep -c hooks <<<"$err")" 3
expect_err "train: warning: hooks.epoch: 'echo \"no route to host\" >&2; exit 7' ended with code 7: no route to host"
expect_err "train: warning: hooks.best: 'no-such-program' ended with code 127: "
expect_err "train: warning: hooks.end: 'sleep 100' had not ended after 3 s and was killed"
expect_equal "$(grep -c '"state": "completed"' a/status.json)" 1
expect_equal "$(cat a/logs/hook_epoch.err)" "no route to host"

begin "a run that is interrupted, diverges or fails tells its end"
# shellcheck disable=SC2016 # expanded by the hooks
write_hooked_run tiny.yaml <<'YAML'
end: echo $TRAINYARD_STATE $TRAINYARD_EXIT_CODE ${TRAINYARD_MESSAGE:+with a message} >>"$TRAINYARD_RUN/../end.txt"
YAML
run_until "Epoch 2/" "${quick[@]}" tiny.yaml --out a --set epochs=1000
kill -INT "$pid"
wait_for_exit
expect_equal "$code $(cat end.txt)" "130 interrupted 130"
run "${quick[@]}" tiny.yaml --out b --set optimizer.sgd.lr=1e30
expect_code 5
expect_equal "$(tail -n 1 end.txt)" "diverged 5 with a message"
run "${quick[@]}" tiny.yaml --out c --replicas 2 --set batch.per_gpu=8 --set optimizer.sgd.lr=1e30
expect_code 5
expect_equal "$(tail -n 1 end.txt)" "diverged 5 with a message"
expect_equal "$(wc -l <end.txt | tr -d ' ')" 3

begin "check and the dry run of a sweep name hooks and start none"
write_hooked_run tiny.yaml <<'YAML'
epoch: echo told >>told.txt
end: echo told >>told.txt
YAML
run "$train" check tiny.yaml
expect_code 0
expect_out "hooks: epoch, end: shell commands that a run starts, not this"
run "$train" sweep tiny.yaml --grid seed=1,2 --dry-run
expect_code 0
expect_out "hooks: epoch, end: shell commands that a run starts, not this"
run "$train" summary tiny.yaml
expect_no_path told.txt

begin "wrong hooks have their place"
write_hooked_run tiny.yaml <<'YAML'
epoc: echo
time_limit: 0
YAML
run "$train" check tiny.yaml
expect_code 3
expect_err "unknown key 'epoc'"
expect_err "'epoch'"
expect_err "time_limit"
run "$train" check tiny.yaml --epoch 3
expect_code 2
expect_err "did you mean '--epochs'?"

begin "the examples of the tracking page are shell commands and Python"
page=$source_dir/docs/tracking.md
for kind in yaml sh python; do
  awk -v kind=$kind '/^```/ { inside = 0 }
                     inside { print > (kind count ".txt") }
                     $0 == "```" kind { inside = 1; ++count }' "$page"
done
expect_equal "$(echo ./*.txt)" "./python1.txt ./sh1.txt ./yaml1.txt ./yaml2.txt ./yaml3.txt"
run sh -n sh1.txt
expect_code 0
if command -v python3 >/dev/null; then
  run python3 -c 'compile(open("python1.txt").read(), "wandb_epoch.py", "exec")'
  expect_code 0
fi
for block in yaml*.txt; do
  write_tiny_run tiny.yaml
  cat "$block" >>tiny.yaml
  run "$train" check tiny.yaml --show-config
  expect_code 0
done
# What the shell makes of the message: a curl that prints its arguments.
curl() { printf '%s\n' "$@"; }
export -f curl
cat yaml3.txt >message.yaml
command=$(tail -n +3 message.yaml | sed 's/^    //' | tr '\n' ' ')
run env TRAINYARD_RUN=r TRAINYARD_STATE=completed TRAINYARD_BEST_METRIC=m TRAINYARD_BEST_VALUE=1 CHAT_WEBHOOK=url \
  bash -c "$command"
expect_out '{"text": "r: completed, best m 1"}'
expect_out $'\nurl'

finish 7 0
