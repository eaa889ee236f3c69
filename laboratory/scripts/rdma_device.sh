#!/bin/dash
# Functions of the RDMA scenarios: a link, a device of software RoCE, and waiting for both.

# Loads the modules and creates a link with an address.
create_link() {
  for module in crc32_generic rdma_rxe ib_uverbs rdma_ucm veth ipv6 af_packet; do modprobe "$module"; done
  [ -d /sys/class/net/veth0 ] || ip link add veth0 type veth peer name veth1
  ip addr add 10.0.0.1/24 dev veth0
  ip link set veth0 up
  ip link set veth1 up
}

# Creates a device of software RoCE on the link, and allows to lock memory.
create_device() {
  rdma link add rxe0 type rxe netdev veth0
  sleep 1
  # shellcheck disable=SC3045 # dash has -l
  ulimit -l unlimited
}

# Allows packets between two ends that belong to the same kernel.
accept_own_packets() {
  for conf in all veth0 veth1; do
    echo 1 > "/proc/sys/net/ipv4/conf/$conf/accept_local"
    echo 0 > "/proc/sys/net/ipv4/conf/$conf/rp_filter"
  done
}

# Waits for a server: assay and perftest have the same default port.
wait_for_server() {
  for _ in $(seq 300); do
    grep -qs ':4853 .*:0000 0A ' /proc/net/tcp /proc/net/tcp6 && return
    sleep 0.2
  done
  echo 'no server after a minute'
}

# Starts the near end of a test in the background and waits for its heading. The output of the end before is removed
# first: its heading would end the wait at once. Arguments: test, options.
start_near() {
  : > /tmp/near
  /lab/assay rdma "$@" 127.0.0.1 --no-store > /tmp/near 2>&1 & near=$!
  until grep -q '#bytes' /tmp/near || ! kill -0 $near; do sleep 0.2; done
}

# Waits for a GID: the kernel adds the GIDs of addresses later than the device, and an end that starts before selects
# another one. Arguments: device, last characters of the GID.
wait_for_gid() {
  for _ in $(seq 300); do
    grep -qs "$2" "/sys/class/infiniband/$1/ports/1/gids/"* && return
    sleep 0.2
  done
  echo "$1 has no GID $2 after a minute"
}

# Lists the cases of the samples in a store with one run, in their order. Argument: the store.
list_turns() {
  sed -n 's/.*"series-opened","series":\([0-9]*\),"case":"\([^"]*\)".*/opened \1 \2/p
s/.*"sample","series":\([0-9]*\),.*/sample \1/p' "$1"/runs/*/events.jsonl |
    awk '$1 == "opened" { of[$2] = $3 } $1 == "sample" { print of[$2] }' | uniq
}
