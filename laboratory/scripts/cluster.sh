#!/bin/dash
set -e
# Parameter of the kernel command line.
: "${guest:?}"
trap 'code=$?; [ $code = 0 ] || tail -n 20 /tmp/slurm*.log; exit $code' EXIT
modprobe sch_netem
delay=20000000; [ "$guest" = 2 ] && delay=40000000
modprobe null_blk irqmode=2 completion_nsec=$delay queue_mode=2 gb=1 nr_devices=1
[ "$guest" = 2 ] && tc qdisc add dev eth0 root netem delay 10ms limit 10000

# One key opens all guests; the first one makes it.
mkdir -p "$HOME"/.ssh /run/sshd /run/munge /var/log/munge /var/lib/munge /tmp/slurm /tmp/shown /etc/slurm /etc/munge
if [ "$guest" = 1 ]; then
  ssh-keygen -q -t ed25519 -N '' -f "$HOME"/.ssh/id_ed25519
  cp "$HOME"/.ssh/id_ed25519.pub /tmp/shown/key
  httpd -p 80 -h /tmp/shown
fi
until wget -q -O "$HOME"/.ssh/authorized_keys http://10.0.1.1/key; do sleep 1; done
printf 'StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\nServerAliveInterval 5\n' > "$HOME"/.ssh/config
ssh-keygen -q -t ed25519 -N '' -f /tmp/host
/usr/sbin/sshd -f /dev/null -h /tmp/host -o UsePAM=no -o StrictModes=no

# A constant key: only these guests reach this network.
head -c 1024 /dev/zero | tr '\0' '\7' > /etc/munge/munge.key
chmod 600 /etc/munge/munge.key
munged --force
cat > /etc/slurm/slurm.conf <<'SLURM'
ClusterName=lab
SlurmctldHost=n1(10.0.1.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
StateSaveLocation=/tmp/slurm
SlurmdSpoolDir=/tmp/slurmd
SlurmctldPidFile=/tmp/slurmctld.pid
SlurmdPidFile=/tmp/slurmd.pid
SlurmctldLogFile=/tmp/slurmctld.log
SlurmdLogFile=/tmp/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
NodeName=n[1-3] CPUs=1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
SLURM
# Names from Debian's alternatives.
for daemon in slurmctld slurmd slurmstepd; do ln -s $daemon-wlm /usr/sbin/$daemon; done
[ "$guest" = 1 ] && slurmctld
# slurmd requires control groups, and uses none.
mount -t tmpfs tmp /sys/fs/cgroup
mkdir /sys/fs/cgroup/systemd
mount -t cgroup -o none,name=systemd none /sys/fs/cgroup/systemd
slurmd
if [ "$guest" = 3 ]; then date -s @$(($(date +%s) + 100)) > /tmp/clock; fi
if [ "$guest" != 1 ]; then
  echo ready
  sleep 3600
fi

wait_until() {
  for _ in $(seq 120); do
    "$@" && return
    sleep 1
  done
  return 1
}
for host in n2 n3; do wait_until ssh $host true; done
all_idle() { [ "$(sinfo -h -o '%t %D')" = 'idle 3' ]; }
wait_until all_idle

echo '== clock'
before=$(date +%s); far=$(ssh n3 date +%s); echo "between $((far - $(date +%s))) $((far - before))"
# On a busy machine three guests take longer than a minute to answer. Several words: never quoted.
patient='--host-deadline 300s'
echo '== doctor'
# shellcheck disable=SC2086
/lab/assay doctor --hosts 'n[1-3]' --json $patient

cat > /tmp/reads.toml <<'SUITE'
name = "reads"
title = "reads of a device"
budget = "9s"
[[measure]]
benchmark = "storage"
name = "reads"
operation = "read"
pattern = "random"
bs = "4KiB"
depth = 4
length = "3s"
engine = "libaio"
[[measure]]
benchmark = "memory.stream"
placement = ["node"]
array-size = "1MiB"
SUITE
cat > /tmp/trips.toml <<'SUITE'
name = "trips"
title = "round trips"
budget = "8s"
[[measure]]
benchmark = "network.tcp"
measures = "latency"
seconds = 2
SUITE
report() {
  echo "== $1"; shift
  code=0
  "$@" || code=$?
  echo; echo "exit $code"
}
run="/lab/assay run --quiet --json $patient --store /tmp/store"
# shellcheck disable=SC2086
report ssh $run /tmp/reads.toml --hosts 'n[1-3]' --target /dev/nullb0
# shellcheck disable=SC2086
report pairs $run /tmp/trips.toml --hosts 'n[1-3]' --pairs n1:n3,n1:n2
# shellcheck disable=SC2086
report slurm $run /tmp/reads.toml --slurm partition=all,nodes=3 --target /dev/nullb0
echo '== given back'
squeue -h | wc -l
# shellcheck disable=SC2086
report job salloc -Q -N3 $run /tmp/reads.toml --hosts slurm --via 'srun --overlap -N1 -n1 -w {host}' --target /dev/nullb0

echo '== lost'
sed 's/length = .*/length = "20s"/' /tmp/reads.toml > /tmp/long.toml
/lab/assay run --quiet --events --store /tmp/store /tmp/long.toml --hosts 'n[1-3]' --target /dev/nullb0 \
  > /tmp/events & running=$!
until grep -q case-started /tmp/events || ! kill -0 $running; do sleep 1; done
timeout 20 ssh n3 poweroff -f || true
code=0
wait $running || code=$?
/lab/assay show latest --json --store /tmp/store
echo; echo "exit $code"
