#!/bin/dash
# shellcheck source=laboratory/scripts/rdma_device.sh
. /lab/rdma_device.sh
create_link
create_device
# Runs a command that must fail with a reason and a remedy. Arguments: name, command.
run_failing() {
  name=$1; shift
  echo "== bad $name"
  code=0
  timeout 120 "$@" 2>&1 || code=$?
  echo "exit $code"
}
# Runs both ends in one process. Several options: never quoted.
alone='--loopback --no-store -d rxe0'
# shellcheck disable=SC2086
run_failing gid /lab/assay rdma send-lat $alone -x 200
# shellcheck disable=SC2086
run_failing mtu /lab/assay rdma send-lat $alone -m 4096
run_failing device /lab/assay rdma send-lat --loopback --no-store -d mlx5_7
# shellcheck disable=SC2086
run_failing datagram /lab/assay rdma send-lat $alone -c UD -s 4096
# shellcheck disable=SC2086
run_failing port /lab/assay rdma send-lat $alone -i 2
# The library finds the drivers of devices by the files of a folder.
mount -t tmpfs none /etc/libibverbs.d
# shellcheck disable=SC2086
run_failing providers /lab/assay rdma send-lat $alone
umount /etc/libibverbs.d
# shellcheck disable=SC2086
run_failing memlock /usr/bin/setpriv --bounding-set -ipc_lock --inh-caps -ipc_lock sh -c "ulimit -l 64; exec /lab/assay rdma send-bw $alone -s 1048576"
# Runs a command during reads, which then get no answer until the queue pair fails. Arguments: name, far device, command.
interrupt_reads() {
  name=$1 far_device=$2; shift 2
  echo "== bad $name"
  /lab/assay rdma read-lat -d "$far_device" > /tmp/far 2>&1 & far=$!
  wait_for_server
  start_near read-lat -d rxe0 -n 10000000
  sleep 2
  "$@"
  code=0
  wait $near || code=$?
  cat /tmp/near
  echo "exit $code"
  wait $far || true
}
# Runs two ends with different options. Arguments: name, option, its value at the far end, its value at this end.
run_unequal_ends() {
  name=$1 option=$2; far_value=$3; shift 3
  echo "== bad $name"
  timeout 120 /lab/assay rdma read-lat -d rxe0 "$option" "$far_value" > /tmp/far 2>&1 & far=$!
  wait_for_server
  code=0
  timeout 120 /lab/assay rdma read-lat -d rxe0 "$option" "$1" -n 100 127.0.0.1 --no-store 2>&1 || code=$?
  echo "exit $code"
  wait $far || true
}
run_unequal_ends mtus -m 512 1024
run_unequal_ends gids -x 0 1
# Changes the messages of a process until it ends: each pass fills them again before it sends them. They are in its
# largest writable mapping without a file, which is made some time after the heading is printed.
# Argument: the process.
damage() {
  echo 'no mapping of 8 MiB' > /tmp/damage
  is_damaged=no
  while { read -r _ < /proc/"$1"/maps; } 2> /dev/null; do
    place=$(while read -r range flags _ _ _ file; do
      [ "$flags$file" = rw-p ] || continue
      from=$((0x${range%-*})); to=$((0x${range#*-}))
      [ $((to - from)) -ge 8388608 ] && echo $((to - from)) $from
    done < /proc/"$1"/maps | sort -n | tail -n 1 | cut -d' ' -f2)
    [ -n "$place" ] &&
      printf 'damaged!' | dd of=/proc/"$1"/mem bs=1 seek=$((place + 2097152)) conv=notrunc 2> /tmp/damage &&
      is_damaged=yes
    sleep 0.2
  done
  [ $is_damaged = yes ] || echo "not damaged: $(cat /tmp/damage)"
}
# Damages the messages of one end. A busy guest needs this many messages: 40 ended within 6 s.
# Arguments: name, test, end.
damage_messages() {
  echo "== bad $1"
  timeout 120 /lab/assay rdma "$2" -d rxe0 > /tmp/far 2>&1 & far=$!
  wait_for_server
  start_near "$2" -d rxe0 -s 4194304 -n 120
  [ "$3" = far ] && damage "$(pidof assay | tr ' ' '\n' | grep -v "^$near\$" | head -n 1)"
  [ "$3" = near ] && damage $near
  code=0
  wait $near || code=$?
  cat /tmp/near
  echo "exit $code"
  wait $far || true
}
damage_messages 'contents read' read-lat far
damage_messages 'contents written' write-bw near
kill_far() { kill -9 $far; }
interrupt_reads peer rxe0 kill_far
# A device at each end of the link.
accept_own_packets
ip addr add 10.0.0.2/24 dev veth1
rdma link add rxe1 type rxe netdev veth1
wait_for_gid rxe0 ffff:0a00:0001
wait_for_gid rxe1 ffff:0a00:0002
interrupt_reads link rxe1 ip link set veth1 down
rdma link del rxe1
ip addr del 10.0.0.2/24 dev veth1
ip link set veth1 up
sleep 1
run_failing absent /lab/assay rdma send-lat -d rxe0 127.0.0.1 --no-store
ip link set veth0 down
# shellcheck disable=SC2086
run_failing down /lab/assay rdma send-lat $alone
echo '== doctor down'
/lab/assay doctor rdma --all
ip link set veth0 up
ip addr add 10.0.0.1/24 dev veth0 2> /dev/null || true
sleep 1
echo '== doctor'
/lab/assay doctor rdma --all
echo '== queue pairs'
/lab/assay rdma send-bw --loopback -q 4 -a -n 5 --store /tmp/store; echo "exit $?"
echo '== both ways'
/lab/assay rdma write-bw --loopback -b -s 4096 -n 200 --store /tmp/store &&
  /lab/assay rdma read-bw --loopback -b -s 4096 -n 200 --store /tmp/store &&
  /lab/assay rdma send-bw --loopback -b -q 2 -s 4096 -n 200 --store /tmp/store; echo "exit $?"
echo '== datagrams'
/lab/assay rdma send-bw --loopback -c UD -s 1024 -n 500 --store /tmp/store; echo "exit $?"
echo '== datagrams of all sizes'
/lab/assay rdma send-bw --loopback -c UD -a -n 100 --store /tmp/store; echo "exit $?"
echo '== for a time'
/lab/assay rdma write-bw --loopback -D 2 -b -q 2 -s 4096 --store /tmp/store &&
  /lab/assay rdma read-bw --loopback -D 2 -s 4096 --store /tmp/store &&
  /lab/assay rdma send-bw --loopback -D 2 -c UD -s 1024 --store /tmp/store; echo "exit $?"
# Prints the kernel's count of messages that found no receive buffer.
count_refused() { cat /sys/class/infiniband/rxe0/ports/1/hw_counters/send_rnr_err; }
send_with_buffers() {
  echo "== memory for $1"
  before=$(count_refused)
  taskset -c 1 /lab/assay rdma send-bw --loopback -r "$1" -s 1024 -n 500 --no-store; echo "exit $?"
  echo "refused $(($(count_refused) - before))"
}
send_with_buffers 16
send_with_buffers 512
# shellcheck disable=SC2086
run_failing level /lab/assay rdma send-lat $alone -S 16
echo '== by perftest'
cat > /tmp/two.toml <<'SUITE'
name = "two"
title = "two tests"
budget = "10s"
[[measure]]
benchmark = "rdma.send_lat"
by = ["assay", "ib_send_lat"]
[[measure]]
benchmark = "rdma.read_lat"
gid-index = 0
path-mtu = "512B"
by = ["assay", "ib_read_lat"]
[[measure]]
benchmark = "rdma.write_bw"
by = ["ib_write_bw"]
SUITE
# Records perftest's command lines at both ends.
# shellcheck disable=SC2009 # pgrep prints no arguments in busybox
(while [ ! -e /tmp/enough ]; do ps -o args | grep '[ /]ib_'; sleep 0.2; done > /tmp/ends) & watcher=$!
/lab/assay run /tmp/two.toml --quiet --format csv --store /tmp/theirs; echo "exit $?"
touch /tmp/enough
wait $watcher
echo '== ends of perftest'
grep -- ' -F ' /tmp/ends | grep -v grep | sed 's/ -p [0-9]*//' | sort -u
echo '== heads of perftest'
# shellcheck disable=SC2013 # paths without spaces
for file in $(grep -rl '#iterations' /tmp/theirs/raw); do
  tr '\t' '\n' < "$file" | sed -n 's/^ *\(.*\) Test$/\1/p; s/^ *\(Mtu\|GID index\) *: */\1 /p' | tr '\n' ' '; echo
done | sort -u
cat > /tmp/turns.toml <<'SUITE'
name = "turns"
budget = "20s"
[[measure]]
benchmark = "rdma.send_lat"
messages = 50
by = ["assay", "ib_send_lat"]
SUITE
echo '== taking turns'
/lab/assay run /tmp/turns.toml --quiet --format csv --store /tmp/turns
echo '== turns'
list_turns /tmp/turns
echo '== a run of its own'
/lab/assay rdma send-lat --loopback -a -n 5 --store /tmp/store
/lab/assay show latest --store /tmp/store
echo '== as perftest'
/lab/assay show latest --as perftest --store /tmp/store
echo '== as perftest-json'
/lab/assay show latest --as perftest-json --store /tmp/store
