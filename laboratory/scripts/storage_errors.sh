#!/bin/dash
for module in dm-mod dm-flakey nvme; do modprobe $module; done
modprobe null_blk irqmode=0 memory_backed=1 gb=1 nr_devices=1
# Creates a device with a fault. Arguments: name, device-mapper's target of the faulty sectors.
create_faulty() {
  printf '0 128 linear /dev/nullb0 0\n128 8 %s\n136 1912 linear /dev/nullb0 136\n' "$2" |
    dmsetup create "$1" --noudevsync
  dmsetup mknodes "$1"
}
# Arguments: name, command of assay.
run_assay() {
  echo "== $1"; shift
  rm -rf /tmp/store
  code=0
  timeout 60 /lab/assay "$@" --store /tmp/store > /tmp/out 2>&1 || code=$?
  tail -n 12 /tmp/out
  echo "exit $code"
  /lab/assay show latest --json --store /tmp/store
  echo
}
for _ in $(seq 20); do [ -b /dev/nvme0n1 ] && break; sleep 1; done
bad=/dev/mapper/bad; lost=/dev/mapper/lost; wrong=/dev/mapper/wrong
create_faulty bad error
create_faulty lost 'flakey /dev/nullb0 128 0 3600 1 drop_writes'
create_faulty wrong 'flakey /dev/nullb0 128 0 3600 5 corrupt_bio_byte 32 w 85 0'
for engine in io_uring libaio threads; do
  run_assay "read $engine" storage read $bad --bs 4k --depth 8 --for 1s --quiet --engine $engine
done
run_assay write storage write $bad --bs 4k --depth 8 --for 1s --quiet --destroy-data $bad
run_assay IOR ior -b 1m -t 4k --posix.odirect -E -r -o $bad
run_assay lost ior -b 1m -t 4k --posix.odirect -E -k -w -r -R -o $lost --destroy-data=$lost
run_assay wrong ior -b 1m -t 4k --posix.odirect -E -k -w -r -R -o $wrong --destroy-data=$wrong
run_assay NVMe storage read /dev/nvme0n1 --bs 4k --depth 1 --for 1s --quiet
