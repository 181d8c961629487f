#!/usr/bin/env bash
# Paths: relative to the file that holds them, in flags to the current folder. A run's are absolute.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

plain=(env PATH=/nonexistent "$train")

# write_text FILE LETTERS: a text of six letters.
write_text() {
  mkdir -p "$(dirname "$1")"
  for _ in {1..60}; do printf '%s' "$2"; done >"$1"
}

# write_text_run FILE [PATH]: trains on the text a.txt beside it, or on PATH.
write_text_run() {
  mkdir -p "$(dirname "$1")"
  cat >"$1" <<YAML
name: text
network:
  input: {tokens: 4, vocabulary: 6}
  layers: [embedding: 4, flatten, dense: 6, softmax]
data:
  train: {source: text, file: ${2:-a.txt}, vocabulary: 6, length: 4, stride: 1}
  val_fraction: 0.2
batch: {per_gpu: 16}
loss: cross_entropy
optimizer: {sgd: {lr: 0.05}}
epochs: 1
YAML
}

# has_path PATH RUN: config.yaml of the run names it.
has_path() { grep -qF "$1" "$2/config.yaml" || fail "$2/config.yaml has no $1"; }

begin "a path is relative to the file that holds it, and a run works from anywhere, also when moved"
write_text cfg/a.txt abcabd
write_text_run cfg/run.yaml
run "${plain[@]}" cfg/run.yaml --out r
expect_code 0
has_path "$PWD/cfg/a.txt" r
run "${plain[@]}" resume r --set epochs=2
expect_code 0
mkdir elsewhere
mv r "elsewhere/a run"
cd elsewhere || exit 1
run "${plain[@]}" eval "a run"
expect_code 0
run "${plain[@]}" resume "a run" --set epochs=3
expect_code 0
expect_out "Epoch 3/3"
run "${plain[@]}" --config "a run/config.yaml" --out same --epochs 1
expect_code 0

begin "what lies in the current folder, too, makes no difference"
write_text cfg/a.txt abcabd
write_text a.txt dcbadc
write_text_run cfg/run.yaml
run "${plain[@]}" cfg/run.yaml --out r
(cd cfg && "${plain[@]}" run.yaml --out ../s >/dev/null 2>&1)
expect_same_file r/weights/last.safetensors s/weights/last.safetensors
run "${plain[@]}" cfg/run.yaml --out t --set data.train.file=a.txt
expect_code 0
has_path "$PWD/a.txt" t
expect_other_file r/weights/last.safetensors t/weights/last.safetensors

begin "an inherited path is relative to the file that it comes from, a link's .. to its target"
write_text base/a.txt abcabd
write_text_run base/base.yaml
mkdir top
echo 'extends: ../base/base.yaml' >top/run.yaml
run "${plain[@]}" top/run.yaml --out r
expect_code 0
has_path "$PWD/base/a.txt" r
mkdir -p real/deep
write_text real/a.txt abcabd
write_text_run real/deep/run.yaml ../a.txt
ln -s real/deep link
run "${plain[@]}" link/run.yaml --out s
expect_code 0
has_path "$PWD/link/../a.txt" s

begin "a path that exists only from the other folder: the message has the flag that selects it"
write_text a.txt abcabd
write_text_run cfg/run.yaml
run "${plain[@]}" cfg/run.yaml --out r
expect_code 4
expect_err "'$PWD/cfg/a.txt' does not exist; a path in a file is relative to that file"
expect_err "to use '$PWD/a.txt': --set data.train.file=a.txt"
expect_no_path r
run "${plain[@]}" cfg/run.yaml --out r --set data.train.file=a.txt
expect_code 0
mv a.txt cfg
run "${plain[@]}" cfg/run.yaml --out s --set data.train.file=a.txt
expect_code 4
expect_err "to use '$PWD/cfg/a.txt': --set data.train.file=cfg/a.txt"
run "${plain[@]}" cfg/run.yaml --out s --set data.train.file=cfg/a.txt
expect_code 0
mkdir "two words"
mv cfg/a.txt "two words/a: b.txt"
write_text_run cfg/run.yaml '"two words/a: b.txt"'
run "${plain[@]}" cfg/run.yaml --out t
expect_code 4
flag=$(sed -n "s/.*a: b.txt': --set //p" <<<"$err")
eval "run \"\${plain[@]}\" cfg/run.yaml --out t --set $flag"
expect_code 0

begin "so does one of an inherited path, of the network, and of the default folder"
mkdir -p base top cfg
write_text_run base/base.yaml
echo 'extends: ../base/base.yaml' >top/run.yaml
write_text top/a.txt abcabd
run "${plain[@]}" top/run.yaml
expect_code 4
expect_err "to use '$PWD/top/a.txt': --set data.train.file=top/a.txt"
write_tiny_run cfg/tiny.yaml
sed -n '/^network:/,/softmax/p' cfg/tiny.yaml | sed -n 's/^  //p' >net.yaml
sed -i -e '/^network:/,/softmax/d' -e '1a network: {file: net.yaml}' cfg/tiny.yaml
run "${plain[@]}" check cfg/tiny.yaml
expect_code 3
expect_err "cfg/tiny.yaml:2:17: there is no '$PWD/cfg/net.yaml'"
expect_err "to use '$PWD/net.yaml': --set network.file=net.yaml"
run "${plain[@]}" check cfg/tiny.yaml --set network.file=net.yaml
expect_code 0
mv net.yaml cfg
run "${plain[@]}" check cfg/tiny.yaml --set network.file=net.yaml
expect_code 3
expect_err "to use '$PWD/cfg/net.yaml': --set network.file=cfg/net.yaml"
"$train" data make shapes cfg/data/cifar-10-batches-bin --train 64 --test 16 >/dev/null
sed 's/source: synthetic[^}]*/source: cifar10/; s/split: test//' cfg/tiny.yaml >cfg/default.yaml
run "${plain[@]}" check cfg/default.yaml
expect_code 4
expect_err "to use '$PWD/cfg/data': --set data.train.root=cfg/data"

begin "the default folder is in the current one, and so is that of TRAINYARD_DATA"
mkdir cfg
write_tiny_run cfg/run.yaml
sed -i 's/source: synthetic[^}]*/source: cifar10/; s/dense: 4/dense: 10/; s/input: \[[^]]*\]/input: [3, 32, 32]/' cfg/run.yaml
"$train" data make shapes data/cifar-10-batches-bin --train 64 --test 64 >/dev/null
run "${plain[@]}" cfg/run.yaml --out r
expect_code 0
expect_equal "$(grep -c "root: \"*$PWD/data" r/config.yaml)" 2
mv data sets
run env TRAINYARD_DATA=sets "${plain[@]}" cfg/run.yaml --out s
expect_code 0
expect_equal "$(grep -c "root: \"*$PWD/sets" s/config.yaml)" 2
expect_equal "$(grep config_hash r/run.json)" "$(grep config_hash s/run.json)"

begin "--skip-done and --resume know a run by its paths as typed, wherever the project is"
write_text project/a.txt abcabd
write_text_run project/cfg.yaml
mkdir elsewhere
cd project || exit 1
run "${plain[@]}" cfg.yaml
expect_code 0
cd .. && mv project elsewhere/moved && cd elsewhere/moved || exit 1
run "${plain[@]}" cfg.yaml --skip-done
expect_code 0
expect_out "skipped: runs/text/0001 is done"
run "${plain[@]}" resume runs/text/0001 --set epochs=2
expect_code 4
expect_err "/project/a.txt"
run "${plain[@]}" cfg.yaml --set epochs=2 --resume --out runs/text/0001
expect_code 0
expect_out "Epoch 2/2"
has_path "$PWD/a.txt" runs/text/0001
run "${plain[@]}" cfg.yaml --skip-done --set epochs=2
expect_out "skipped: runs/text/0001 is done"
run "${plain[@]}" resume runs/text/0001 --set epochs=3
expect_code 0
run "${plain[@]}" cfg.yaml --skip-done --set epochs=3
expect_out "skipped: runs/text/0001 is done"
cp a.txt b.txt
run "${plain[@]}" cfg.yaml --skip-done --set epochs=3 --set data.train.file=b.txt
expect_no_out "skipped"

begin "a sweep of a project that was moved goes on"
write_text project/a.txt abcabd
write_text_run project/cfg.yaml
sweep=("${plain[@]}" sweep --config cfg.yaml --grid "optimizer.sgd.lr=0.01,0.02" --gpus 0)
cd project || exit 1
run "${sweep[@]}"
expect_code 0
cp -r sweeps/text/logs before
cd .. && mv project moved && cd moved || exit 1
run "${sweep[@]}"
expect_code 0
for log in lr=0.01.log lr=0.02.log; do expect_same_file "before/$log" "sweeps/text/logs/$log"; done # not trained again

begin "init writes paths that work from the folder of its files"
write_text "texts/a text.txt" "abc defg hijk lmno pqrs tuvw xyz, abc defg hijk lmno pqrs tuvw xyz. abc defg hijk lmno pqrs tuvw xyz! abc defg hijk lmno pqrs tuvw. xyz"
run "$train" init "texts/a text.txt" --out files/deep
expect_code 0
grep -qF 'file: "../../texts/a text.txt"' files/deep/*.yaml || fail "another path than ../../texts"
run "${plain[@]}" check files/deep/a_text.yaml
expect_code 0
cd files/deep || exit 1
run "${plain[@]}" check a_text.yaml
expect_code 0
cd ../..
run "$train" init "$PWD/texts/a text.txt" --out absolute
expect_code 0
grep -qF "file: \"$PWD/texts/a text.txt\"" absolute/a_text.yaml || fail "an absolute path was changed"

finish 9 0
