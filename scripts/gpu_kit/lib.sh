# shellcheck shell=bash
# For the parts of scripts/gpu_kit.sh, which sets these variables.
#   KIT_BUILD    build folder, or an unpacked one
#   KIT_OUTPUT   folder of results
#   KIT_STORE    what stays on the machine between runs: pieces of CIFAR-10, caches
#   KIT_SECONDS  time limit of this part
#   KIT_SMALL    not empty: the least work, for a trial on stand-ins

# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# shellcheck disable=SC2034  # used by the parts
train=$KIT_BUILD/bin/train small=${KIT_SMALL-}
results=$KIT_OUTPUT/results.jsonl

# Exit code of a part that was left out.
left_out=77

# leave_out WHY: prints why a part is left out, and ends it with that code.
leave_out() {
  echo "left out: $1"
  exit "$left_out"
}

# finding PART WHAT MEASURED PREDICTED DECIDES: a line of the page's table. PREDICTED: what was measured or
# computed before.
finding() {
  printf '{"part": "%s", "what": "%s", "measured": "%s", "predicted": "%s", "decides": "%s"}\n' "$@" | tee -a "$results"
}

# keep COMMAND...: runs it, and adds its lines of JSON to the results.
keep() { "$@" | tee >(grep '^{' >>"$results" || true); }

# Lets programs other than train find the libraries that travel with the kit.
with_own_libraries() { export LD_LIBRARY_PATH=$KIT_BUILD/lib/trainyard${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}; }

# number KEY: the first number of that key in the JSON on stdin.
number() { grep -oE "\"$1\": ?[-0-9.e+]+" | head -n 1 | sed 's/.*: *//'; }

# rounded DIGITS: the number on stdin with that many decimals; "-" for none.
rounded() { awk -v digits="$1" '{ printf "%.*f", digits, $1; found = 1 } END { if (!found) printf "-" }'; }

# The name of the first GPU.
gpu_name() { "$train" doctor 2>/dev/null | sed -n 's/^cuda:0 *\(.*\), compute capability.*/\1/p' | head -n 1; }
