#!/bin/sh
# network.sh setup | clean            compiles the bare loops and makes two namespaces; removes the latter
# network.sh TOOL PATH bulk STREAMS   prints goodput and CPU time by one tool, over `loopback` or `veth`
# network.sh TOOL PATH splice 1       the same without a copy at the sender (-Z)
# network.sh TOOL PATH udp               prints goodput and loss of datagrams of 1,448 bytes without a limit
# network.sh TOOL PATH echo           prints the mean of half a round trip of one byte
# network.sh TOOL PATH connections    prints connections per second, each with a request and a response
#
# Each tool has a server of its own, which lives as long as its client. Bulk transfers are not pinned; both
# ends of a ping-pong or of connections share one CPU: otherwise the scheduler decides whether a round trip wakes another CPU.
set -eu
assay=${ASSAY:-$PWD/target/release/assay}
folder=$PWD/target/bench/network
port=45201
near=assay-bench-near far=assay-bench-far

clean() {
    for name in $near $far; do
        ip netns del "$name" 2>/dev/null || true
    done
}

setup() {
    mkdir -p "$folder"
    gcc xtask/peers/copy_loop.c -o "$folder/copy_loop" -O2 -pthread
    gcc xtask/peers/udp_loop.c -o "$folder/udp_loop" -O2
    gcc xtask/peers/ping_pong.c -o "$folder/ping_pong" -O2
    gcc xtask/peers/connect_loop.c -o "$folder/connect_loop" -O2
    clean
    ip netns add "$near"
    ip netns add "$far"
    ip -n "$near" link add veth0 type veth peer name veth0 netns "$far"
    # Addresses for benchmarks (RFC 2544)
    for end in "$near 198.18.78.1" "$far 198.18.78.2"; do
        ip -n "${end% *}" addr add "${end#* }/24" dev veth0
        ip -n "${end% *}" link set lo up
        ip -n "${end% *}" link set veth0 up
    done
}

case $1 in setup | clean)
    "$1"
    exit
    ;;
esac

tool=$1 path=$2 question=$3 streams=${4:-1}
case $path in
loopback) at=127.0.0.1 client='' host='' ;;
veth) at=198.18.78.2 client="ip netns exec $near" host="ip netns exec $far" ;;
esac
# The last CPU of this process, for both ends of a ping-pong or of connections
case $question in
echo | connections) pin="taskset -c $(taskset -cp $$ | sed 's/.*[:,-] *//')" ;;
esac

# serve COMMAND…: a server in the background until the script ends
serve() {
    # shellcheck disable=SC2086 # empty, or several words
    $host ${pin-} "$@" </dev/null >/dev/null 2>&1 &
    server=$!
    trap 'kill $server 2>/dev/null || true' EXIT
    sleep 0.15
}

# ask COMMAND…: the client
ask() {
    # shellcheck disable=SC2086 # empty, or several words
    $client ${pin-} "$@"
}

iperf3_figures() {
    jq -r '.end | .sum_received.bits_per_second as $rate
        | (.cpu_utilization_percent | .host_total + .remote_total) as $percent
        | "goodput \($rate)", "cpu \($percent / 100 / $rate * 8e9)"'
}

datagram_figures() {
    jq -r '.end | "goodput \(.sum_received.bits_per_second)",
        "loss \(.sum.lost_packets / .sum.packets)"'
}

# The default of assay: larger writes for a stream with a CPU of its own
length=256 splice=''
[ "$streams" -gt 1 ] || length=1024
[ "$question" != splice ] || splice=-Z

case $tool-$question in
iperf3-bulk | iperf3-splice)
    serve iperf3 -s -B "$at" -p "$port"
    # shellcheck disable=SC2086 # empty, or an option
    ask iperf3 -c "$at" -p "$port" -t 1 -J -P "$streams" $splice | iperf3_figures
    ;;
assay-bulk | assay-splice)
    serve "$assay" iperf3 -s -B "$at" -p "$port" -i 0
    # shellcheck disable=SC2086 # empty, or an option
    ask "$assay" iperf3 -c "$at" -p "$port" -t 1 -J --no-store -l "${length}K" -P "$streams" $splice |
        iperf3_figures
    ;;
loop-bulk)
    serve "$folder/copy_loop" serve "$at" "$port"
    ask "$folder/copy_loop" send "$at" "$port" 1 "$streams" "$length" |
        jq -r '"goodput \(.bit_per_s)", "cpu \(.cpu_s_per_gb)"'
    ;;
iperf3-udp)
    serve iperf3 -s -B "$at" -p "$port"
    ask iperf3 -c "$at" -p "$port" -t 1 -J -u -b 0 -l 1448 --gsro | datagram_figures
    ;;
assay-udp)
    serve "$assay" iperf3 -s -B "$at" -p "$port" -i 0
    ask "$assay" iperf3 -c "$at" -p "$port" -t 1 -J --no-store -u -b 0 -l 1448 --gsro | datagram_figures
    ;;
loop-udp)
    serve "$folder/udp_loop" serve "$at" "$port"
    ask "$folder/udp_loop" send "$at" "$port" 1 | jq -r '"goodput \(.bit_per_s)", "loss \(.loss)"'
    ;;
assay-connections)
    serve "$assay" iperf3 -s -B "$at" -p "$port" -i 0
    ask "$assay" net connections "$at" --port "$port" --for 1s --json --no-store |
        jq -r '.results[] | select(.metric == "connection_rate") | "connections \(.median)"'
    ;;
loop-connections)
    serve "$folder/connect_loop" serve "$at" "$port"
    ask "$folder/connect_loop" ask "$at" "$port" 1 | jq -r '"connections \(.per_s)"'
    ;;
assay-echo)
    serve "$assay" iperf3 -s -B "$at" -p "$port" -i 0
    ask "$assay" qperf "$at" --listen-port "$port" -t 1 --json --no-store tcp_lat |
        jq -r '"half \(.tcp_lat.latency_s)"'
    ;;
loop-echo)
    serve "$folder/ping_pong" serve "$at" "$port"
    ask "$folder/ping_pong" ask "$at" "$port" 1 | jq -r '"half \(.mean / 2)"'
    ;;
qperf-echo)
    serve qperf -lp "$port"
    ask qperf "$at" -lp "$port" -t 1 -e 6 tcp_lat | awk '
        $1 == "latency" {
            scale["ns"] = 1e-9; scale["us"] = 1e-6; scale["ms"] = 1e-3
            print "half", $3 * scale[$4]
        }'
    ;;
sockperf-echo)
    # Its messages have at least 14 bytes; its server cannot take a port that another one has just left.
    port=45202
    serve sockperf server --tcp -i "$at" -p "$port"
    ask sockperf ping-pong --tcp -i "$at" -p "$port" -t 1 -m 14 2>&1 |
        sed -n 's/.*Summary: Latency is \([0-9.]*\) usec.*/half \1e-6/p'
    ;;
esac
