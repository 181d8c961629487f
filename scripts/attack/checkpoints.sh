# shellcheck shell=bash disable=SC2034,SC2154,SC2059  # variables are shared with scripts/attack.sh
# Damages one file of the newest checkpoint of a killed run, every fourth time one file of each checkpoint. Resume must
# use an older checkpoint and end like an uninterrupted run, or report the damage (exit 9); it must never continue from
# damaged data.

default_count=200

# damage FILE: in a random way, stored in $how.
damage() {
  local size at
  size=$(stat --format %s "$1")
  at=$(((RANDOM * 32768 + RANDOM) % (size + 1)))
  pick flip cut remove empty zero append folder
  how=$picked
  case $how in
    flip) # always changes the byte
      [[ $at -lt $size ]] || at=$((size - 1))
      local byte
      byte=$(od -An -tu1 -j "$at" -N 1 "$1")
      printf "\\x$(printf %02x $((byte ^ (1 << RANDOM % 8))))" | dd of="$1" bs=1 seek="$at" conv=notrunc status=none
      ;;
    cut) truncate --size "$at" "$1" ;;
    remove) rm "$1" ;;
    empty) : >"$1" ;;
    zero) dd if=/dev/zero of="$1" bs=1 seek="$at" count=64 conv=notrunc status=none ;;
    append) printf 'more' >>"$1" ;;
    folder) rm "$1" && mkdir "$1" ;;
  esac
}

# damage_one FOLDER [FILE]: damages one of its files, or FILE; stores which in $file.
damage_one() {
  local files
  mapfile -t files < <(find "$1" -type f | sort)
  pick "${files[@]}" "${@:2}"
  file=$picked
  damage "$file"
}

# checkpoints_of FOLDER: the number of its checkpoints.
checkpoints_of() { find "$1/checkpoints" -name MANIFEST.json 2>/dev/null | wc -l; }

# Makes killed/, a run that was killed when it had several checkpoints. A run that ends before is started again.
make_killed() {
  local pid length try
  train_whole
  for ((try = 0; try < 20; ++try)); do
    rm -rf killed
    start killed
    while [[ $(checkpoints_of killed) -lt 2 ]] && kill -0 "$pid" 2>/dev/null; do sleep 0.005; done
    kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
    if [[ -s killed/checkpoints/last ]] && ! fingerprint killed | cmp -s - expected; then return; fi
  done
  die "the run ends before it can be killed"
}

attack() {
  local file how last older refused=0
  make_killed
  while ((count < $1)); do
    tried
    cp -r killed damaged
    last=damaged/checkpoints/$(<damaged/checkpoints/last)
    if ((RANDOM % 4 == 0)); then
      for older in damaged/checkpoints/*/; do
        [[ $older -ef $last ]] || damage_one "$older"
      done
    fi
    damage_one "$last" damaged/checkpoints/last
    attempt "${program[@]}" resume damaged --gpus 0
    # The program does not remove a folder in place of the pointer file, and reports it.
    if [[ $code -eq 7 && $how == folder && $file == */last ]]; then
      rmdir "$file"
      attempt "${program[@]}" resume damaged --gpus 0
    fi
    if [[ $code -eq 0 ]]; then
      if ! fingerprint damaged >found || ! cmp -s found expected; then finding "$how of $file was accepted as intact"; fi
    elif [[ $code -eq 9 ]]; then
      refused=$((refused + 1))
    else
      finding "exit $code instead of 9: $how of $file"
    fi
    rm -rf damaged
  done
  printf 'checkpoints: %s of %s resumes ended with exit 9, the others used an older one\n' "$refused" "$count"
}
