#!/usr/bin/env bash
# Builds a release into a new folder: the archive, the .deb, the wheel, what the images need, the licences of what the
# packages contain, and SHA256SUMS.
#
#   scripts/release.sh [--build BUILD] FOLDER
#
# The GPU part is in it if the CUDA toolkit, cuDNN and NCCL are installed. --build packs a build folder as it is.

begun=$PWD
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

build=build/release
if [[ ${1-} == --build && $# -ge 2 ]]; then
  build=$(cd "$begun" && realpath "$2")
  shift 2
else
  [[ $# -ne 1 ]] || { install_missing "${build_packages[@]}" dpkg-dev file patchelf python3 && build release train; }
fi
[[ $# -eq 1 ]] || die "requires a folder"
folder=$(cd "$begun" && realpath "$1")
[[ ! -e $folder ]] || die "$folder is there already; choose a new folder"
mkdir -p "$folder"

say "packing"
cpack --config "$build/CPackConfig.cmake" -B "$folder/packing" >"$folder/cpack.log" || {
  cat "$folder/cpack.log" >&2
  die "cpack failed"
}
mv "$folder"/packing/trainyard[-_]* "$folder/"
rm -rf "$folder/packing" "$folder/cpack.log"
scripts/make_wheel.py "$folder"/trainyard-*.tar.gz "$folder" >/dev/null
scripts/licences.sh "$build/bin/train" >"$folder/licences.txt"
cp CHANGELOG.md scripts/cuda13.txt docker/Dockerfile "$folder/"
(cd "$folder" && sha256sum -- * >SHA256SUMS.new && mv SHA256SUMS.new SHA256SUMS)
say "$folder:"
ls -l "$folder" >&2
