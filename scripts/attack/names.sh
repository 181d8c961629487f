# shellcheck shell=bash disable=SC2034,SC2154  # variables are shared with scripts/attack.sh
# Names that lead elsewhere or change a terminal: of runs and sweeps (nothing is written outside of runs/ and sweeps/), of
# classes, files and keys (no control character is printed), and endless ones (no message is longer than 100 kB).

default_count=150

# choose_name: in $chosen.
choose_name() {
  local escape=$'\e[31m' long
  printf -v long '%0100000d' 0
  # shellcheck disable=SC2016  # not to be expanded by anyone
  pick ../evil ../../evil /tmp/evil-of-train . .. a/b '' "red$escape" $'two\nlines' $'bell\a' $'\x9b2J' $'\xc2\x9b2J' "$long" \
    '-x' 'a b' '$(touch evil)' $'\xff'
  chosen=$picked
}

# classes_named NAME: folder images/ with a class of this name, as far as a file system allows it; false if it does not.
classes_named() {
  [[ -n $1 && $1 != */* && $1 != . && $1 != .. && ${#1} -lt 200 ]] || return 1
  rm -rf images named
  cp -r four images
  mv images/b "images/$1"
}

attack() {
  local chosen what length
  train_whole
  mkdir here
  write_images four 8
  sed -E 's/(train|val): \{source: synthetic.*/\1: {source: image_folder, root: ..\/images}/; s/^epochs:.*/epochs: 1/' \
    run.yaml >here/classes.yaml
  cp run.yaml here/
  cd here || return
  while ((count < $1)); do
    tried
    choose_name
    pick sweep name override config classes key run file
    what="$picked '${chosen:0:40}'"
    case $picked in
      sweep) attempt "${program[@]}" sweep run.yaml --set "name=$chosen" --grid seed=1 "${ranks[@]}" --set epochs=1 ;;
      name) attempt "${program[@]}" run.yaml --name "$chosen" "${ranks[@]}" --set epochs=1 ;;
      override) attempt "${program[@]}" run.yaml --set "name=$chosen" "${ranks[@]}" --set epochs=1 ;;
      config) attempt "${program[@]}" check "$chosen.yaml" "${ranks[@]}" ;;
      key) attempt "${program[@]}" check run.yaml "${ranks[@]}" --set "$chosen=1" ;;
      run) attempt "${program[@]}" compare "$chosen" ;;
      file) attempt "${program[@]}" predict ../whole "$chosen" "${ranks[@]}" ;;
      classes)
        (cd .. && classes_named "$chosen") || continue
        attempt "${program[@]}" classes.yaml --out named "${ranks[@]}"
        judge_text
        attempt "${program[@]}" eval named "${ranks[@]}"
        judge_text
        attempt "${program[@]}" predict named ../images "${ranks[@]}"
        rm -rf named ../images
        ;;
    esac
    judge_text
    if [[ -n $(find .. ../../evil /tmp/evil-of-train -name evil -o -name evil-of-train 2>/dev/null) ]]; then
      finding "it wrote elsewhere: $what"
      rm -rf ../evil ../../evil /tmp/evil-of-train
    fi
    rm -rf runs sweeps
  done
  cd "$scratch" || return
}

# judge_text: of log.
judge_text() {
  if LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' log; then finding "a control character was printed: $what"; fi
  [[ $(stat --format %s log) -le 100000 ]] || finding "a message of $(stat --format %s log) bytes: $what"
}
