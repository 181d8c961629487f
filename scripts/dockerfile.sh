#!/usr/bin/env bash
# Runs the steps of docker/Dockerfile without Docker, each stage in a root folder of its own, as root: what the images
# contain can then be tested with chroot. Understands the instructions that the file uses.
#
#   scripts/dockerfile.sh STAGE CONTEXT BASE FOLDER
#
# BASE is a root folder of what FROM names (scripts/package_roots.sh); it is copied. The stages become FOLDER/STAGE.

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

[[ $# -eq 4 ]] || die "requires a stage, a context, a base and a folder"
context=$(realpath "$2")
base=$(realpath "$3")
mkdir -p "$4"
folder=$(realpath "$4")

mapfile -t pip_settings < <(env | grep '^PIP_')

# One line per instruction: without comments, continued lines joined.
instructions() { sed -e '/^#/d' -e ':a' -e '/\\$/{N;s/\\\n//;ba' -e '}' docker/Dockerfile | grep -v '^ *$'; }

# steps STAGE: its instructions, the first is FROM.
steps() { instructions | awk -v stage="$1" '$1 == "FROM" { is = $4 == stage } is'; }

# within ROOT COMMAND: /bin/sh -c COMMAND in the root, which has /proc, /dev, the network and the context as /release, and
# the caller's settings of pip.
within() {
  cp --remove-destination /etc/resolv.conf "$1/etc/resolv.conf"
  mkdir -p "$1/release"
  # shellcheck disable=SC2016  # for the inner shell
  unshare --mount bash -c '
    mount --rbind /proc "$1/proc" && mount --rbind /dev "$1/dev" && mount --bind "$3" "$1/release" &&
    exec chroot "$1" /usr/bin/env -i "PATH=$PATH" DEBIAN_FRONTEND=noninteractive HOME=/root "${@:4}" /bin/sh -c "$2"' \
    - "$1" "$2" "$context" "${pip_settings[@]}" </dev/null
  rmdir "$1/release"
}

# step ROOT INSTRUCTION WORDS
step() {
  local from
  case $2 in
    RUN) within "$1" "${3#--mount=type=bind,target=/release }" ;;
    COPY)
      [[ $3 =~ ^--from=([a-z]+)\ ([^ ]+)\ ([^ ]+)$ ]] || die "COPY $3: only COPY --from=STAGE SOURCE TARGET is known"
      from=${BASH_REMATCH[1]}
      make_stage "$from"
      cp -a "$folder/$from${BASH_REMATCH[2]}" "$1${BASH_REMATCH[3]}"
      ;;
    WORKDIR) mkdir -p "$1$3" ;;
    USER) grep -q "^$3:" "$1/etc/passwd" || die "USER $3: no such user" ;;
    ARG | ENV | ENTRYPOINT | STOPSIGNAL) ;; # about other builds, and running the image
    *) die "$2 is not known here" ;;
  esac
}

# make_stage STAGE: nothing if its folder is there.
make_stage() {
  local from instruction words root=$folder/$1
  [[ ! -e $root ]] || return 0
  rm -rf "$root.new"
  from=$(steps "$1" | awk 'NR == 1 { print $2 }')
  [[ -n $from ]] || die "no stage '$1'"
  if [[ $from == debian:* ]]; then
    cp -a "$base" "$root.new"
  else
    make_stage "$from"
    cp -a "$folder/$from" "$root.new"
  fi
  say "stage $1"
  while read -r instruction words; do
    [[ $instruction == FROM ]] || step "$root.new" "$instruction" "$words"
  done < <(steps "$1")
  mv "$root.new" "$root"
}

make_stage "$1"
