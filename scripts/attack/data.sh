# shellcheck shell=bash disable=SC2034,SC2154,SC2059  # variables are shared with scripts/attack.sh
# Images change or vanish while a run reads them: it ends with 4 and names the file, or with 0 if it no longer needed
# the file; once the images are restored it can be resumed.

default_count=200

# change: changes part of data/ according to $how; stores what in $file.
change() {
  local files
  mapfile -t files < <(find data -name '*.bmp' | sort)
  pick "${files[@]}"
  file=$picked
  case $how in
    vanish) rm "$file" ;;
    cut) truncate --size $((RANDOM % 246)) "$file" ;;
    empty) : >"$file" ;;
    folder) rm "$file" && mkdir "$file" ;;
    noise) head -c 246 /dev/urandom >"$file" ;;
    other) printf 'BM more' | dd of="$file" bs=1 seek=$((RANDOM % 200)) conv=notrunc status=none ;;
    class) file=${file%/*} && rm -r "$file" ;;
    fifo) rm "$file" && mkfifo "$file" ;;
    all) file=data && rm -r data ;;
  esac
}

attack() {
  local pid length how file what refused=0
  write_run run.yaml
  sed -i -E 's/(train|val): \{source: synthetic.*/\1: {source: image_folder, root: data, memory_mib: 0}/' run.yaml
  write_images images 8
  cp -r images data
  train_whole
  while ((count < $1)); do
    tried
    pick vanish cut empty folder noise other class fifo all
    how=$picked
    start reading
    # A file removed before the run has listed its data is not part of them: it would train on the others.
    if [[ $how =~ ^(vanish|class|fifo|folder)$ ]]; then await grep -q fingerprint reading/run.json || true; fi
    sleep_part 1
    change
    what="$how of $file"
    wait_for_end "$what"
    judge_code "$what"
    if [[ $code -eq 4 ]]; then
      refused=$((refused + 1))
      grep -q "data" log || finding "the message names no file: $what"
    elif [[ $code -ne 0 ]]; then
      finding "exit $code instead of 4: $what"
    fi
    rm -rf data
    cp -r images data
    # Changed pixels in an intact image are different data, with which a run ends differently.
    if [[ $how == other ]]; then rm -rf reading; fi
    ends_equal reading "$what"
  done
  printf 'data: %s of %s runs ended with exit 4, the others had already read the changed file\n' "$refused" "$count"
}
