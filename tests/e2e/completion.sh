#!/usr/bin/env bash
# Completion: shells that really run, with the scripts that the program prints. What is typed is fed to them, a tab
# and keys of the test's own among it.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

mkdir "$scratch/bin" "$scratch/home"
ln -s "$train" "$scratch/bin/train"
export PATH=$scratch/bin:$PATH HOME=$scratch/home

# A folder with configs, runs and files; the program needs no more of a run than this.
make_folder() {
  mkdir -p configs/suites "my runs/a run" "runs/it's/0001" runs/lr/{0001,0002} data photos
  touch configs/{own_one,own_two}.yaml configs/suites/keras-mxnet.csv mine.yaml "two words.yaml" weights.safetensors "$HOME/home.yaml"
  for run in "my runs/a run" "runs/it's/0001" runs/lr/{0001,0002}; do
    echo 'name: x' >"$run/config.yaml"
    echo '{}' >"$run/status.json"
  done
}

# in_bash KEYS TYPED...: each line TYPED, followed by KEYS, as it is in bash then; in $out.
in_bash() {
  local keys=$1 typed
  shift
  cat >rc <<'RC'
PS1=
source <(train completion bash)
t() { train "$@"; }
complete -F _train t
bind 'set bell-style none'
bind -x '"\C-g": printf "[%s]\n" "$READLINE_LINE" >>lines'
RC
  rm -f lines
  for typed in "$@"; do printf '%s%b\007\025' "$typed" "$keys"; done |
    timeout 60 bash --noprofile --rcfile rc -i >screen 2>&1
  code=$?
  err=
  out=$(<lines)
}

# A line as it is typed, and as a tab leaves it; and a line, and all that may follow.
expect_completed() {
  local -a typed=() wanted=()
  while IFS='%' read -r before after; do
    typed+=("$before")
    wanted+=("[$after]")
  done
  "$1" "$2" "${typed[@]}"
  expect_code 0
  while IFS= read -r line <&3 && IFS= read -r want <&4; do expect_equal "$line" "$want"; done \
    3< <(printf '%s\n' "$out") 4< <(printf '%s\n' "${wanted[@]}")
  expect_equal "$(wc -l <<<"$out")" "${#wanted[@]}"
}

begin "bash completes verbs, flags, their words, configs, runs, keys and the words of keys"
make_folder
expect_completed in_bash '\t' <<'END'
train summ%train summary 
train help summ%train help summary 
train data g%train data get 
train data make s%train data make shapes 
train data get fash%train data get fashion_mnist 
train check --conf%train check --config 
train --max-t%train --max-time 
train --ver%train --version 
train check --config own_%train check --config own_
train check --config own_t%train check --config own_two 
train check --config=own_t%train check --config=own_two 
train check mi%train check mine.yaml 
train mi%train mine.yaml 
train check --device ref%train check --device reference 
train check --device=ref%train check --device=reference 
train check --precision bf%train check --precision bf16 
train --log j%train --log json 
train eval runs/lr --data tr%train eval runs/lr --data train 
train bench --suite k%train bench --suite keras-mxnet 
train man summ%train man summary 
train completion z%train completion zsh 
train resume runs/l%train resume runs/lr 
train resume runs/lr/%train resume runs/lr/000
train resume runs/lr/0001%train resume runs/lr/0001 
train diff runs/lr/0001 runs/lr/0002%train diff runs/lr/0001 runs/lr/0002 
train --epochs 2 --set optimizer.sg%train --epochs 2 --set optimizer.sgd.
train --set optimizer.sgd.nest%train --set optimizer.sgd.nesterov=
train --set optimizer.sgd.nesterov=t%train --set optimizer.sgd.nesterov=true 
train --set=optimizer.sgd.nesterov=t%train --set=optimizer.sgd.nesterov=true 
train --set data.train.source=cifar100%train --set data.train.source=cifar100 
train --set loss=%train --set loss=
train --set network.fi%train --set network.file=
train sweep x.yaml --grid optimizer=sgd,adamw%train sweep x.yaml --grid optimizer=sgd,adamw 
train check -%train check -
END

begin "bash completes words with blanks and quotes, folders, files behind ~, and words in open quotes"
make_folder
expect_completed in_bash '\t' <<'END'
train --set 'optimizer.sg%train --set 'optimizer.sgd.'
train --set 'optimizer.sgd.'nest%train --set optimizer.sgd.nesterov=
train --set "optimizer.sgd.nesterov=f%train --set "optimizer.sgd.nesterov=false" 
train resume "my runs/%train resume "my runs/a run" 
train resume my\ runs/%train resume my\ runs/a\ run 
train resume runs/i%train resume runs/it\'s 
train resume "runs/i%train resume "runs/it's" 
train resume 'runs/i%train resume 'runs/it'\''s' 
train check two%train check two\ words.yaml 
train check --config 'two%train check --config 'two words.yaml' 
train check ~/ho%train check ~/home.yaml 
train eval runs/lr/0001/st%train eval runs/lr/0001/status.json 
train init pho%train init photos/
train init ~/ho%train init ~/home.yaml 
train resume dat%train resume data/
train resume mine%train resume mine
train --init weig%train --init weights.safetensors 
train --init=weig%train --init=weights.safetensors 
~/../bin/train summ%~/../bin/train summary 
t summ%t summary 
END

begin "bash lists what may follow, each once, and nothing that is given already"
make_folder
in_bash '\e*' "train check --set optimizer.sgd." "train check --json --config own_" "train data "
expect_out "[train check --set optimizer.sgd.decay= optimizer.sgd.decay_on= optimizer.sgd.decoupled_decay= optimizer.sgd.lr= "
expect_out "[train check --json --config own_one own_two ]"
expect_out "[train data get make pack read ]"
in_bash '\e*' "train "
for verb in $(train --help | sed -n 's/^  \([a-z][a-z-]*\)   *[a-z].*/\1/p'); do expect_out " $verb "; done
in_bash '\e*' "train check --config mine.yaml --no-tune --"
expect_out " --set "
expect_no_out " --config --"
expect_equal "$(grep -o -e '--no-tune' <<<"$out")" "--no-tune"
in_bash '\e*' "train completion bash --"
expect_out "[train completion bash --help ]"

begin "without runs, configs or a known verb nothing is completed, and nothing is printed"
expect_completed in_bash '\t' <<'END'
train resume %train resume 
train sumary --%train sumary --
train check --threads %train check --threads 
train check --unknown %train check --unknown 
train --set nosuchkey.%train --set nosuchkey.
train --set optimizer.sgd.lr=%train --set optimizer.sgd.lr=
train compare "%train compare "
END
expect_equal "$(grep -cE 'train: |error' screen)" 0

begin "an answer takes no longer than the program's start"
make_folder
started=$(date +%s%N)
for _ in 1 2 3 4 5; do train --help >/dev/null; done
help=$(($(date +%s%N) - started))
started=$(date +%s%N)
for _ in 1 2 3 4 5; do train completion zsh --line="train check --set optimizer.sgd." >answer; done
answer=$(($(date +%s%N) - started))
expect_file answer
[[ $answer -lt $((2 * help + 100000000)) ]] || fail "5 answers took $((answer / 1000000)) ms, 5 times --help $((help / 1000000)) ms"

begin "the scripts need a shell that is known, and those for bash have no mistakes that shellcheck finds"
run "$train" completion
expect_code 2
expect_err "'train completion' needs bash|zsh|fish; usage: train completion bash|zsh|fish [FLAGS]"
run "$train" completion tcsh
expect_code 2
expect_err "expected one of bash, zsh, fish, found 'tcsh'"
run "$train" completion bash
expect_code 0
if command -v shellcheck >/dev/null; then
  printf '%s\n' "$out" >script
  run shellcheck --shell=bash script
  expect_code 0
fi

# As in_bash, in a pseudo-terminal of zsh.
in_zsh() {
  local keys=$1
  shift
  printf '%s\n' "$@" >typed
  rm -f lines
  # shellcheck disable=SC2016  # expanded by zsh
  ZDOTDIR=. timeout 60 zsh -f -c '
    zmodload zsh/zpty
    zpty inner zsh -f -i
    zpty -w inner "PS1= PS2=; fpath=($PWD/functions \$fpath); autoload -Uz compinit; compinit -u -D"
    [[ -e functions ]] || zpty -w inner "source <(train completion zsh)"
    zpty -w inner "report() { print -r -- \"[\$BUFFER]\" >>lines; BUFFER= }; zle -N report; bindkey ^G report"
    zpty -w inner "bindkey ^I complete-word; unsetopt listbeep; setopt nolistambiguous noautomenu; : >ready"
    until [[ -e ready ]]; do zpty -r -t inner && sleep 0.05; done
    for typed in ${(f)"$(<typed)"}; do zpty -w -n inner $typed${(g::)1}$'"'\\007'"'; done
    zpty -w inner "exit"
    while zpty -r inner; do :; done' zsh "$keys" >screen 2>&1
  code=$?
  err=
  out=$(<lines)
}

begin "zsh completes the same"
make_folder
if ! command -v zsh >/dev/null; then
  skip "zsh is not installed"
else
  expect_completed in_zsh '\t' <<'END'
train summ%train summary 
train data get fash%train data get fashion_mnist 
train check --config own_t%train check --config own_two 
train check --config=own_t%train check --config=own_two 
train --epochs 2 --set optimizer.sg%train --epochs 2 --set optimizer.sgd.
train --set optimizer.sgd.nesterov=t%train --set optimizer.sgd.nesterov=true 
train resume runs/l%train resume runs/lr 
train resume runs/i%train resume runs/it\'s 
train resume my\ runs/%train resume my\ runs/a\ run 
train resume 'my runs/%train resume 'my runs/a run' 
train check ~/ho%train check ~/home.yaml 
train --init=weig%train --init=weights.safetensors 
train init pho%train init photos/
train sumary --%train sumary --
END
  mkdir functions
  train completion zsh >functions/_train
  expect_completed in_zsh '\t' <<'END'
train summ%train summary 
train check --config own_t%train check --config own_two 
END
fi

# As in_bash with all that may follow, each on a line of its own.
in_fish() {
  shift
  # shellcheck disable=SC2016  # expanded by fish
  for typed in "$@"; do
    timeout 60 fish --no-config -c 'train completion fish | source; complete -C $argv[1]' "$typed"
  done >listed 2>screen
  code=$?
  err=
  out=$(<listed)
}

begin "fish lists the same, with what each means"
make_folder
if ! command -v fish >/dev/null; then
  skip "fish is not installed"
else
  in_fish '' "train summ" "train check --config=own_" "train --set optimizer.sgd.nesterov=" "train resume 'my runs/" \
    "train resume runs/i" "train check ~/ho" "train --init=weig" "train init pho" "train sumary --"
  expect_equal "$out" "summary	list the layers of a network
--config=own_one
--config=own_two
optimizer.sgd.nesterov=false
optimizer.sgd.nesterov=true
my runs/a run
runs/it's
~/home.yaml
--init=weights.safetensors
photos/"
fi

finish 8 2
