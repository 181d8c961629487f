# shellcheck shell=bash disable=SC2034,SC2154  # variables are shared with scripts/attack.sh
# A file of a run's folder is a link to a file outside (also one that is not there), which has the same contents. The run
# is resumed with more epochs: the file outside stays as it is, whatever becomes of the resume. So does what a link with
# a temporary file's name leads to, and the target of a link named FILE.part of `data get`.

default_count=150

# make_links: folder linked/, a copy of whole/ with one link; stores which in $file.
make_links() {
  local files name
  rm -rf linked outside
  cp -r whole linked
  mkdir outside
  mapfile -t files < <(cd whole && find . -type f | sort)
  pick "${files[@]}" ./train.log ./metrics.csv ./steps.csv ./.lock ./status.json ./plots/gnuplot.log ./summary.txt
  file=${picked#./}
  mkdir -p "linked/$(dirname "$file")"
  if [[ -f linked/$file ]]; then
    cp "linked/$file" outside/victim
    rm "linked/$file"
  fi
  ln -s "$PWD/outside/victim" "linked/$file"
  for name in .tmp-status.json .tmp-metrics.csv .tmp-curves.png plots/.tmp-curves.png; do
    ln -s "$PWD/outside/other" "linked/$name"
  done
}

# state_of FOLDER: the names and contents in it.
state_of() { (cd "$1" && find . -type f -exec sha256sum {} + | sort); }

attack() {
  local length file what before files=() search_path=$PATH
  train_whole
  while ((count < $1)); do
    tried
    if ((RANDOM % 8 == 0)); then
      rm -rf outside got
      mkdir -p outside got/mnist
      echo precious >outside/victim
      file=mnist/train-images-idx3-ubyte.gz.part what="data get into a link"
      ln -s "$PWD/outside/victim" "got/$file"
      before=$(state_of outside)
      attempt "${program[@]}" data get mnist --to got --from "file://$PWD/whole"
    else
      make_links
      what="resume with a link for $file"
      before=$(state_of outside)
      attempt env PATH="$search_path" "$train" resume linked "${ranks[@]}" --set epochs=5
    fi
    [[ $code =~ ^[0234579]$ ]] || finding "exit $code: $what"
    [[ $(state_of outside) == "$before" ]] || finding "the link was followed: $what"
  done
}
