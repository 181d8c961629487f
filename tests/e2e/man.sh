#!/usr/bin/env bash
# Manual pages, the groups of --help, and --version.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# The text of a page, as it is read.
plain() { sed -e 's/\\-/-/g' -e "s/\\\\(aq/'/g" -e 's/\\&//g' <<<"$1"; }

verbs=$("$train" --help | sed -n '/^Verbs/,$s/^  \([a-z][a-z-]*\)   *[a-z].*/\1/p')

begin "every verb has a page with its flags, its example and the sections of a manual page"
run "$train" man --out pages
expect_code 0
expect_equal "$(find pages -type f | wc -l | tr -d ' ')" "$(($(wc -l <<<"$verbs") + 1))"
for verb in $verbs; do
  page=$(<"pages/train-$verb.1")
  text=$(plain "$page")
  run "$train" "$verb" --help
  while read -r flag; do
    [[ $text == *"$flag"* ]] || fail "expected in the page of $verb: $flag"
  done < <(grep -oE '^  (-[a-z], )?--[a-z-]+' <<<"$out" | grep -oE -e '--[a-z-]+')
  example=$(sed -n 's/^Example: //p' <<<"$out")
  [[ $text == *"$example"* ]] || fail "expected in the page of $verb: $example"
  for section in NAME SYNOPSIS DESCRIPTION OPTIONS "EXIT STATUS" ENVIRONMENT FILES EXAMPLES; do
    [[ $page == *$'\n'".SH $section"$'\n'* ]] || fail "expected in the page of $verb: $section"
  done
  run "$train" man "$verb"
  expect_equal "$out" "$page"
done

begin "the page of the program has the verbs, the exit codes of the README, and the variables that are read"
run "$train" man
expect_code 0
page=$(plain "$out")
for verb in $verbs; do
  [[ $page == *$'\n'"\\fB$verb\\fR"$'\n'* ]] || fail "expected the verb $verb"
done
codes=$(sed -n 's/^Exit codes: \(.*\)\.$/\1/p' "$source_dir/README.md")
expect_equal "$(tr -cd , <<<"$codes" | wc -c | tr -d ' ')" 10
while read -r number meaning; do
  [[ $page == *"\\fB$number\\fR"$'\n'*"${meaning%% by its*}"* ]] || fail "expected $number $meaning"
done <<<"${codes//, /$'\n'}"
while read -r name; do
  [[ $name != TRAINYARD_LAUNCHER ]] || continue # set by train for its ranks
  [[ $page == *"$name"* ]] || fail "expected the variable $name"
done < <(grep -rhoE '(getenv|variable)\("[A-Z_]+"' "$source_dir/src/cli" | grep -oE '[A-Z_]{2,}' | sort -u)

begin "a verb that does not exist has no page, and the nearest is named"
run "$train" man sumary
expect_code 2
expect_err "there is no verb 'sumary'; 'train --help' lists them; did you mean 'summary'?"

begin "man finds no mistakes in the pages"
run "$train" man --out man1
if ! man --version 2>/dev/null | grep -q '^man 2'; then
  skip "man-db is not installed"
else
  for page in man1/*.1; do
    run env MANWIDTH=80 LC_ALL=C.UTF-8 man --warnings --local-file "$page"
    expect_code 0
    expect_equal "$err" ""
    expect_out "EXIT STATUS"
  done
  run env MANWIDTH=80 man -M . train-data
  expect_out "train data make shapes FOLDER [FLAGS]"
  run env MANWIDTH=80 LC_ALL=C.UTF-8 man --warnings --local-file man1/train-compare.1
  expect_out "train compare 'runs/lr-*' --by optimizer.sgd.lr --sort val_loss"
fi

begin "mandoc finds no mistakes in the pages"
run "$train" man --out pages
if ! command -v mandoc >/dev/null; then
  skip "mandoc is not installed"
else
  run mandoc -T lint -W style pages/*.1
  expect_code 0
  expect_equal "$out" ""
fi

begin "--help has the groups and verbs of the README's table, and each verb an example"
run "$train" --help
listed=$(sed -n -e '/^Verbs/,/^Flags/s/^\([A-Z][a-z ]*\):$/\1/p' -e '/^Verbs/,$s/^  \([a-z][a-z-]*\)   *[a-z].*/\1/p' <<<"$out" |
  grep -v '^Flags')
# shellcheck disable=SC2016  # backticks of Markdown
tabled=$(sed -n '/^## Verbs/,/^Exit codes/p' "$source_dir/README.md" | grep '^|' | cut -d'|' -f2 |
  grep -oE '\*[A-Z][a-z ]*:\*|`(train )?[a-z-]+' | tr -d '*:`' | sed 's/^train //' | grep -vxE 'train|--config' | awk '!seen[$0]++')
expect_equal "$(tr '\n' ' ' <<<"$listed")" "$(tr '\n' ' ' <<<"$tabled")"
for verb in $verbs; do
  run "$train" "$verb" --help
  expect_out "Example: "
done

begin "--version names the commit, the compiler, the vectors and the GPU part"
run "$train" --version
expect_code 0
expect_out_match $'^train [0-9.]+\ncommit    ([0-9a-f]+|unknown) of [0-9]{4}-[0-9]{2}-[0-9]{2}\ncompiler  [A-Z][A-Za-z]+ [0-9.]+, [A-Za-z]+\nCPU       x86-64-v[34]: AVX(2|-512).*; oneDNN [0-9.]+\nGPU part  (none|CUDA [0-9.]+, .*cuDNN .*so)$'
commit=$(sed -n 's/^commit    \([0-9a-f]*\) of .*/\1/p' <<<"$out")
if [[ -e $source_dir/.git && -n $commit ]]; then
  git -c safe.directory='*' -C "$source_dir" cat-file -e "$commit^{commit}" || fail "expected a commit of this repository"
fi
run env TRAINYARD_GPU_PART=/nonexistent/part.so "$train" --version
expect_out $'\nGPU part  none'
[[ $(grep -m1 -o 'avx512vl' /proc/cpuinfo) != avx512vl ]] || expect_out "x86-64-v4: AVX-512"

finish 7 2
