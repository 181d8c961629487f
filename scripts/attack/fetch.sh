# shellcheck shell=bash disable=SC2034,SC2154  # variables are shared with scripts/attack.sh
# `data get` from servers that lie, stop, redirect for ever or send nonsense, and from addresses of other protocols: it
# ends within its limits with 4 or 8 (2 for an address of another kind), asks seldom, and leaves no file under its name.

default_count=40
most_requests=20

attack() {
  local kind port server what requests most_seconds=90 file=got/mnist/train-images-idx3-ubyte.gz
  cc -O1 -o server "$folder_of_parts/server.c"
  while ((count < $1)); do
    tried
    pick missing busy loop close garbage header long other short drip drip protocol
    kind=$picked what="a server of kind $picked"
    rm -rf got port requests
    mkfifo port
    # shellcheck disable=SC2094
    ./server "$kind" requests >port 2>/dev/null &
    server=$!
    # shellcheck disable=SC2094  # a pipe
    read -r port <port
    if [[ $kind == protocol ]]; then
      pick "x" "ftp://127.0.0.1:$port" "telnet://127.0.0.1:$port" "dict://127.0.0.1:$port" "tftp://127.0.0.1:$port" "file://x" ""
      what="the address '$picked'"
      attempt "${program[@]}" data get mnist --to got --from "$picked"
      [[ $code -eq 2 ]] || finding "exit $code instead of 2: $what"
    else
      attempt "${program[@]}" data get mnist --to got --from "http://127.0.0.1:$port"
      [[ $code -eq 4 || $code -eq 8 ]] || finding "exit $code: $what"
    fi
    requests=$(wc -c <requests)
    [[ $requests -le $most_requests ]] || finding "$requests requests: $what"
    [[ ! -e $file ]] || finding "a wrong file has its name: $what"
    [[ ! -e $file.part || -s $file.part ]] || finding "an empty part is left: $what"
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  done
}
