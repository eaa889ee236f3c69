#!/bin/dash
# shellcheck source=laboratory/scripts/rdma_device.sh
. /lab/rdma_device.sh
create_link
for host in n1 n2; do ip netns add $host; done
cat > /tmp/one.toml <<'SUITE'
name = "one"
budget = "8s"
[[measure]]
benchmark = "rdma.send_lat"
from = "2B"
to = "16B"
[[measure]]
benchmark = "rdma.read_lat"
SUITE
cat > /tmp/ring.toml <<'SUITE'
name = "ring"
budget = "4s"
[[measure]]
benchmark = "rdma.read_lat"
SUITE
cat > /tmp/ways.toml <<'SUITE'
name = "ways"
budget = "6s"
[[measure]]
benchmark = "rdma.send_lat"
connection = "ud"
path-mtu = "512B"
[[measure]]
benchmark = "rdma.write_bw"
queue-pairs = 4
both-directions = true
in-flight = 16
messages = 200
device = "rxe0"
gid-index = 0
path-mtu = "256B"
SUITE
cat > /tmp/fleet.toml <<'FLEET'
via = "ip netns exec {host}"
[[host]]
name = "n[1-2]"
rdma-device = "rxe0"
FLEET
cat > /tmp/wrong.toml <<'SUITE'
name = "wrong"
budget = "2s"
[[measure]]
benchmark = "rdma.read_lat"
device = "mlx5_0"
SUITE
hosts=n1,n2 store=/tmp/store
fleet() {
  timeout 400 /lab/assay run "$@" --quiet --host-deadline 300s --hosts $hosts --via 'ip netns exec {host}' --format csv --store $store
  echo "exit $?"
}
# Records sockets in both namespaces. Both CPUs spin in the measurement: only once a second.
watch() {
  while [ ! -e /tmp/enough ]; do
    for host in n1 n2; do
      ip netns exec $host cat /proc/net/tcp /proc/net/tcp6 >> /tmp/sockets 2> /dev/null
    done
    echo look >> /tmp/looks
    sleep 1
  done
}
# Runs a command and prints the listening sockets meanwhile.
watch_sockets() {
  rm -f /tmp/enough /tmp/sockets /tmp/looks
  touch /tmp/sockets /tmp/looks
  watch &
  watcher=$!
  "$@"
  touch /tmp/enough
  wait $watcher
  echo "looks $(wc -l < /tmp/looks) listening $(awk '$4 == "0A"' /tmp/sockets | wc -l)"
}
echo '== no device'
fleet rdma --pairs n1:n2
create_device
echo '== pairs'
watch_sockets fleet /tmp/one.toml --pairs n1:n2
echo '== ring'
fleet /tmp/ring.toml --matrix ring
echo '== ways'
fleet /tmp/ways.toml --pairs n1:n2
echo '== wrong'
fleet /tmp/wrong.toml --pairs n1:n2
echo '== per host'
hosts=/tmp/fleet.toml
fleet /tmp/wrong.toml --pairs n1:n2
hosts=n1,n2
ip link add eth0 netns n1 type veth peer name eth0 netns n2
for at in 1 2; do
  ip -n n$at addr add 198.18.0.$at/24 dev eth0
  ip -n n$at link set eth0 up
  ip -n n$at link set lo up
done
sleep 1
cat > /tmp/two.toml <<'SUITE'
name = "two"
budget = "4s"
[[measure]]
benchmark = "rdma.send_lat"
SUITE
echo '== perftest'
fleet /tmp/two.toml --pairs n1:n2 --by assay,ib_send_lat
sed 's/4s/30s/; $ a messages = 50' /tmp/two.toml > /tmp/turns.toml
store=/tmp/turns
echo '== taking turns'
fleet /tmp/turns.toml --pairs n1:n2 --by assay,ib_send_lat
echo '== turns'
list_turns $store
echo '== listener'
mkdir -p /run/rpcbind
run_rpcbind() {
  ip netns exec n1 rpcbind -f & server=$!
  sleep 5
  kill $server
}
watch_sockets run_rpcbind
