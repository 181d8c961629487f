#!/usr/bin/env bash
# Tables of numbers and categories, and texts with classes, from CSV and TSV files: training, resume,
# eval and predict follow the training split.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/lib_ranks.sh
source "$(dirname "$0")/lib_ranks.sh"

# write_rows SEED ROWS: flowers of three species, of two lengths that tell them apart and a colour.
write_rows() {
  awk -v seed="$1" -v rows="$2" 'BEGIN {
    srand(seed)
    split("setosa versicolor virginica", species)
    split("blue red white", colour)
    print "id,length,width,colour,species"
    for (i = 0; i < rows; ++i) {
      k = i % 3
      printf "%d,%.2f,%.3f,%s,%s\n", i, 1500 + 900 * k + 600 * (rand() - 0.5), 0.3 + 0.1 * (2 - k) + 0.08 * rand(),
             colour[rand() < 0.7 ? k + 1 : int(3 * rand()) + 1], species[k + 1]
    }
  }'
}

# table_run: train.csv, val.csv and run.yaml on them.
table_run() {
  write_rows 1 240 >train.csv
  write_rows 2 90 >val.csv
  cat >run.yaml <<'YAML'
name: flowers
network:
  input: [5]
  layers: [dense: 16, relu, dense: 3, softmax]
data:
  train: {source: table, file: train.csv, columns: {label: species, categorical: [colour], ignore: [id]}, labels: name}
  val: {source: table, file: val.csv, columns: {label: species, categorical: [colour], ignore: [id]}, labels: name}
batch: {total: 16}
loss: cross_entropy
metrics: [accuracy]
optimizer: {adam: {lr: 0.01}}
epochs: 8
YAML
}

# texts_run: train.tsv, val.tsv and run.yaml on them.
texts_run() {
  local split i
  for split in train val; do
    {
      printf 'topic\tpost\n'
      for i in 1 2 3 4 5 6 7 8; do
        printf 'sport\tGoal %s, what a match!\nweather\t"Rain and ""wind"" on day %s"\nfood\tSoup %s with bread.\n' $i $i $i
      done
    } >"$split.tsv"
  done
  cat >run.yaml <<'YAML'
name: posts
network:
  input: {tokens: 6, vocabulary: 40, lengths: true}
  layers: [embedding: 8, lstm: 8, dense: 3, softmax]
data:
  train: {source: texts, file: train.tsv, quotes: true, columns: {text: post, label: topic}, labels: name, vocabulary: 40, length: 6}
  val: {source: texts, file: val.tsv, quotes: true, columns: {text: post, label: topic}, labels: name, vocabulary: 40, length: 6}
batch: {total: 12}
loss: cross_entropy
metrics: [accuracy]
optimizer: {adam: {lr: 0.05}}
epochs: 12
YAML
}

begin "check says the length of a table's vectors, and a network of another one is refused with it"
table_run
run "$train" check run.yaml
expect_code 0
expect_out "data: 240 training and 90 validation samples [5] of 3 classes"
run "$train" check run.yaml --set network.input=[4]
expect_code 3
expect_err "the network's input is [4], but the data are [5]; change 'input' of the network or the data"

begin "a table is learnt, a resume continues it with the same bytes, and eval repeats its figures"
table_run
run "$train" run.yaml --out whole
expect_code 0
accuracy=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "val_accuracy") c = i } END { print $c }' whole/metrics.csv)
awk -v a="$accuracy" 'BEGIN { exit !(a > 0.9) }' || fail "accuracy $accuracy, expected more than 0.9"
run "$train" run.yaml --out part --set epochs=3
expect_code 0
run "$train" resume part --set epochs=8
expect_code 0
expect_same_file whole/weights/last.safetensors part/weights/last.safetensors
run "$train" eval whole
expect_code 0
expect_out "accuracy"

begin "what features mean is kept with the run: later rows for training do not change it"
table_run
run "$train" run.yaml --out a
expect_code 0
run "$train" eval a
before=$out
sed -i 's/^0,[0-9.]*,/0,99999,/' train.csv
run "$train" eval a
expect_code 0
expect_equal "$out" "$before"
run "$train" resume a --set epochs=9
expect_code 4
expect_err "the data are not those of the run a"
run "$train" resume a --set epochs=9 --changed-data
expect_code 0
run "$train" eval a
expect_code 0
sed -i '2s/[a-z]*,[a-z]*$/green,setosa/' val.csv
run "$train" eval a --changed-data
expect_code 4
expect_err "val.csv', line 2: column 'colour': 'green' is not a category of the training split; correct it, or set 'unknown: ignore'"

begin "the training part of a divided table gives the features, also in eval"
table_run
sed -i 's/^  val: .*/  val_fraction: 0.25/' run.yaml
run "$train" run.yaml --out a
expect_code 0
figure=$(tail -n 1 a/metrics.csv)
expect_differs "$figure" ""
run "$train" eval a
expect_code 0
expect_out "60"

begin "predict gives the rows of another table, in any order of columns, what eval gives its own"
table_run
run "$train" run.yaml --out a
expect_code 0
run "$train" eval a
expect_code 0
# Without the label and with a column of its own.
awk -F, '{ print $4 "," $3 "," NR "," $2 }' val.csv >new.csv
run "$train" predict a new.csv --csv
expect_code 0
expect_out "new.csv:2,setosa,"
# The class and its probability are columns 4 and 5 of predictions.csv, 2 and 3 here.
expect_equal "$(printf '%s\n' "$out" | tail -n +2 | cut -d, -f2,3)" "$(tail -n +2 a/eval/predictions.csv | cut -d, -f4,5)"
before=$out
run "$train" predict a new.csv --csv --gpus 0 --replicas 2
expect_code 0
expect_equal "$out" "$before"
# Files have what is printed; .npy the probabilities of all classes, after 128 bytes.
run "$train" predict a new.csv --output p.csv
expect_code 0
expect_out "new.csv:2: setosa "
expect_equal "$(cat p.csv)" "$before"
run "$train" predict a new.csv --output p.json --json
expect_code 0
expect_equal "$(sed '1d; $d; s/^,//' p.json)" "$out"
run "$train" predict a new.csv --output p.npy
expect_code 0
expect_equal "$(head -n 1 p.npy | tail -c +11 | sed 's/ *$//')" "{'descr': '<f4', 'fortran_order': False, 'shape': (90, 3), }"
tail -c +129 p.npy | od -An -v -f -w12 >npy
tail -n +2 a/eval/predictions.csv | cut -d, -f7-9 | tr , ' ' | paste -d ' ' - npy |
  awk '{ for (c = 1; c <= 3; ++c) if (($c - $(c + 3)) ^ 2 > 1e-12) exit 1; n++ } END { exit n != 90 }' ||
  fail "p.npy has other probabilities than predictions.csv"
run "$train" predict a new.csv --output p.txt
expect_code 2
expect_err "'p.txt' does not end in .csv, .json or .npy"
# The outputs of a layer, which are those of the one before it where they are above 0.
run "$train" predict a new.csv --layer dense1 --csv
expect_code 0
clipped=$(printf '%s\n' "$out" | awk -F, -v OFS=, 'NR > 1 { for (c = 2; c <= NF; ++c) if ($c < 0) $c = 0 } { print }')
expect_out_match '^input,value_1,.*,value_16'
run "$train" predict a new.csv --layer relu1 --csv --output l.npy --gpus 0 --replicas 2
expect_code 0
expect_equal "$out" "$clipped"
expect_equal "$(stat -c %s l.npy)" $((128 + 90 * 16 * 4))
run "$train" predict a new.csv --layer relo1
expect_code 2
expect_err "the network has no layer 'relo1', by the names that train summary prints; did you mean 'relu1'?"
run "$train" predict a new.csv --layer softmax1
expect_code 2
expect_err "'softmax1' is computed with the loss"
sed -i '3s/,[^,]*$/,/; 4s/^[a-z]*/green/' new.csv
run "$train" predict a new.csv --csv
expect_code 4
expect_err "new.csv', line 3: column 'length': has no value"
expect_err "new.csv', line 4: column 'colour': 'green' is not a category of the training split"
expect_err "2 of 90 inputs could not be predicted"
expect_equal "$out" "$(printf '%s\n' "$before" | sed '3,4d')"
run "$train" predict a new.csv --set data.train.missing=drop --set data.train.unknown=ignore
expect_code 4
expect_err "line 3: column 'length': has no value, and the run's 'missing: drop' leaves such rows out"
expect_err "1 of 90 inputs"
sed 's/width/widht/' val.csv >bad.csv
run "$train" predict a bad.csv
expect_code 4
expect_err "none named 'width': the run's features are made of it; did you mean 'widht'?"
run "$train" predict a run.yaml
expect_code 2
expect_err "'run.yaml' cannot be predicted: the run's source 'table' reads files that end in .csv, .tsv"

begin "texts of three classes are learnt from words, and predict reads them"
texts_run
run "$train" run.yaml --out a
expect_code 0
run "$train" predict a --text "bread and soup" --text "a windy match, a goal"
expect_code 0
expect_out "food"
expect_out "sport"
cut -f2 val.tsv >posts.tsv
printf 'post\n"bread, and soup"\n" "\n' >posts.csv
run "$train" predict a posts.tsv posts.csv --top-k 1
expect_code 4
expect_out "posts.tsv:2: sport "
expect_out "posts.csv:2: food "
expect_err "'posts.csv', line 3: column 'post': is empty; correct it"
run "$train" resume a --set epochs=13
expect_code 0

begin "texts: a balanced sampler and a masked bidirectional gru have the same bytes on any ranks and after a kill"
texts_run
expect_same_bytes --set 'data.train.sampler={balanced: 1}' --set epochs=40 \
  --set 'network.layers=[embedding: 8, gru: {units: 4, bidirectional: concat, dropout: 0.1}, dropout: 0.2, dense: 3, softmax]'

begin "tables: the same, with missing values and a validation split by rows"
table_run
sed -i 's/^  val: .*/  val_fraction: 0.25/; s/labels: name}/labels: name, missing: mean}/' run.yaml
sed -i '5s/^\([^,]*\),[^,]*/\1,NA/' train.csv
expect_same_bytes --set epochs=40

# write_houses SEED ROWS: a price that two numbers give, in thousands, and words that they decide.
write_houses() {
  awk -v seed="$1" -v rows="$2" 'BEGIN {
    srand(seed)
    print "rooms,age,price,labels"
    for (i = 0; i < rows; ++i) {
      r = 1 + int(8 * rand()); a = int(100 * rand())
      printf "%d,%d,%.1f,%s%s%s\n", r, a, 200000 + 50000 * r - 900 * a, (r > 4) ? "large" : "",
             (r > 4 && a > 50) ? ";" : "", (a > 50) ? "old" : ""
    }
  }'
}

begin "a column is a target: its errors and predictions are in its own units, also after a resume"
write_houses 1 200 >houses.csv
cat >run.yaml <<'YAML'
name: houses
network: {input: [2], layers: [dense: 1]}
data:
  train: {source: table, file: houses.csv, columns: {price: float, ignore: [labels]}}
  val_fraction: 0.25
batch: {total: 10}
loss: {mse: {target: price}}
metrics: [mae, rmse]
optimizer: {adam: {lr: 0.05}}
epochs: 6
YAML
run "$train" run.yaml --out whole
expect_code 0
run "$train" run.yaml --out part --set epochs=3
expect_code 0
run "$train" resume part --set epochs=6
expect_code 0
expect_same_file whole/weights/last.safetensors part/weights/last.safetensors
run "$train" eval whole
expect_code 0
mae=$(sed -n 's/.*"mae": *\([0-9.e+]*\).*/\1/p' whole/eval/eval.json)
awk -F, -v mae="$mae" 'NR > 1 { d = $4 - $5; sum += d < 0 ? -d : d; if ($4 < 100000) exit bad = 1 }
  END { m = sum / (NR - 1); exit !(!bad && mae > 1 && m < mae * 1.0001 && m > mae * 0.9999) }' whole/eval/predictions.csv ||
  fail "mae $mae is not that of predictions.csv"
run "$train" export whole --onnx model.onnx
expect_code 0
grep -aq '"name":"price","mean":\[[0-9.]*\]' model.onnx || fail "the model does not say its units"
grep -aq '"columns":\[{"name":"rooms","mean"' model.onnx || fail "the model does not say its columns"
run "$train" predict whole houses.csv --output prices.csv
expect_code 0
[[ $(head -1 prices.csv) == input,price ]] || fail "prices.csv begins with $(head -1 prices.csv)"
awk -F, 'NR == FNR { if (FNR > 1) value["houses.csv:" ($2 + 2)] = $5; next }
  FNR > 1 && $1 in value { ++n; d = value[$1] - $2; if (d * d > 1) exit bad = 1 }
  FNR > 1 && $2 < 100000 { exit bad = 1 } END { exit bad || n != 50 }' whole/eval/predictions.csv prices.csv ||
  fail "predict is not in units of the price"
printf 'rooms,age,price,labels\n3,20,,\n4\n5,x,,\n' >new.csv
run "$train" predict whole new.csv
expect_code 4
expect_out "new.csv:2: price "
expect_err "'new.csv', line 3: has 1 cell, expected 4 (rooms, age, price, labels)"
expect_err "'x' is not a number"
run "$train" predict whole houses.csv --json
expect_out '"values":{"price":'


while IFS='|' read -r from to message; do
  sed "s/$from/$to/" run.yaml >other.yaml
  run "$train" check other.yaml --gpus 0
  [[ $code -ne 0 ]] || fail "accepted: $to"
  expect_err "$message"
done <<'END'
target: price|target: prize|the data have no field 'prize'; their fields are 'label', 'price'
{mse: {target: price}}|binary_cross_entropy|the data have no labels, which a loss, a metric or a weight of the run reads; give losses a 'target', 'price', and measure mae, rmse, r2 or mean_average_precision
mae, rmse|accuracy|the data have no labels, which a loss
price: float|prise: float|none named 'prise'
val_fraction: 0.25|val: {source: table, file: houses.csv, columns: {price: price, ignore: [labels]}}|the field 'price' of the training split is not made as that of the validation split; give both the same 'columns'
END

begin "words of a column are several labels at once, the same on any ranks and after a kill"
write_houses 2 120 >houses.csv
cat >run.yaml <<'YAML'
name: tags
network: {input: [2], layers: [dense: 2, sigmoid]}
data:
  train: {source: table, file: houses.csv, columns: {tags: {column: labels, split: ";"}, ignore: [price]}}
  val_fraction: 0.25
batch: {total: 12}
loss: {binary_cross_entropy: {target: tags}}
metrics: [mean_average_precision]
optimizer: {adam: {lr: 0.05}}
epochs: 4
YAML
run "$train" run.yaml --out one
expect_code 0
run "$train" eval one
expect_code 0
expect_out "mean_average_precision"
expect_same_bytes --set epochs=40

finish 10 0
