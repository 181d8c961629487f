# shellcheck shell=bash disable=SC2034,SC2154  # variables are shared with scripts/attack.sh
# A file that is read is a pipe without a writer, a folder, an endless device or a dangling link: one of a run's folder,
# then each verb that reads a run, or one of those that configs, data and flags name. Every verb ends soon, and without
# a bug.

default_count=300
most_seconds_to_end=20

# spoil FILE: replaces it; stores how in $how.
spoil() {
  pick fifo fifo folder zero dangling
  how=$picked
  rm -rf -- "$1"
  case $how in
    fifo) mkfifo "$1" ;;
    folder) mkdir "$1" ;;
    zero) ln -s /dev/zero "$1" ;;
    dangling) ln -s nowhere "$1" ;;
  esac
}

# make_inputs: folder inputs/ with configs that name a file of each kind, and whole/.
make_inputs() {
  mkdir -p inputs/images/a inputs/images/b
  write_images inputs/four 8
  cp -r inputs/four/a/. inputs/images/a/ && cp -r inputs/four/b/. inputs/images/b/
  "$train" data pack inputs/four inputs/four.pack >/dev/null 2>&1
  (cd inputs && write_text_run text.yaml && sed -i 's/file: a.txt/file: inputs\/a.txt/' text.yaml)
  printf 'conv: {filters: 4, kernel: 3}\n' >inputs/values
  # shellcheck disable=SC2016  # of the program
  printf 'blocks:\n  part:\n    parameters: {n: 4}\n    layers:\n      - dense: $n\n' >inputs/blocks.yaml
  printf 'include: [blocks.yaml]\ninput: [3, 8, 8]\nlayers:\n  - flatten\n  - part: {n: 4}\n  - softmax\n' >inputs/net.yaml
  sed 's/^network:$/network: {file: net.yaml}/; /^  input:/,/softmax/d' run.yaml >inputs/net_run.yaml
  printf 'extends: ../run.yaml\nepochs: 1\n' >inputs/extending.yaml
  sed -E 's/(train|val): \{source: synthetic.*/\1: {source: pack, file: inputs\/four.pack}/' run.yaml >inputs/pack.yaml
  sed -E 's/(train|val): \{source: synthetic.*/\1: {source: image_folder, root: inputs\/four}/' run.yaml >inputs/folder.yaml
  printf 'inputs/four/a/1.bmp,0\ninputs/four/b/1.bmp,1\n' >inputs/list.csv
  cp whole/weights/last.safetensors inputs/init.safetensors
  echo 'conv: conv' >inputs/names
}

# commands_of FILE: a command that reads this input, in $command.
choose_input() {
  pick run net blocks extending pack image text init names predicted list
  case $picked in
    run) file=run.yaml command=(check run.yaml --gpus 0) ;;
    net) file=inputs/net.yaml command=(summary inputs/net_run.yaml) ;;
    blocks) file=inputs/blocks.yaml command=(summary inputs/net_run.yaml) ;;
    extending) file=inputs/extending.yaml command=(check inputs/extending.yaml --gpus 0) ;;
    pack) file=inputs/four.pack command=(check inputs/pack.yaml --gpus 0) ;;
    image) file=inputs/four/b/3.bmp command=(check inputs/folder.yaml --gpus 0 --set data.train.memory_mib=0) ;;
    text) file=inputs/a.txt command=(check inputs/text.yaml --gpus 0) ;;
    init) file=inputs/init.safetensors command=(check run.yaml --gpus 0 --init inputs/init.safetensors) ;;
    names) file=inputs/names command=(import whole/weights/last.safetensors --config run.yaml -o o.safetensors --names inputs/names) ;;
    predicted) file=inputs/four/a/1.bmp command=(predict whole inputs/four/a/1.bmp) ;;
    list) file=inputs/list.csv command=(data read source=image_list file=inputs/list.csv size=8) ;;
  esac
}

# choose_file_of_run: one of whole/ and a verb that reads runs.
choose_file_of_run() {
  mapfile -t files < <(find whole -type f | sort)
  pick "${files[@]}"
  file=$picked
  pick "compare whole" "plot whole -o p.png" "diff whole whole" "doctor whole" "eval whole --gpus 0" \
    "resume whole --gpus 0 --set epochs=5" "export whole --safetensors o.safetensors" "predict whole inputs/images" \
    "train run.yaml --gpus 0 --out whole --resume" "generate whole"
  read -ra command <<<"$picked"
}

attack() {
  local length how file files command what most_seconds=$most_seconds_to_end
  train_whole
  make_inputs
  mkdir kept && cp -r whole inputs run.yaml kept/
  while ((count < $1)); do
    tried
    if ((RANDOM % 2)); then choose_input; else choose_file_of_run; fi
    spoil "$file"
    what="$how for $file: ${command[*]}"
    attempt "${program[@]}" "${command[@]}"
    [[ $code =~ ^[0-9]$ || $code -eq 75 ]] || finding "exit $code: $what"
    rm -rf whole inputs run.yaml
    cp -r kept/. .
  done
}
