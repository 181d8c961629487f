#!/usr/bin/env bash
# Two hosts, simulated by network namespaces with their own host names, addresses, file system below /srv
# and sshd, train one model through `train --hosts`, with the real ssh, mpirun and rsync. The resulting files
# must equal, byte for byte, those of ranks started on one host. Requires root.
#
#   scripts/hosts_drill.sh [TRAIN]   (default: build/release/bin/train)
#
# Ranks run on CPUs; under scripts/standin.sh 4 they run on simulated GPUs, four per host. A slow test of
# the suite. Ends with 77 if it cannot run, and says why.

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

cannot_run() {
  say "cannot run: $*"
  exit 77
}
[[ $(id -u) -eq 0 ]] || cannot_run "namespaces require root"
for program in ip ssh sshd ssh-keygen mpirun rsync unshare nsenter; do
  command -v "$program" >/dev/null ||
    cannot_run "$program is not installed (apt install iproute2 openssh-server openmpi-bin rsync)"
done

train=$(realpath "${1:-build/release/bin/train}")
scratch=$(mktemp -d)
# use_ranks N: sets `devices`, the flags for N ranks on a host.
use_ranks() { devices=(--gpus 0 --replicas "$1"); }
local_text="sums in shared memory"
hosts_text="sums over TCP"
host_settings=()
if [[ -n ${STANDIN_GPUS-} ]]; then
  use_ranks() { devices=(--gpus "$1" --no-tune); }
  local_text="a GPU ("
  hosts_text=$local_text
  # Variables that ssh does not forward; the second host has GPUs of its own.
  exec {gpus_of_b}<>"$scratch/gpus_of_b"
  for name in STANDIN_GPUS TRAINYARD_GPU_PART TRAINYARD_CUDA_PATH LD_LIBRARY_PATH XDG_CACHE_HOME; do
    host_settings+=("$name=${!name}")
  done
  host_settings+=("STANDIN_STATE=/proc/$$/fd/$gpus_of_b")
fi
spaces=(trainyard_a trainyard_b)
clean_up() {
  local space
  for space in "${spaces[@]}"; do
    ip netns pids "$space" 2>/dev/null | xargs -r kill -KILL
    ip netns del "$space" 2>/dev/null || true
  done
  rm -rf "$scratch"
}
trap clean_up EXIT
cd "$scratch" || exit 1
for space in "${spaces[@]}"; do
  ip netns add "$space" 2>/dev/null || cannot_run "network namespaces cannot be created here"
done
ip link add trainyard_a0 netns trainyard_a type veth peer name trainyard_b0 netns trainyard_b
for host in a b; do
  ip -n "trainyard_$host" address add "10.77.0.$([[ $host == a ]] && echo 1 || echo 2)/24" \
    dev "trainyard_${host}0"
  ip -n "trainyard_$host" link set "trainyard_${host}0" up
  ip -n "trainyard_$host" link set lo up
done

# ssh keys and settings for these two hosts only.
ssh-keygen -q -t ed25519 -N '' -f host_key
ssh-keygen -q -t ed25519 -N '' -f user_key
mkdir -p bin /run/sshd
printf '%s\n' "IdentityFile $scratch/user_key" "UserKnownHostsFile /dev/null" \
  "StrictHostKeyChecking no" "LogLevel ERROR" >ssh_config
cat >bin/ssh <<SH
#!/bin/sh
exec $(command -v ssh) -F $scratch/ssh_config "\$@"
SH
chmod +x bin/ssh
export PATH="$scratch/bin:$PATH"

# on_host HOST COMMAND...: runs it in the host's namespaces, which its sshd keeps alive.
on_host() {
  local host=$1
  shift
  nsenter --target "$(<"$host.pid")" --net --uts --mount --wd="$scratch" -- "$@"
}
for host in a b; do
  ip netns exec "trainyard_$host" unshare --uts --mount bash -c "
    hostname host-$host && mount -t tmpfs tmpfs /srv && echo \$\$ >$host.pid &&
    exec $(command -v sshd) -D -e -f /dev/null -h $scratch/host_key -o PidFile=none -o UsePAM=no \
      -o StrictModes=no -o 'SetEnv=${host_settings[*]:-LANG=C}' \
      -o AuthorizedKeysFile=$scratch/user_key.pub" >"sshd_$host.log" 2>&1 &
  disown
done
for ((i = 0; i < 100; ++i)); do
  if [[ -s a.pid && -s b.pid ]] && on_host a ssh 10.77.0.2 true 2>/dev/null; then break; fi
  sleep 0.1
done
on_host a ssh 10.77.0.2 hostname | grep -qx host-b || die "ssh does not reach the second host"

printf '10.77.0.1 slots=2\n10.77.0.2 slots=2\n' >hosts.txt
cat >drill.yaml <<'YAML'
name: drill
network:
  input: [3, 16, 16]
  layers:
    - conv: {filters: 16, kernel: 3, pad: same_upper}
    - bn
    - relu
    - max_pool: 2
    - dropout: 0.2
    - dense: 4
    - softmax
data:
  train: {source: synthetic, shape: [3, 16, 16], classes: 4, size: 512, learnable: true}
  val: {source: synthetic, shape: [3, 16, 16], classes: 4, size: 64, split: test, learnable: true}
  preprocess: [mean_image: train, scale: $1/255]
  augment: [hflip: 0.5]
batch: {per_gpu: 16}
lr_scaling: none
loss: cross_entropy
metrics: [accuracy]
optimizer: {sgd: {lr: 0.05, momentum: 0.9}}
epochs: 3
threads: 1
YAML
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# same A B: checks that both runs left the same bytes.
same() {
  fingerprint "$1" >expected
  fingerprint "$2" >found
  [[ $(wc -l <expected) -ge 3 ]] || die "too little to compare in $1"
  cmp -s expected found || die "$1 and $2 differ: $(diff expected found | tr '\n' ' ')"
}

for ranks in 1 2; do
  use_ranks $((2 * ranks))
  "$train" --config drill.yaml "${devices[@]}" --out "local$ranks" >"local$ranks.log" 2>&1
  use_ranks "$ranks"
  on_host a "$train" --config drill.yaml --hosts hosts.txt "${devices[@]}" \
    --out "$scratch/hosts$ranks" >"hosts$ranks.log" 2>&1 || die "$(tail -n 5 "hosts$ranks.log")"
  grep -q "$local_text" "local$ranks.log" || die "the log of local ranks does not contain '$local_text'"
  grep -q "$hosts_text" "hosts$ranks.log" || die "the log of two hosts does not contain '$hosts_text'"
  same "local$ranks" "hosts$ranks"
  say "2 hosts with $ranks rank(s) each: bit-identical to $((2 * ranks)) local ranks"
done
fingerprint local1 >one
fingerprint local2 >two
[[ -z $(equal_parts one two) ]] || die "different numbers of ranks give the same $(equal_parts one two)"

use_ranks 1
mkdir job
cp drill.yaml hosts.txt job/
on_host a env --chdir=job "$train" --config drill.yaml --hosts hosts.txt "${devices[@]}" \
  --sync-dir /srv/job --out /srv/job/run >synced.log 2>&1 || die "$(tail -n 5 synced.log)"
on_host b test -s /srv/job/drill.yaml || die "--sync-dir copied nothing to the second host"
on_host b test ! -e /srv/job/run/metrics.csv || die "the second host's file system is not its own"
on_host a cp -r /srv/job/run "$scratch/synced"
same local1 synced
say "--sync-dir without a shared disk: the same bytes"

on_host a "$train" bench --config drill.yaml --hosts hosts.txt "${devices[@]}" --scaling 1,2 \
  --rounds 1 --windows 1 --seconds 0.2 --output "$scratch/scaling.png" >scaling.log 2>&1 ||
  die "$(tail -n 5 scaling.log)"
[[ $(grep -c '^2,[01],host-' scaling.csv) -eq 2 && $(grep -c ',host-b,' scaling.csv) -eq 1 ]] ||
  die "the bench did not measure a rank on each host: $(cat scaling.csv)"
say "train bench --scaling over two hosts: $(tail -n 1 scaling.log)"

# If a rank of the other host dies, all ranks end, and the message names rank and host.
on_host a "$train" --config drill.yaml --hosts hosts.txt "${devices[@]}" --epochs 100000 \
  --out "$scratch/killed" >killed.log 2>&1 &
launcher=$!
for ((i = 0; i < 300; ++i)); do
  [[ ! -s killed/metrics.csv || $(wc -l <killed/metrics.csv) -lt 50 ]] || break
  sleep 0.1
done
on_host b pgrep -f -- "--out $scratch/killed" >rank_b.pids || true
for process in $(<rank_b.pids); do
  if tr '\0' '\n' <"/proc/$process/environ" 2>/dev/null | grep -qx OMPI_COMM_WORLD_RANK=1; then
    kill -KILL "$process"
  fi
done
code=0
wait "$launcher" || code=$?
[[ $code -eq 8 ]] || die "a killed rank of the other host ended with $code: $(tail -n 5 killed.log)"
grep -q "rank 1 (host-b" killed.log || die "no message names rank 1 of host-b: $(tail -n 5 killed.log)"
say "a rank killed on the other host: $(grep -o 'rank 1 (host-b.*' killed.log | head -n 1)"
