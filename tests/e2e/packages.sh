#!/usr/bin/env bash
# What scripts/release.sh makes: the .deb, the wheel and the images, each used from its file alone.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

build_dir=$(dirname "$train")/..
release=$scratch/release
site=$scratch/site
version=$("$train" --version | sed -n 's/^train //p')
IFS=: read -ra systems <<<"${TRAINYARD_ROOTS:-}"

# trial OF: the commands that train from one program: OF is how it is called.
trial() {
  printf '%s data make shapes /tmp/shapes --train 500 --test 100 && %s --config quickstart --out /tmp/run --epochs 1 %s' \
    "$1" "$1" "--set batch.per_gpu=50 --set data.train.root=/tmp/shapes --set data.val.root=/tmp/shapes --set 'schedule={cosine: {by: step}}'"
}

# in_copy ROOT COMMAND: in a root folder with /release, without a trace: what it writes is in memory.
in_copy() {
  # shellcheck disable=SC2016  # for the inner shell
  run unshare --mount bash -c '
    mount -t tmpfs tmpfs "$3" && mkdir "$3"/{upper,below,root} &&
    mount -t overlay overlay -o "lowerdir=$1,upperdir=$3/upper,workdir=$3/below" "$3/root" &&
    mkdir -p "$3/root/release" && mount --bind "$2" "$3/root/release" &&
    mount --rbind /proc "$3/root/proc" && mount --rbind /dev "$3/root/dev" && shift_root=$3/root && shift 3 &&
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$shift_root" /bin/sh -c "$1"' \
    - "$1" "$release" "$scratch/$cases" "$2"
}

make_release() {
  begin "a release has the archive, the .deb, the wheel, and their sums"
  run "$source_dir/scripts/release.sh" --build "$build_dir" "$release"
  expect_code 0
  run bash -c 'cd "$1" && sha256sum --check --quiet SHA256SUMS && ls' - "$release"
  expect_code 0
  for file in "trainyard-$version-linux-x86_64.tar.gz" "trainyard_${version}_amd64.deb" \
    "trainyard_train-$version-py3-none-manylinux_2_35_x86_64.whl" licences.txt CHANGELOG.md Dockerfile; do
    expect_file "$release/$file"
    expect_equal "$(grep -c " $file\$" "$release/SHA256SUMS")" 1
  done
  expect_equal "$(grep -c '^======== libdnnl' "$release/licences.txt")" 1
  run "$source_dir/scripts/release.sh" --build "$build_dir" "$release"
  expect_code 1
  expect_err "is there already; choose a new folder"
}

deb_cases() {
  begin "the .deb depends on the C and C++ libraries alone, in versions of Ubuntu 22.04"
  run dpkg-deb --field "$release"/*.deb Depends
  expect_out_match "^libc6 \(>= 2\.3[0-5]\), libgcc-s1 \(>= 3\.[0-9]\), libstdc\+\+6 \(>= 1[12][.0-9-]*\)$"
}

wheel_cases() {
  begin "the wheel is a package of Python, which becomes the program"
  mkdir -p "$site"
  run python3 -m zipfile -e "$release"/*.whl "$site"
  chmod +x "$site/trainyard/bin/train"
  run env PYTHONPATH="$site" python3 -m trainyard --version
  expect_code 0
  expect_out "train $version"
  run env PYTHONPATH="$site" python3 -m trainyard --nothing
  expect_code 2
  run env PYTHONPATH="$site" python3 -m trainyard check quickstart --set data.train.root=none
  expect_code 4
  run cat "$site"/*.dist-info/{METADATA,entry_points.txt}
  expect_out "Version: $version"
  expect_out_match 'Requires-Dist: nvidia-cudnn-cu13>=9[.0-9]*,<10; extra == "cuda13"'
  expect_out "train = trainyard.__main__:main"

  begin "the program of the wheel finds NVIDIA's libraries in site-packages"
  mkdir -p "$site/nvidia/cudnn/lib"
  echo 'unsigned long cudnnGetVersion(void) { return 91900; }' |
    cc -shared -fPIC -x c - -o "$site/nvidia/cudnn/lib/libcudnn.so.9"
  run env PYTHONPATH="$site" python3 -m trainyard doctor
  expect_out "cuDNN     9.19.0, $site/nvidia/cudnn/lib/libcudnn.so.9"
}

system_cases() {
  begin "the .deb installs in each system of TRAINYARD_ROOTS, trains, and leaves nothing when it is removed"
  if [[ -z ${TRAINYARD_ROOTS:-} ]] || ! unshare --mount true 2>/dev/null; then
    skip "TRAINYARD_ROOTS names no root folder; create them with scripts/package_roots.sh"
    return
  fi
  for system in "${systems[@]}"; do
    grep -h PRETTY_NAME "$system/etc/os-release"
    in_copy "$system" "dpkg --install /release/*.deb && ! ldd /usr/bin/train | grep 'not found' &&
      $(trial train) && train doctor && dpkg --purge trainyard && ! find /usr /etc /var/lib -path '*trainyard*' | grep ."
    expect_code 0
    expect_out "Epoch 1/1"
  done
}

image_case() {
  begin "an image, made by the steps of its file, trains as its user, and SIGTERM ends it saved"
  if [[ -z ${TRAINYARD_ROOTS:-} ]] || ! unshare --mount true 2>/dev/null; then
    skip "TRAINYARD_ROOTS names no root folder; create them with scripts/package_roots.sh"
    return
  fi
  local images=$scratch/images program
  run "$source_dir/scripts/dockerfile.sh" cpu "$release" "${systems[0]}" "$images"
  expect_code 0
  expect_equal "$(grep -c '^STOPSIGNAL SIGTERM' "$release/Dockerfile")" 2
  # Debian's image lacks these folders.
  run du -sm --apparent-size --exclude={var/cache,usr/share/{doc,info,locale,man}} "$images/cpu"
  printf 'the image has %s MB\n' "${out%%[!0-9]*}"
  ((${out%%[!0-9]*} < 200)) || fail "the image of the CPU has at most 200 MB"
  local start=(unshare --mount-proc="$images/cpu/proc" --pid --fork chroot --userspec=trainyard "$images/cpu" /usr/bin/env -C /workspace train)
  run "${start[@]}" data make shapes shapes --train 500 --test 100
  expect_code 0
  run_until "Epoch 2/" "${start[@]}" --config quickstart --epochs 100000 --set batch.per_gpu=50 \
    --set data.train.root=shapes --set data.val.root=shapes
  program=$(pgrep --parent "$pid")
  expect_equal "$(awk '$1 == "NSpid:" { print $3 } $1 == "Uid:" { user = $2 } END { print user }' "/proc/$program/status")" "1
$(awk -F : '$1 == "trainyard" { print $3 }' "$images/cpu/etc/passwd")"
  kill -TERM "$program"
  wait_for_exit
  expect_out "train resume"
  expect_file "$images/cpu/workspace/runs/quickstart/0001/checkpoints/last"
}

judge_case() {
  begin "auditwheel confirms the tag of the wheel"
  if [[ ! -s $release/SHA256SUMS ]] || ! "${PEER_PYTHON:-python3}" -c 'import auditwheel' 2>/dev/null; then
    skip "auditwheel is a Python package"
    return
  fi
  run "${PEER_PYTHON:-python3}" -m auditwheel show "$release"/*.whl
  expect_code 0
  expect_equal "$(tr -s '\n' ' ' <<<"$out" | grep -c 'following platform tag: "manylinux_2_35_x86_64"')" 1
}

make_release
deb_cases
wheel_cases
system_cases
image_case
judge_case
finish 7 3
