# shellcheck shell=bash disable=SC2034,SC2154  # variables are shared with scripts/attack.sh
# Strangers connect to every port on which a run of two ranks listens, when it opens or some time later, and send
# nothing, noise or almost valid messages. On the port of rank 0's store they have no effect; on Gloo's, which has no
# token, the run may end with 8, within its limits, and can be resumed.

default_count=120

# greeting VERSION TOKEN: the bytes that a rank sends first (src/ranks/rendezvous/wire.h).
greeting() {
  little_endian $((0x31725954)) && printf '\x01\0\0\0' && little_endian 64 && little_endian "$1" && little_endian 0
  printf %s "$2" && head -c $((64 - ${#2})) /dev/zero
}

# speak ADDRESS PORT: sends data according to $kind, then reads until disconnected.
speak() {
  local i
  exec 3<>"/dev/tcp/$1/$2"
  case $kind in
    close) return ;;
    noise) head -c 5000 /dev/urandom >&3 ;;
    flood) cat /dev/zero >&3 ;;
    http) printf 'GET / HTTP/1.1\r\nHost: %s\r\n\r\n' "$1" >&3 ;;
    token) greeting 1 "not the token" >&3 && printf 'and more' >&3 ;;
    version) greeting 2 "not the token" >&3 ;;
    cut) greeting 1 "not the token" | head -c 50 >&3 ;;
    numbers) for ((i = 0; i < 8; ++i)); do little_endian "$i" && little_endian 0; done >&3 ;;
    crowd) for ((i = 0; i < 40; ++i)); do exec {other}<>"/dev/tcp/$1/$2"; done ;;
  esac
  cat <&3 >/dev/null
}

# receive_ports: starts strangers on the ports of $whose, as they open.
receive_ports() {
  local owner address port
  while read -r owner address port; do
    [[ $owner == "$whose" ]] || continue
    { sleep "$moment" && speak "$address" "$port"; } >/dev/null 2>&1 &
    echo met >>met
  done
}

attack() {
  local pid length kind whose moment what strangers ranks=(--replicas 2) most_seconds=120 refused=0
  write_run run.yaml
  echo 'limits: {first_step: 30, step: 20, silence: 10}' >>run.yaml
  cc -shared -fPIC -O1 -o listening.so "$folder_of_parts/listening.c" -ldl
  mkfifo ports
  exec 4<>ports
  train_whole
  while ((count < $1)); do
    tried
    pick silent close noise flood http token version cut numbers crowd
    kind=$picked
    pick store gloo
    whose=$picked
    moment=0
    if ((RANDOM % 2)); then moment=$(awk -v s="$RANDOM" -v t="$length" 'BEGIN { print s / 32768 * t }'); fi
    what="a stranger of kind $kind on a port of $whose, after $moment s"
    rm -f met
    set -m
    receive_ports <&4 &
    strangers=$!
    set +m
    start ranked LD_PRELOAD="$PWD/listening.so" ATTACK_PORTS="$PWD/ports"
    wait_for_end "$what"
    kill -KILL -- -"$strangers"
    wait "$strangers" 2>/dev/null || true
    [[ -f met ]] || finding "no stranger connected: $what"
    judge_code "$what"
    if [[ $code -eq 8 && $whose == gloo ]]; then
      refused=$((refused + 1))
    elif [[ $code -ne 0 ]]; then
      finding "exit $code: $what"
    fi
    ends_equal ranked "$what"
  done
  exec 4>&-
  printf 'strangers: %s of %s runs ended with exit 8, the others as without strangers\n' "$refused" "$count"
}
