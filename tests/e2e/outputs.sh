#!/usr/bin/env bash
# Flags that name a file to write: what is at the path already, and standard output.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# One run for all cases.
cd "$scratch" || exit 1
write_tiny_run tiny.yaml
env PATH=/nonexistent "$train" tiny.yaml -q 2>/dev/null
made=$scratch/runs
own() { cp -r "$made" runs && cp "$scratch/tiny.yaml" .; }

begin "- is standard output, which then has the file alone; the rest goes to standard error"
own
"$train" compare runs --csv table.csv >/dev/null
run "$train" compare runs --csv -
expect_code 0
expect_equal "$out" "$(<table.csv)"
expect_err "runs/tiny/0001  complete"
run "$train" compare runs --csv /dev/stdout
expect_equal "$out" "$(<table.csv)"
run bash -c '"$1" export runs/tiny/0001 --safetensors - >a.safetensors && "$1" export runs/tiny/0001 --safetensors b.safetensors' bash "$train"
expect_code 0
expect_same_file a.safetensors b.safetensors
run bash -c '"$1" import a.safetensors --config tiny.yaml -o - | cat >c.safetensors' bash "$train"
expect_code 0
"$train" import a.safetensors --config tiny.yaml -o d.safetensors >/dev/null
expect_same_file c.safetensors d.safetensors
if type -P dot >/dev/null; then
  run "$train" summary tiny.yaml --svg -
  expect_code 0
  expect_out_match "^<\?xml|^<svg"
  expect_err "trainable"
fi
run "$train" find-lr tiny.yaml --steps 3 --gpus 0 --csv -
expect_code 0
expect_out_match "^step,lr,loss"
run "$train" export runs/tiny/0001 --onnx - --safetensors -
expect_code 2
expect_err "--safetensors: standard output has another file already; name a file"
expect_no_path -

begin "an output continues standard output where it stands"
own
echo before >all
run bash -c '"$1" compare runs --csv - >>all' bash "$train"
expect_code 0
expect_equal "$(head -n 1 all)" before
expect_equal "$(sed -n 2p all | cut -d , -f 1)" run

begin "images go to standard output, pipes and links, and leave nothing beside a stream"
own
if type -P gnuplot >/dev/null; then
  run bash -c '"$1" plot runs -o - >a.png' bash "$train"
  expect_code 0
  expect_equal "$(head -c 4 a.png | tail -c 3)" PNG
  run bash -c '"$1" tiny.yaml --gpus 0 --name b --plot - >b.png' bash "$train"
  expect_code 0
  expect_equal "$(head -c 4 b.png | tail -c 3)" PNG
  expect_err "Epoch"
  ln -s a.svg link.svg
  run "$train" plot runs -o link.svg
  expect_code 0
  expect_file a.svg
  [[ -L link.svg ]] || fail "the link was replaced"
  expect_equal "$(find . -maxdepth 1 -type f | sort | xargs)" "./a.png ./a.svg ./b.png ./link.gp ./tiny.yaml"
  expect_equal "$(find . -name '.tmp-*')" ""
fi

begin "a pipe of the shell gets the output, and a full device is a disk error"
own
run bash -c '"$1" compare runs --csv >(sort >sorted); wait $!' bash "$train"
expect_code 0
timeout 30 bash -c 'until [[ -s sorted ]]; do sleep 0.01; done' || fail "nothing was sorted"
expect_equal "$(wc -l <sorted)" 2
mkdir places
mkfifo places/pipe
cat places/pipe >received &
run "$train" export runs/tiny/0001 --onnx places/pipe
wait $!
expect_code 0
"$train" export runs/tiny/0001 --onnx plain.onnx >/dev/null
expect_same_file received plain.onnx
[[ -p places/pipe ]] || fail "the pipe was replaced"
# A node of ours: an error here must not cost the machine its own.
if mknod places/full c 1 7 2>/dev/null && : <places/full 2>/dev/null; then
  run "$train" compare runs --csv places/full
  expect_code 7
  expect_err "cannot write 'places/full': No space left on device"
  [[ -c places/full ]] || fail "the device was replaced"
fi

begin "what is not a place for a file is refused before the work"
own
mkdir folder
for output in "compare runs --csv" "export runs/tiny/0001 --onnx" "browse tiny.yaml -o" "find-lr tiny.yaml --csv" \
  "import x --config tiny.yaml -o"; do
  # shellcheck disable=SC2086  # words
  run "$train" $output folder
  expect_code 2
  expect_err " folder: this is a folder; name a file"
  # shellcheck disable=SC2086
  run "$train" $output none/x
  expect_code 2
  expect_err "the folder 'none' does not exist; create it first"
  # shellcheck disable=SC2086
  run "$train" $output ''
  expect_code 2
  expect_err ": '' is not a value; give one, or leave it out"
done
echo mine >kept.csv
chmod 400 kept.csv
if [[ $(id -u) -ne 0 ]]; then
  run "$train" compare runs --csv kept.csv
  expect_code 7
  expect_err "cannot write 'kept.csv': Permission denied; allow writing to it (chmod u+w), or name another file"
  expect_equal "$(<kept.csv)" mine
fi

begin "files of a run are not written through links, and sweeps stay in their folder"
own
echo precious >victim
rm runs/tiny/0001/train.log
ln -s ../../../victim runs/tiny/0001/train.log
run "$train" resume runs/tiny/0001 --set epochs=4
expect_code 7
expect_err "cannot write 'runs/tiny/0001/train.log': it is a link, and links are not followed here; remove it, then try again"
expect_equal "$(<victim)" precious
run "$train" sweep tiny.yaml --grid seed=1,2 --set name=../../evil
expect_code 2
expect_err "'../../evil' is not a plain folder name"

begin "names that could change a terminal are shown with escapes"
own
run "$train" compare $'runs/\e[31m\xc2\x90x'
expect_code 2
expect_err 'no run matches '"'"'runs/\x1b[31m\xc2\x90x'"'"
run "$train" check tiny.yaml --set "data.train.root=$(printf '%060000d' 0)"
expect_code 2
[[ ${#err} -lt 5000 ]] || fail "a message of ${#err} bytes"

begin "pipes without a writer are refused by whatever reads a file"
own
rm tiny.yaml
mkfifo tiny.yaml a.pack
printf 'extends: tiny.yaml\n' >extending.yaml
run "$train" check tiny.yaml
expect_code 3
expect_err "no config file 'tiny.yaml'"
expect_err "; this is a pipe or a device"
run "$train" check extending.yaml
expect_code 3
expect_err "tiny.yaml: is not an ordinary file but a pipe or a device; expected a YAML file"
run "$train" data read source=pack file=a.pack
expect_code 4
expect_err "a.pack' is not a regular file"
rm runs/tiny/0001/config.yaml
mkfifo runs/tiny/0001/config.yaml
for verb in "compare runs/tiny/0001" "plot runs/tiny/0001" "diff runs/tiny/0001 runs/tiny/0001" "doctor runs/tiny/0001"; do
  # shellcheck disable=SC2086  # words
  run timeout 20 "$train" $verb
  expect_differs "$code" 124
done

begin "data get takes three kinds of addresses"
for address in x ftp://localhost telnet://localhost file://x; do
  run "$train" data get mnist --from "$address"
  expect_code 2
  expect_err "--from: expected an address that begins with http://, https:// or file:///, found '$address'"
done
mkdir -p mirror to/mnist
mkfifo mirror/train-images-idx3-ubyte.gz
run "$train" data get mnist --to to --from "file://$PWD/mirror"
expect_code 4
expect_err "mirror/train-images-idx3-ubyte.gz: it is not an ordinary file"

finish 9 0
