#!/usr/bin/env bash
# Folders that cannot be written, full disks, a missing gnuplot.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

begin "a run folder that cannot be created ends with exit 7 before training"
write_tiny_run tiny.yaml
echo text >file
run "$train" --config tiny.yaml --out file/below
expect_code 7
expect_err "cannot make the folder 'file'"
run "$train" --config tiny.yaml --out /proc/nowhere/a
expect_code 7
expect_err "/proc/nowhere"
expect_no_out "Epoch 1"

begin "a folder without permission ends with exit 7"
if [[ $(id -u) -eq 0 ]]; then
  skip "root can write everywhere"
else
  write_tiny_run tiny.yaml
  mkdir runs
  chmod 555 runs
  run "$train" --config tiny.yaml
  chmod 755 runs
  expect_code 7
  expect_err "runs"
fi

begin "a file size limit, like a full disk, ends with exit 7, and the run can be resumed"
write_tiny_run tiny.yaml
sed -i 's/- dropout: 0.1/- dense: 300/' tiny.yaml # 150 KiB of weights
# shellcheck disable=SC2016  # expanded by the inner shell
run bash -c 'ulimit -f 64; PATH=/nonexistent exec "$0" "$@"' \
  "$train" --config tiny.yaml --out a
expect_code 7
expect_err "raise the file-size limit (ulimit -f)"
run "${quick[@]}" resume a
expect_code 0
run "${quick[@]}" --config tiny.yaml --out b
untimed a/metrics.csv >a.csv
untimed b/metrics.csv >b.csv
expect_file b.csv
expect_same_file a.csv b.csv

begin "a disk that fills up in mid-run ends with exit 7, and the resumed run ends the same"
write_tiny_run tiny.yaml
mkdir mount
# A checkpoint requires 1 MiB free and takes 24 KiB; ten of them do not fit as well.
cat >fill.sh <<'SH'
mount -t tmpfs -o size=1200k tmpfs mount || exit 99
env PATH=/nonexistent "$1" --config tiny.yaml --set epochs=10 --set checkpoint.keep=10 --out mount/a >log 2>&1
echo "$?" >first_code
mount -o remount,size=4m mount
env PATH=/nonexistent "$1" resume mount/a >>log 2>&1
echo "$?" >second_code
cp -r mount/a a
SH
run env PATH=/usr/sbin:/usr/bin:/sbin:/bin unshare --mount --map-root-user bash fill.sh "$train"
if [[ ! -f first_code ]]; then
  skip "a tmpfs cannot be mounted here"
else
  err=$(cat log)
  expect_equal "$(cat first_code)" 7
  expect_err "mount/a"
  expect_equal "$(cat second_code)" 0
  run "${quick[@]}" --config tiny.yaml --set epochs=10 --out b
  untimed a/metrics.csv >a.csv
  untimed b/metrics.csv >b.csv
  expect_file b.csv
  expect_same_file a.csv b.csv
fi

begin "results that cannot be printed are an error"
write_tiny_run tiny.yaml
run bash -c '"$0" summary --config tiny.yaml >/dev/full' "$train"
expect_code 7
expect_err "cannot write to standard output: No space left on device"

begin "without gnuplot a run succeeds, with one warning and its numbers"
write_tiny_run tiny.yaml
run "${quick[@]}" --config tiny.yaml
expect_code 0
expect_equal "$(grep -c gnuplot "$scratch/stderr")" 1
expect_equal "$(wc -l <runs/tiny/0001/metrics.csv | tr -d ' ')" 4

begin "without gnuplot --plot is refused before step 1"
write_tiny_run tiny.yaml
run "${quick[@]}" --config tiny.yaml --output curves.png
expect_code 2
expect_err "gnuplot"
expect_no_out "Epoch 1"
expect_no_path curves.png

begin "--output with an extension other than .png and .svg is refused"
write_tiny_run tiny.yaml
run "$train" --config tiny.yaml --output curves.docx
expect_code 2
expect_err "curves.docx"

finish 8 2
