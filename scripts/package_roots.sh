#!/usr/bin/env bash
# Makes root folders of systems on which the package must start, with debootstrap, as root: Debian 12 and
# 13, and Ubuntu 22.04 and 24.04 if its packages are available (UBUNTU: URL of the mirror). Existing ones are
# left alone. TRAINYARD_ROOTS, which is printed, then makes tests/e2e/package.sh use them.
#
#   scripts/package_roots.sh FOLDER

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

[[ $# -eq 1 ]] || die "requires a folder"
command -v debootstrap >/dev/null || die "debootstrap is not installed; apt-get install debootstrap"
mkdir -p "$1"
folder=$(realpath "$1")

systems=(bookworm trixie)
[[ -z ${UBUNTU:-} ]] || systems+=(jammy noble)
roots=()
for system in "${systems[@]}"; do
  mirror=()
  # Debian 12's debootstrap has no script of this name for noble.
  [[ $system != jammy && $system != noble ]] || mirror=("$UBUNTU" /usr/share/debootstrap/scripts/jammy)
  if [[ ! -e $folder/$system/etc/os-release ]]; then
    say "$system"
    rm -rf "${folder:?}/$system.new"
    debootstrap --variant=minbase --include=libstdc++6 "$system" "$folder/$system.new" "${mirror[@]}" >&2
    mv "$folder/$system.new" "$folder/$system"
  fi
  roots+=("$folder/$system")
done
printf 'TRAINYARD_ROOTS=%s\n' "$(IFS=: && echo "${roots[*]}")"
