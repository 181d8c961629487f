#!/usr/bin/env bash
# The blocks of docs/language.md that are marked `yaml run` and `yaml network` are checked: each
# must compute a batch. The commands of docs/clusters.md must use existing flags, the config of README.md
# must be right, and so must the commands of docs/install.md that build by hand.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# extract KIND: writes the blocks of KIND as KIND1.yaml, KIND2.yaml, ...
extract() {
  awk -v kind="$1" '
    /^```/ { inside = 0 }
    inside { print > (kind count ".yaml") }
    $0 == "```yaml " kind { inside = 1; ++count }' "$source_dir/docs/language.md"
}

begin "every run of the language page computes a batch"
extract run
expect_equal "$(find . -name 'run*.yaml' | wc -l | tr -d ' ')" 4
for file in run*.yaml; do
  run "$train" check --config "$file"
  expect_code 0
done

begin "every network of the language page computes a batch"
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

begin "every augmentation of the language page computes a batch as it is written there"
extract run
# shellcheck disable=SC2016 # backticks of Markdown
sed -n '/^| augmentation | effect |/,/^$/p' "$source_dir/docs/language.md" | cut -d'|' -f2 | grep -o '`[^`]*: [^`]*`' | tr -d '`' >examples
expect_equal "$(grep -c '' examples)" 20
while read -r example; do
  case $example in
    resize* | random_resized_crop* | center_crop*) augment="[$example, center_crop: 32]" ;;
    *) augment="[$example]" ;;
  esac
  run "$train" check --config run1.yaml --set "data.augment=$augment"
  expect_code 0
done <examples

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

finish 5 0
