#!/bin/dash
set -e
for module in veth ipv6 af_packet sch_netem; do modprobe $module; done
ip netns add far
[ -d /sys/class/net/veth0 ] || ip link add veth0 type veth peer name veth1
ip link set veth1 netns far
far() { ip netns exec far "$@"; }
ip addr add 10.0.0.1/24 dev veth0
ip link set veth0 up
far ip addr add 10.0.0.2/24 dev veth1
far ip link set veth1 up
far ip link set lo up
far /lab/assay iperf3 -s -B 10.0.0.2 > /tmp/server 2>&1 &
# tcpdump requires an entry of root.
grep -qs ^root: /etc/passwd || echo 'root:x:0:0::/root:/bin/sh' >> /etc/passwd
sleep 2
for delay in 1 10; do
  tc qdisc replace dev veth0 root netem delay ${delay}ms
  far tc qdisc replace dev veth1 root netem delay ${delay}ms
  echo "== delay $delay"
  /lab/assay ping 10.0.0.2 -c 200 -i 0 -q --no-store
done
# Prints the connections that the far kernel has accepted.
# shellcheck disable=SC2016 # awk's own field
accepted() { far awk '/^Tcp: [0-9]/ { print $7 }' /proc/net/snmp; }
echo '== connections'
before=$(accepted)
/lab/assay net connections 10.0.0.2 --for 2s --json -q --store /tmp/store
echo; echo "accepted $(($(accepted) - before))"
far tc qdisc del dev veth1 root
# Sends datagrams through netem. Arguments: name, rate, netem's options.
send_datagrams() {
  name=$1 rate=$2; shift 2
  tc qdisc del dev veth0 root
  tc qdisc add dev veth0 root netem limit 10000 "$@"
  echo "== $name"
  /lab/assay iperf3 -c 10.0.0.2 -u -l 500 -b "$rate" -t 30 --store /tmp/store > /tmp/client
  /lab/assay show latest --json --store /tmp/store
  echo; tc -s qdisc show dev veth0 | tr '\n' ' '
  echo; far grep Udp: /proc/net/snmp | tail -1
}
send_datagrams loss 8M delay 1ms loss 0.1%
# Captures the datagrams without the first; a datagram's number begins at byte 36 of its packet.
ip netns exec far tcpdump -n -x -Z root -B 8192 -i veth1 'udp and greater 400' > /tmp/seen 2> /tmp/tcpdump &
watcher=$!
sleep 3
send_datagrams order 280K delay 20ms reorder 100% gap 100
sleep 1
kill $watcher
wait $watcher || cat /tmp/tcpdump
awk '/0x0020:/ { print "number " $4 $5 $6 $7 }' /tmp/seen
tc qdisc del dev veth0 root
for mtu in 1500 9000; do
  ip link set veth0 mtu $mtu
  far ip link set veth1 mtu $mtu
  echo "== mtu $mtu"
  /lab/assay iperf3 -c 10.0.0.2 -t 1 -J --no-store
  echo '== path'
  /lab/assay doctor network --to 10.0.0.2 --json
done
