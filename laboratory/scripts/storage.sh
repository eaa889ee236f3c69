#!/bin/dash
set -e
for module in dm-mod dm-delay md_mod raid0; do modprobe $module; done
modprobe nvme poll_queues=1
modprobe null_blk irqmode=2 completion_nsec=20000000 queue_mode=2 gb=1 nr_devices=1
# Prints the device of an NVMe disk as soon as it exists. Argument: its serial number.
find_disk() {
  for _ in $(seq 20); do
    for it in /sys/class/nvme/nvme*; do
      [ "$(tr -d ' ' < "$it"/serial)" = "$1" ] || continue
      [ -b /dev/"${it##*/}"n1 ] && echo "${it##*/}"n1 && return
    done
    sleep 1
  done
  echo "there is no disk $1" >&2
  return 1
}
# Times of a device's reads in the kernel, from the block layer to completion.
mount -t tracefs none /sys/kernel/tracing
start_trace() {
  cd /sys/kernel/tracing
  number=$(($(cut -d: -f1 /sys/block/"$1"/dev) << 20 | $(cut -d: -f2 /sys/block/"$1"/dev)))
  for event in block_bio_queue block_bio_complete block_rq_complete; do
    echo "dev == $number" > events/block/$event/filter
    echo 1 > events/block/$event/enable
  done
  echo mono > trace_clock
  echo > trace
  cd - > /dev/null
}
# Prints the durations of reads that ended in the last seconds, in ns. A completion of a request has its sector one word
# further. Arguments: program, seconds.
print_kernel_times() {
  echo "kernel of $1 $(awk -v of_s="$2" '{
    for (at = 1; at < NF && $at !~ /^block_/; at++);
    if ($(at + 2) !~ /R/) next
    sector = $(at + 3 + ($at ~ /_rq_/))
    if ($at ~ /queue/) began[sector] = $(at - 1)
    else if (sector in began) {
      ended[++reads] = last = $(at - 1) + 0
      took[reads] = last - began[sector]
      delete began[sector]
    }
  } END {
    for (read = 1; read <= reads; read++) if (ended[read] > last - of_s) printf "%.0f ", took[read] * 1e9
  }' /sys/kernel/tracing/trace)"
}
# Reads with ioping and prints its durations and the kernel's, in ns. Arguments: device, processes.
run_ioping() {
  start_trace "$1"
  for number in $(seq "$2"); do
    ioping -D -A -q -i 0 -c 101 -p 1 -S 512m -e "$number" /dev/"$1" > /tmp/ioping."$number" &
  done
  wait
  echo "ioping $(cat /tmp/ioping.* | awk '{ printf "%s ", $6 }')"
  print_kernel_times ioping 60
  rm /tmp/ioping.*
}
# Reads with assay. Arguments: device, depth.
run_assay() {
  /lab/assay fio --name=read --filename=/dev/"$1" --rw=randread --bs=4k --iodepth="$2" --ioengine=libaio \
    --direct=1 --time_based --ramp_time=1 --runtime=5 --lat_percentiles=1 --output-format=json --no-store
  echo
}
# Arguments: name, device, depth.
compare_reads() {
  echo "== $1 $3"
  run_ioping "$2" "$3"
  start_trace "$2"
  run_assay "$2" "$3"
  print_kernel_times assay 5
  run_ioping "$2" "$3"
}
compare_reads null_blk nullb0 1
compare_reads null_blk nullb0 8
rmmod null_blk
modprobe null_blk irqmode=0 gb=1 nr_devices=1 poll_queues=0
dmsetup create slow --noudevsync --table "0 $(cat /sys/block/nullb0/size) delay /dev/nullb0 0 20"
compare_reads dm-delay dm-0 1
compare_reads NVMe "$(find_disk slow)" 1
compare_reads NVMe "$(find_disk slow)" 8
echo "== limit 8"
run_assay "$(find_disk limited)" 8
# Prints the number of interrupts of a disk's queues. Argument: the disk.
print_interrupts() {
  awk -v of="${1%n1}q[1-9]" '$0 ~ of { for (at = 2; $at ~ /^[0-9]+$/; at++) sum += $at } END { print sum + 0 }' /proc/interrupts
}
# Prints the interrupts of a run. Arguments: name, option.
count_interrupts() {
  echo "== interrupts $1"
  disk=$(find_disk slow)
  before=$(print_interrupts "$disk")
  /lab/assay fio --name=read --filename=/dev/"$disk" --rw=randread --bs=4k --ioengine=io_uring ${2:+"$2"} \
    --direct=1 --time_based --runtime=3 --lat_percentiles=1 --output-format=json --no-store
  echo
  echo interrupts $(($(print_interrupts "$disk") - before))
}
count_interrupts waiting
count_interrupts polled --hipri
echo "== polled without queues"
/lab/assay storage read /dev/nullb0 --engine io_uring-polled --for 1s --store /tmp/store 2>&1 || echo "exit $?"
# Runs IOR on an array. Arguments: name, disks, options of IOR.
run_on_array() {
  name=$1; of=$2; shift 2
  mdadm --build /dev/md0 --level=0 --chunk=64 --raid-devices=4 \
    "/dev/$(find_disk "${of}0")" "/dev/$(find_disk "${of}1")" "/dev/$(find_disk "${of}2")" "/dev/$(find_disk "${of}3")"
  echo "== RAID0 $name"
  /lab/assay ior -N 4 -b 32m -t 1m --posix.odirect -O summaryFormat=JSON -o /dev/md0 \
    --destroy-data=/dev/md0 --no-store "$@" || echo "exit $?"
  mdadm --stop /dev/md0
}
run_on_array rate part -w -r
run_on_array contents disk -w -r -R
