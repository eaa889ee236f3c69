#!/bin/dash
set -e
# Parameter of the kernel command line.
: "${guest:?}"
if [ "$guest" = 2 ]; then
  for module in virtio_blk crc32c_generic ext4 nfsd; do modprobe $module; done
  mkdir -p /srv/volume /run/rpcbind /run/sendsigs.omit.d
  mount -t ext4 /dev/vda /srv/volume || { mke2fs /dev/vda; mount -t ext4 /dev/vda /srv/volume; }
  mount -t nfsd nfsd /proc/fs/nfsd
  echo 1048576 > /proc/fs/nfsd/max_block_size
  echo '/srv/volume *(rw,no_root_squash,insecure,no_subtree_check,fsid=1)' > /etc/exports
  rpcbind
  exportfs -ra
  rpc.mountd --port 20048
  rpc.nfsd --no-nfs-version 4 4
  # Ends without notice when a client creates this file.
  while ! [ -e /srv/volume/kill ]; do sleep 1; done
  rm /srv/volume/kill
  sync
  echo b > /proc/sysrq-trigger
fi
for module in macvlan sch_netem sch_fq nfsv3; do modprobe $module; done
mkdir -p /mnt/near /mnt/far /mnt/volume /mnt/soft /mnt/asked /mnt/brief
hard='vers=3,proto=tcp,port=2049,mountport=20048,mountproto=tcp,nolock,hard'
at=10
for host in near far; do
  at=$((at + 1))
  ip netns add $host
  ip link add $host link eth0 type macvlan mode bridge
  ip link set $host netns $host
  ip -n $host addr add 10.0.1.$at/24 dev $host
  ip -n $host link set $host up
  ip -n $host link set lo up
done
tc -n far qdisc add dev far root netem delay 20ms limit 10000
mount_from() {
  for _ in $(seq 60); do
    nsenter --net=/run/netns/"$1" mount.nfs 10.0.1.2:/srv/volume "$2" -o $hard,"$3" && return
    sleep 1
  done
  return 1
}
mount_from near /mnt/near rsize=65536,wsize=65536
mount_from far /mnt/far rsize=262144,wsize=262144,nconnect=4
echo '== doctor'
/lab/assay doctor storage --json
cat > /tmp/curves.toml <<'SUITE'
name = "curves"
title = "near and far"
budget = "40s"
[[measure]]
benchmark = "storage"
name = "RndRead"
operation = "read"
pattern = "random"
bs = "4KiB"
depth = 4
size = "8MiB"
curve = [20, 50, 80]
SUITE
echo '== curves'
code=0
/lab/assay run /tmp/curves.toml --hosts near,far --via 'ip netns exec {host}' --target '/mnt/{host}/data-{host}' \
  --quiet --json --store /tmp/store || code=$?
echo; echo "exit $code"
echo '== connections'
for host in near far; do
  echo "$host $(nsenter --net=/run/netns/$host grep -c ':0801 01' /proc/net/tcp)"
done

# A factor: each level mounts anew, and every connection sends at most 4 Mbit/s.
mkdir -p /mnt/factor
tc qdisc add dev eth0 root fq maxrate 4mbit
cat > /tmp/leave.sh <<'LEAVE'
if [ -e /tmp/level ]; then
  echo "nconnect=$(cat /tmp/level): $(grep -c ':0801 01' /proc/net/tcp)" >> /tmp/levels
  rm /tmp/level
fi
umount /mnt/factor
LEAVE
cat > /tmp/nconnect.toml <<'SUITE'
name = "nconnect"
title = "writes over connections of a limited rate"
budget = "24s"
blocks = 2
[[factor]]
name = "nconnect"
levels = [1, 4]
apply = 'sh /tmp/leave.sh && mount.nfs 10.0.1.2:/srv/volume /mnt/factor -o "$OPTIONS",nconnect={nconnect} && echo {nconnect} > /tmp/level'
restore = 'sh /tmp/leave.sh && mount.nfs 10.0.1.2:/srv/volume /mnt/factor -o "$OPTIONS"'
[[measure]]
benchmark = "storage"
name = "SeqWrite"
operation = "write"
pattern = "sequential"
bs = "64KiB"
depth = 16
size = "4MiB"
SUITE
OPTIONS="$hard,nosharecache"
export OPTIONS
mount.nfs 10.0.1.2:/srv/volume /mnt/factor -o "$OPTIONS"
echo '== nconnect'
code=0
/lab/assay run /tmp/nconnect.toml --target /mnt/factor/written --settle 1s \
  --quiet --store /tmp/factor || code=$?
echo "exit $code"
sort -u /tmp/levels
# Undecided after two blocks.
/lab/assay compare nconnect=1 nconnect=4 --format json --store /tmp/factor || [ $? = 6 ]
tc qdisc del dev eth0 root
umount /mnt/factor

# The same server from the guest itself: one connection for measured files and queries.
mount.nfs 10.0.1.2:/srv/volume /mnt/volume -o $hard
mount.nfs 10.0.1.2:/srv/volume /mnt/asked -o $hard,noac,nosharecache
mount.nfs 10.0.1.2:/srv/volume /mnt/soft -o ${hard%,hard},soft,timeo=30,retrans=1
# Gives up after 3 s, long before the server is back.
mount.nfs 10.0.1.2:/srv/volume /mnt/brief -o ${hard%,hard},soft,timeo=10,retrans=1,nosharecache
for file in data data-soft; do head -c 8388608 /dev/zero | tr '\0' 'a' > /mnt/volume/$file; done
sync
echo '== killed'
query_size() {
  while [ -e /tmp/asks ]; do
    before=$(cut -d' ' -f1 /proc/uptime)
    stat -c %s /mnt/asked/data > /tmp/size
    echo "asked $before $(cut -d' ' -f1 /proc/uptime)" >> /tmp/asked
    sleep 0.1
  done
}
touch /tmp/asks
query_size & asking=$!
/lab/assay storage read /mnt/soft/data-soft --random --bs 4k --rate 5 --arrivals constant --for 60s \
  --engine libaio --quiet --json --store /tmp/soft > /tmp/soft.json & soft=$!
/lab/assay storage write /mnt/soft/new --size 8MiB --random --bs 4k --rate 5 --arrivals constant --for 60s \
  --engine libaio --quiet --json --store /tmp/new > /tmp/new.json & writing=$!
/lab/assay storage read /mnt/volume/data --random --bs 4k --depth 4 --rate 20 --arrivals constant --for 60s \
  --engine libaio --quiet --events --store /tmp/store > /tmp/events & reading=$!
# The file is created and opened now; its only phase begins once the server is away.
cat > /tmp/between.vdb <<'PARAMETERS'
sd=sd1,lun=/mnt/brief/between,size=1m,openflags=o_direct
wd=wd1,sd=sd1,rdpct=0,xfersize=4k,seekpct=random
rd=rd1,wd=wd1,iorate=5,elapsed=10,interval=1,startcmd="until [ -e /tmp/away ]; do sleep 1; done"
PARAMETERS
/lab/assay vdbench -f /tmp/between.vdb -o /tmp/output --store /tmp/between > /tmp/between.txt 2>&1 & between=$!
until grep -q case-started /tmp/events || ! kill -0 $reading; do sleep 1; done
# After the warm-up.
sleep 12
touch /mnt/volume/kill
sleep 3
touch /tmp/away
code=0
wait $reading || code=$?
/lab/assay show latest --json --store /tmp/store
echo; echo "exit $code"
rm /tmp/asks; wait $asking
cat /tmp/asked
echo '== soft'
code=0
wait $soft || code=$?
cat /tmp/soft.json
echo; echo "exit $code"
echo '== written'
code=0
wait $writing || code=$?
cat /tmp/new.json
echo; echo "exit $code"
# The server is back: what could not be removed while it was away is removed now.
/lab/assay storage clean --store /tmp/new
if [ -e /mnt/volume/new ]; then echo 'file stays'; else echo 'file gone'; fi
echo '== between'
code=0
wait $between || code=$?
cat /tmp/between.txt
echo "exit $code"
/lab/assay show latest --json --store /tmp/between
