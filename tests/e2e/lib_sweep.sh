# shellcheck shell=bash
# Sweeps of tiny runs. Requires lib.sh.

# Without gnuplot in PATH an epoch takes milliseconds.
quick=(env PATH=/nonexistent "$train")

# timeless TABLE: without the two columns that tell times.
timeless() {
  awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) timed[i] = $i == "elapsed_s" || $i == "images_per_s" }
           { row = ""; for (i = 1; i <= NF; ++i) if (!timed[i]) row = row "," $i; print row }' "$1"
}

# killed_sweep LINE FLAGS...: two sweeps of the same runs, of which one is killed, with its runs, after a line with LINE.
killed_sweep() {
  local line=$1
  shift
  write_tiny_run tiny.yaml
  mkdir left killed
  cp tiny.yaml left/
  mv tiny.yaml killed/
  cd left || exit 1
  run "${quick[@]}" sweep tiny.yaml "$@" --jobs 2
  expect_code 0
  cd ../killed || exit 1
  run_until "$line" "${quick[@]}" sweep tiny.yaml "$@" --jobs 2
  # shellcheck disable=SC2154  # of run_until, in lib.sh
  kill -KILL "$pid"
  wait_for_exit
  expect_code 137
  expect_no_path sweeps/tiny/table.csv
  run "${quick[@]}" sweep tiny.yaml "$@" --jobs 2
  expect_code 0
  expect_out_match " at a time: [1-9]+ finished"
  timeless ../left/sweeps/tiny/table.csv >../left.csv
  timeless sweeps/tiny/table.csv >../killed.csv
  cd .. || exit 1
  expect_file left.csv
  expect_same_file left.csv killed.csv
}
