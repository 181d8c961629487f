#!/usr/bin/env bash
# Wrong or hostile files: exit code 3, position, and nothing written.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# refused TEXT: bad.yaml ends with exit 3 and TEXT, and leaves no run folder.
refused() {
  run "$train" --config bad.yaml
  expect_code 3
  expect_err "$1"
  expect_no_path runs
}

begin "all errors of a file are in one report, in file order, each with its position"
write_tiny_run bad.yaml
sed -i -e 's/^epochs: 3/epocs: 3/' -e 's/momentum: 0.9/momentun: 0.9/' -e 's/per_gpu: 16/per_gpu: -1/' bad.yaml
run "$train" --config bad.yaml
expect_code 3
expect_err "bad.yaml:18:18: "
expect_err "unknown key 'momentun' in 'sgd'; did you mean 'momentum'?"
expect_err "unknown key 'epocs'"
expect_err "did you mean 'epochs'?"
expect_equal "$(grep -c '^bad.yaml:[0-9]*:[0-9]*: ' "$scratch/stderr")" "$(wc -l <"$scratch/stderr" | tr -d ' ')"
expect_no_path runs

begin "a misspelt layer is reported with line, column and the nearest name"
write_tiny_run bad.yaml
sed -i 's/- relu/- rleu/' bad.yaml
refused "bad.yaml:7:7: unknown layer 'rleu'; did you mean 'relu'?"

begin "mismatched shapes are reported with the layer and the shapes"
write_tiny_run bad.yaml
sed -i 's/- max_pool: 2/- max_pool: 9/' bad.yaml
refused "max_pool1"

begin "a syntax error in YAML is reported with its position"
write_tiny_run bad.yaml
echo 'more: [1, 2' >>bad.yaml
refused "bad.yaml:"

begin "a tab, a second document, a merge key and a key twice are refused"
write_tiny_run bad.yaml
printf 'output:\n\tsteps: true\n' >>bad.yaml
refused "tab"
write_tiny_run bad.yaml
printf -- '---\nname: second\n' >>bad.yaml
refused "document"
write_tiny_run bad.yaml
printf '<<: {epochs: 4}\n' >>bad.yaml
refused "extends"
write_tiny_run bad.yaml
printf 'epochs: 4\n' >>bad.yaml
refused "epochs"

begin "octal-looking numbers are refused"
write_tiny_run bad.yaml
sed -i 's/^epochs: 3/epochs: 010/' bad.yaml
refused "010"

begin "a lone comma, an empty file and a list are refused"
for text in ',' '' '[1, 2]'; do
  printf '%s\n' "$text" >bad.yaml
  refused "bad.yaml"
done

begin "an alias bomb is refused by its size"
{
  echo 'a: &a [x, x, x, x, x, x, x, x, x, x]'
  previous=a
  for next in b c d e f g h i; do
    printf '%s: &%s [*%s, *%s, *%s, *%s, *%s, *%s, *%s, *%s, *%s, *%s]\n' "$next" "$next" \
      "$previous" "$previous" "$previous" "$previous" "$previous" "$previous" "$previous" \
      "$previous" "$previous" "$previous"
    previous=$next
  done
} >bad.yaml
refused "10000"

begin "an alias to its own parent is refused"
echo 'a: &a [*a]' >bad.yaml
refused "bad.yaml:1:"

begin "nesting beyond 32 levels is refused"
{
  printf 'a: '
  printf '[%.0s' $(seq 5000)
  printf ']%.0s' $(seq 5000)
  echo
} >bad.yaml
refused "bad.yaml:1:"

begin "a file over 1 MiB is refused unread"
{
  write_tiny_run /dev/stdout
  head -c 1100000 /dev/zero | tr '\0' '#'
} >bad.yaml
refused "1048576"

begin "a billion layers are refused"
write_tiny_run bad.yaml
sed -i 's/- relu/- repeat: {times: 30000, layers: [repeat: {times: 30000, layers: [relu]}]}/' bad.yaml
refused "100,000"

begin "bytes that are not text are refused"
head -c 4096 /dev/urandom >bad.yaml
refused "bad.yaml"
mkdir folder.yaml
run "$train" --config folder.yaml
expect_code 3

begin "a missing network file is reported at the position that names it"
write_tiny_run bad.yaml
sed -i -e '/^network:/,/- softmax/d' bad.yaml
echo 'network: {file: nowhere.yaml}' >>bad.yaml
refused "nowhere.yaml"

begin "extends merges, replaces exclusive keys, and detects cycles"
write_tiny_run base.yaml
printf 'extends: base.yaml\nname: over\nbatch: {total: 32}\n' >over.yaml
run "$train" check --config over.yaml
expect_code 0
printf 'extends: b.yaml\n' >bad.yaml
printf 'extends: bad.yaml\n' >b.yaml
refused "extends"

finish 15 0
