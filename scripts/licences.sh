#!/usr/bin/env bash
# Prints the licences of what a package contains: ours, then those of the Debian packages whose libraries lie beside
# the program or are compiled into it.
#
#   scripts/licences.sh PROGRAM

[[ $# -eq 1 ]] || { echo "licences.sh: requires a program" >&2 && exit 1; }
program=$(realpath "$1")
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

compiled_in=(libeigen3-dev libyaml-cpp-dev libcli11-dev libstb-dev nlohmann-json3-dev libxxhash-dev)

# package_of FILE: the Debian package that installed it, in /lib or /usr/lib.
package_of() {
  { dpkg-query --search "$1" || dpkg-query --search "/usr$1"; } 2>/dev/null | cut -d : -f 1 | head -n 1
}

packages() {
  printf '%s\n' "${compiled_in[@]}"
  local file
  ldd "$program" | awk '$3 ~ /^\// { print $3 }' | while IFS= read -r file; do package_of "$file"; done
}

cat LICENSE
cat <<'TEXT'

The GPU part (lib/trainyard/libtrainyard_cuda*.so) contains NVIDIA's CUDA runtime, cudart_static, which is distributed
under the CUDA Toolkit End User License Agreement: https://docs.nvidia.com/cuda/eula

Packages of Debian whose code is here too:
TEXT
if command -v dpkg-query >/dev/null; then
  packages | sort -u | grep -vxE 'libc6|libstdc\+\+6|libgcc-s1' | while IFS= read -r package; do
    printf '\n======== %s\n\n' "$package"
    cat "/usr/share/doc/$package/copyright"
  done
fi
