#!/bin/dash
# Parameters of the kernel command line.
: "${guest:?}" "${guests:?}"
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
/bin/busybox mkdir -p /proc /sys /dev /tmp /run /root
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for folder in /tmp /run /dev/shm /dev/pts; do mkdir -p $folder; done
for folder in /tmp /run /dev/shm; do mount -t tmpfs tmp $folder; done
mount -t devpts devpts /dev/pts
hostname n"$guest"
ip link set lo up
if [ "$guests" -gt 1 ]; then
  for module in virtio_pci virtio_net ipv6 af_packet; do modprobe $module; done
  ip addr add 10.0.1."$guest"/24 dev eth0
  ip link set eth0 up
  echo '127.0.0.1 localhost' > /etc/hosts
  for number in $(seq "$guests"); do echo 10.0.1."$number" n"$number" >> /etc/hosts; done
fi
dash /lab/script > /dev/ttyS1 2>&1 < /dev/null
echo "== ended $?" > /dev/ttyS1
poweroff -f
