#!/bin/dash
# shellcheck source=laboratory/scripts/rdma_device.sh
. /lab/rdma_device.sh
create_link
create_device
modprobe sch_netem
accept_own_packets
ip addr add 10.0.0.2/24 dev veth1
rdma link add rxe1 type rxe netdev veth1
wait_for_gid rxe0 ffff:0a00:0001
wait_for_gid rxe1 ffff:0a00:0002
grep -qs ^root: /etc/passwd || echo 'root:x:0:0::/root:/bin/sh' >> /etc/passwd
# Sets netem in both directions. Arguments: its options.
set_netem() {
  for end in veth0 veth1; do tc qdisc replace dev $end root netem "$@"; done
}
# Arguments of both programs: test, its options. `$near_options` and `$far_options` are several: never quoted.
# shellcheck disable=SC2086
assay() {
  echo "== assay $*"
  timeout 100 /lab/assay rdma "$@" $far_options -d rxe1 -x 1 > /tmp/far 2>&1 & far=$!
  wait_for_server
  timeout 100 /lab/assay rdma "$@" $near_options -d rxe0 -x 1 127.0.0.1 --store /tmp/store || cat /tmp/far
  wait $far
}
perftest() {
  echo "== perftest $*"
  program=ib_$(echo "$1" | tr - _); shift
  timeout 100 "$program" -F -d rxe1 -x 1 "$@" > /tmp/far 2>&1 & far=$!
  wait_for_server
  timeout 100 "$program" -F -d rxe0 -x 1 "$@" 127.0.0.1 || cat /tmp/far
  wait $far
}
set_netem delay 40ms
for test in send-lat write-lat read-lat atomic-lat; do
  assay $test -u 18 -n 10
  perftest $test -u 18 -n 10
done
assay send-lat -c UD -n 10
perftest send-lat -c UD -n 10
for program in assay perftest; do $program send-lat -u 18 -D 4 -f 1; done
assay read-bw -u 18 -s 64 -t 16 -n 20 -o 1
assay read-bw -u 18 -s 64 -t 16 -n 80 -o 8
tcpdump -n -v -Z root -i veth1 'udp port 4791' > /tmp/seen 2> /tmp/tcpdump &
watcher=$!
sleep 2
near_options='-S 3 --tclass 104' far_options='-S 5 --tclass 32'
assay send-lat -n 5
near_options='' far_options=''
echo '== options'
/lab/assay show latest --format csv --store /tmp/store
sleep 1
kill $watcher
wait $watcher || cat /tmp/tcpdump
echo '== seen'
tr -d '\n' < /tmp/seen | sed 's/IP (/\n(/g' | sed -n 's/^(\(tos [^,]*\),.*    \(10[.]0[.]0[.][12]\)[.].*/\2 \1/p' | sort | uniq -c
set_netem rate 4mbit
assay write-bw -u 18 -s 4096 -t 4 -n 100
perftest write-bw -u 18 -s 4096 -t 4 -n 100 -b -Q 1
for _ in 1 2; do
  assay write-bw -u 18 -s 4096 -t 4 -n 100 -b
  assay send-bw -u 18 -s 4096 -t 4 -n 100 -b
done
for program in assay perftest; do $program write-bw -u 18 -s 4096 -t 4 -D 4 -f 1; done
for end in veth0 veth1; do tc qdisc del dev $end root; done
hundredths() { cut -d' ' -f1 /proc/uptime | tr -d .; }
# Loses all packets during reads and prints the time until assay ends. Argument: the timeout exponent.
lose_packets() {
  echo "== silence $1"
  timeout 100 /lab/assay rdma read-lat -d rxe1 -u "$1" > /tmp/far 2>&1 & far=$!
  wait_for_server
  start_near read-lat -d rxe0 -u "$1" -n 10000000
  sleep 1
  tc qdisc replace dev veth0 root netem loss 100%
  from=$(hundredths)
  code=0
  wait $near || code=$?
  echo "gave up after $(($(hundredths) - from))"
  cat /tmp/near
  echo "exit $code"
  tc qdisc del dev veth0 root
  wait $far || true
}
lose_packets 14
lose_packets 18
