#!/usr/bin/env bash
# The blocks of docs/language.md and docs/language/ that are marked `yaml run` and `yaml network` are checked: each
# must compute a batch. Schedules and optimizers have all their keys there. The commands of docs/clusters.md must use
# existing flags, the config of README.md must be right, and so must the commands of docs/install.md that build by hand.
# Relative links lead to files and headings that exist.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# extract KIND: writes the blocks of KIND as KIND1.yaml, KIND2.yaml, ...; those of docs/language.md come first.
extract() {
  awk -v kind="$1" '
    /^```/ || FNR == 1 { inside = 0 }
    inside { print > (kind count ".yaml") }
    $0 == "```yaml " kind { inside = 1; ++count }' "$source_dir/docs/language.md" "$source_dir"/docs/language/*.md
}

begin "every run of the language pages computes a batch"
extract run
expect_equal "$(find . -name 'run*.yaml' | wc -l | tr -d ' ')" 4
for file in run*.yaml; do
  run "$train" check --config "$file"
  expect_code 0
done

begin "every network of the language pages computes a batch"
extract network
cp "$source_dir/models/blocks.yaml" .
expect_equal "$(find . -name 'network*.yaml' | wc -l | tr -d ' ')" 15
for file in network*.yaml; do
  input=$(sed -n 's/^input: \(\[[^]]*\]\).*/\1/p' "$file")
  source="synthetic, shape: $input"
  tokens=$(sed -n 's/^input: {tokens: \([0-9]*\), vocabulary: \([0-9]*\)}.*/steps: \1, vocabulary: \2/p' "$file")
  labels=classes
  grep -q per_position "$file" && labels=every
  [[ -n $tokens ]] && source="synthetic_sequences, $tokens, labels: $labels"
  steps=$(sed -n 's/^input: {\(steps: .*\)}.*/\1/p' "$file")
  [[ -n $steps ]] && source="synthetic_sequences, $steps"
  cat >check.yaml <<YAML
name: check
network: {file: $file}
data:
  train: {source: $source, size: 16}
  val: {source: $source, size: 16, split: test}
batch: {per_gpu: 4}
loss: cross_entropy
optimizer: {sgd: {lr: 0.01}}
epochs: 1
YAML
  run "$train" check --config check.yaml
  expect_code 0
done

begin "every augmentation of the data page computes a batch as it is written there"
extract run
# shellcheck disable=SC2016 # backticks of Markdown
sed -n '/^| augmentation | effect |/,/^$/p' "$source_dir/docs/language/data.md" | cut -d'|' -f2 | grep -o '`[^`]*: [^`]*`' | tr -d '`' >examples
expect_equal "$(grep -c '' examples)" 29
while read -r example; do
  case $example in
    resize* | random_resized_crop* | center_crop*) augment="[$example, center_crop: 32]" ;;
    *) augment="[$example]" ;;
  esac
  run "$train" check --config run1.yaml --set "data.augment=$augment"
  expect_code 0
done <examples

begin "the rows of optimizers and schedules have every key, but for those that all of them share"
run "$train" schema --reference
# shellcheck disable=SC2016 # backticks of Markdown
sed -n 's/^## `\(optimizer\|schedule\)\.\([a-z_]*\)`$/\1 \2/p' <<<"$out" >kinds
expect_equal "$(grep -c '' kinds)" 29
while read -r family kind; do
  row=$(sed -n "/^| $family |/,/^\$/p" "$source_dir/docs/language/optimizers.md" | grep "^| \`$kind\`")
  case $family in
    optimizer) shared='lr|weight_decay|decay_on|decoupled_decay|decay' ;;
    schedule) shared='length|by|warmup' ;;
  esac
  while read -r key; do
    [[ $row == *"\`$key\`"* ]] || fail "the row of $kind lacks the key $key"
  done < <(sed -n "/^## \`$family\.$kind\`/,/^##* /s/^| \`\([a-z0-9_]*\)\` .*/\1/p" <<<"$out" | grep -vxE "$shared")
done <kinds

begin "relative links of the documents lead to files and headings that exist"
cd "$source_dir" || exit 1
# Lines `A FILE#ANCHOR` for headings, `L FILE TARGET` for links; anchors are those that GitHub makes.
find README.md docs -name '*.md' -exec awk '
  /^ *```/ { inside = !inside }
  FNR == 1 { inside = 0 }
  inside { next }
  /^#+ / {
    anchor = tolower($0)
    sub(/^#+ /, "", anchor)
    gsub(/[^a-z0-9 _-]/, "", anchor)
    gsub(/ /, "-", anchor)
    times = seen[FILENAME, anchor]++
    print "A", FILENAME "#" anchor (times > 0 ? "-" times : "")
  }
  { line = $0
    gsub(/`[^`]*`/, "", line)
    while (match(line, /\]\([^)]*\)/)) {
      target = substr(line, RSTART + 2, RLENGTH - 3)
      line = substr(line, RSTART + RLENGTH)
      if (target !~ /^[a-z]+:/) print "L", FILENAME, target
    }
  }' {} + >"$scratch/targets"
links=0
while read -r _ file target; do
  links=$((links + 1))
  path=$file
  [[ $target == '#'* ]] || path=$(realpath --relative-to=. -m "$(dirname "$file")/${target%%#*}")
  [[ -e $path ]] || fail "$file links to $target, which does not exist"
  [[ $target != *'#'* ]] || grep -qxF "A $path#${target#*#}" "$scratch/targets" ||
    fail "$file links to $target, a heading that does not exist"
done < <(grep '^L' "$scratch/targets")
[[ $links -gt 120 ]] || fail "found only $links links"

begin "the commands of the clusters page have flags and configs that exist"
page=$source_dir/docs/clusters.md
run "$train" train --help
grep -oE '(^|[ `])train --.*' "$page" | sed 's/#.*//' | grep -oE -e '--[a-z-]+' | sort -u >flags
expect_equal "$(grep -cE -e '^--(gpus|hosts|sync-dir|replicas|max-restarts)$' flags)" 5
while read -r flag; do expect_out "$flag"; done <flags
run "$train" bench --help
grep -oE '(^|[ `])train bench --.*' "$page" | sed 's/#.*//' | grep -oE -e '--[a-z-]+' | sort -u >bench_flags
expect_equal "$(grep -cE -e '^--(scaling|gpus|hosts|batch|plot)$' bench_flags)" 5
while read -r flag; do expect_out "$flag"; done <bench_flags
grep -oE -e '--config [a-z0-9_]+' "$page" | cut -d' ' -f2 | sort -u >configs
expect_file configs
while read -r config; do expect_file "$source_dir/configs/$config.yaml"; done <configs

begin "the README's config is right, its error has its place, and by hand trains the quick start"
awk '/^```/ { inside = 0 } $0 == "# small.yaml" { inside = 1 } inside' "$source_dir/README.md" >small.yaml
run "$train" check --config small.yaml --set 'data.train={source: synthetic, shape: [3, 32, 32], size: 64}' \
  --set 'data.val={source: synthetic, shape: [3, 32, 32], size: 64, split: test}'
expect_code 0
run "$train" summary small.yaml
expect_code 0
expect_out "dense1"
# shellcheck disable=SC2016 # backticks of Markdown
said=$(sed -n 's/^Errors in a file have line and column: `\(.*\)`$/\1/p' "$source_dir/README.md")
sed -i 's/momentum/momentun/' small.yaml
run "$train" summary small.yaml
expect_code 3
expect_equal "$err" "$said"
begin_by_hand=$(sed -n '/^By hand/,/^The program/s/^build.*train //p' "$source_dir/docs/install.md")
expect_equal "$begin_by_hand" "data get cifar10 --to data
--config configs/quickstart.yaml"

finish 7 0
