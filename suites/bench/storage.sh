#!/bin/sh
# storage.sh setup                    makes a RAM disk and a file to read from
# storage.sh clean                    removes both
# storage.sh TOOL NAME new|kept JOB   runs a job of fio, in which blanks separate the lines, and prints its figures
#
# Both tools read the same job. In one without `filename`, each works in a folder of its own, which is
# empty for every run, or kept.
set -eu
assay=${ASSAY:-$PWD/target/release/assay}
mkdir -p target/bench/storage
cd target/bench/storage
export XDG_DATA_HOME="$PWD/data"

remove_disk() {
    [ -e zram ] || return 0
    id=$(cat zram)
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        if echo 1 2>/dev/null >"/sys/block/zram$id/reset" &&
            echo "$id" >/sys/class/zram-control/hot_remove; then
            break
        fi
        sleep 0.2
    done
    rm -f zram ram
}

# Reads of blocks that were never written cost nothing.
fill() { dd if=/dev/urandom of="$1" bs=1M count=512 conv=fsync status=none; }

# write_job FOLDER JOB
write_job() {
    echo '[global]'
    case $2 in *filename=* | *ioengine=null*) ;; *) echo "directory=$1" ;; esac
    echo "$2" | tr ' ' '\n'
    case $2 in *'['*) ;; *) echo '[job]' ;; esac
}

# Rates are sums over jobs; latencies are of the first job, but the mean, which is over all I/O.
figures() {
    sed -n '/^{/,$p' | jq -r '
        def p($d; $k; $q): .[$d][$k].percentile[$q] // 0 | . / 1e9;
        .jobs | (map(select(.error != 0)) | length) as $failed
        | if $failed > 0 then error("a job failed") else . end
        | map(.read.iops + .write.iops) as $rates
        | "rate \($rates | add)",
          "mean \((map(.read.iops * .read.clat_ns.mean + .write.iops * .write.clat_ns.mean) | add)
                  / ($rates | add) / 1e9)",
          (.[0] | "p50 \(p("read"; "lat_ns"; "50.000000"))",
                  "p99 \(p("read"; "lat_ns"; "99.000000"))",
                  "sync \(p("sync"; "lat_ns"; "99.000000"))",
                  "cpu \(.usr_cpu / 100 * .job_runtime / 1e3 / (.read.total_ios + .write.total_ios))")'
}

case $1 in
setup)
    remove_disk
    cat /sys/class/zram-control/hot_add >zram
    disk=zram$(cat zram)
    echo 512M >"/sys/block/$disk/disksize"
    ln -sf "/dev/$disk" ram
    fill "/dev/$disk"
    [ -e file ] || fill file
    ;;
clean) remove_disk ;;
assay | fio)
    folder=$1-$(echo "$2" | tr -c 'a-zA-Z0-9\n' -)
    [ "$3" = kept ] || rm -rf "$folder"
    mkdir -p "$folder"
    write_job "$folder" "$4" >"$folder.fio"
    case $1 in
    assay) "$assay" fio --no-store --output-format=json "$folder.fio" ;;
    fio) fio --output-format=json "$folder.fio" ;;
    esac | figures
    ;;
esac
