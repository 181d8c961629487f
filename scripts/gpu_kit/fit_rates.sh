#!/usr/bin/env bash
# Fits the model by which `train summary --plan` predicts the step of a GPU (src/bench/counted_step.h):
#
#   scripts/gpu_kit/fit_rates.sh FILE...
#
# FILE holds JSON lines of `train bench --layers --json` on a GPU; other lines are left out. A node takes
# a + t / share, where t is the longer of its bytes at the measured rate of the memory and its operations at
# the measured peak. For each functor, and each kind of call of a library, the least squares of a and share over
# its nodes go to standard output as a line of the table in src/bench/counted_step.cpp, with the number of nodes and
# the root mean square of what is left, in percent. Where all t are within 0.05 us of each other, share is 1.

set -euo pipefail

if [[ $# -eq 0 || $1 == -* ]]; then
  sed -n '2,/^$/s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi

awk '
  # The value of a key in a JSON object without nesting; text without its quotes.
  function value(text, key,    rest) {
    if (!match(text, "\"" key "\":")) return ""
    rest = substr(text, RSTART + RLENGTH)
    if (substr(rest, 1, 1) == "\"") return substr(rest, 2, index(substr(rest, 2), "\"") - 1)
    match(rest, /^[^,}\]]*/)
    return substr(rest, 1, RLENGTH)
  }
  # Adds a node to its kind.
  function add(row, memory, peak,    kind, moved, computed, t, us, n) {
    if (value(row, "kind") == "") return  # launches that could not be told apart
    kind = "\"" value(row, "kind") "\", \"" value(row, "functor") "\", " value(row, "beside")
    moved = value(row, "bytes") / memory * 1e-3
    computed = value(row, "flop") / peak * 1e-3
    t = moved > computed ? moved : computed
    us = value(row, "microseconds") + 0
    n = value(row, "count") + 0
    if (!(kind in count)) { kinds[++known] = kind; least[kind] = most[kind] = t }
    if (t < least[kind]) least[kind] = t
    if (t > most[kind]) most[kind] = t
    count[kind] += n; st[kind] += n * t; su[kind] += n * us
    stt[kind] += n * t * t; stu[kind] += n * t * us; suu[kind] += n * us * us
  }
  /"node_times":\[/ {
    memory = value($0, "peak_gbyte_per_s"); peak = value($0, "peak_gflops")
    rows = substr($0, index($0, "\"node_times\":["))
    sub(/\].*/, "", rows)
    pieces = split(rows, piece, "{")
    for (i = 2; i <= pieces; ++i) add(piece[i], memory, peak)
  }
  END {
    if (known == 0) {
      print "no line has \"node_times\": give files of train bench --layers --json on a GPU" >"/dev/stderr"
      exit 1
    }
    for (i = 1; i <= known; ++i) {
      kind = kinds[i]; n = count[kind]
      spread = n * stt[kind] - st[kind] ^ 2
      one = most[kind] - least[kind] <= 0.05
      slope = one ? 1 : (n * stu[kind] - st[kind] * su[kind]) / spread
      if (slope < 0) slope = 0
      a = (su[kind] - slope * st[kind]) / n
      if (a < 0 && stt[kind] > 0) { a = 0; slope = stu[kind] / stt[kind] }
      left = suu[kind] - 2 * a * su[kind] - 2 * slope * stu[kind] + n * a * a \
             + 2 * a * slope * st[kind] + slope * slope * stt[kind]
      if (left < 0) left = 0
      share = slope > 1e-3 ? 1 / slope : 1000
      printf "{%s, %.2f, %.3g},  // %d nodes, %.0f %%\n", kind, a, share, n, \
             100 * sqrt(left / n) / (su[kind] / n)
    }
  }' "$@"
