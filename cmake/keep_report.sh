#!/bin/sh
# keep_report.sh COMPILER... -o OBJECT...: runs the compiler. What ptxas writes about its kernels is in OBJECT.ptxas
# instead of among the errors.
object=
before=
for argument in "$@"; do
  [ "$before" = -o ] && object=$argument
  before=$argument
done
"$@" 2>"$object.ptxas"
status=$?
grep -Ev '^ptxas info|^ *[0-9]+ bytes (stack frame|gmem)' "$object.ptxas" >&2
exit "$status"
