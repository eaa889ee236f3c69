#!/bin/sh
# memory.sh setup          compiles the loops
# memory.sh TOOL           prints the bandwidth of each operation in B/s, counted as STREAM does
#
# All tools have one thread for each CPU of this process, and arrays of four times the last-level caches, 512 MiB at
# least.
set -eu
assay=${ASSAY:-target/release/assay}
folder=target/bench/memory
caches=$(lscpu --bytes --caches=NAME,ALL-SIZE | awk '$1 == "L3" { print $2 }')
bytes=$((4 * ${caches:-0}))
[ "$bytes" -ge $((512 << 20)) ] || bytes=$((512 << 20))
threads=$(nproc)
export OMP_NUM_THREADS="$threads" OMP_PROC_BIND=true OMP_PLACES=threads

# likwid NAME ARRAYS KERNEL…: the best kernel, whatever instructions this CPU lacks
likwid() {
    name=$1 size=$((bytes * $2 / 1000))
    shift 2
    for kernel; do
        likwid-bench -t "$kernel" -W "N:${size}kB:$threads" -i 5 2>/dev/null || true
    done | awk -v name="$name" '
        $1 == "MByte/s:" && $2 > best { best = $2 }
        END { if (best) print name, best * 1e6; else exit 1 }'
}

# Medians of a JSON object like {"copy": {"median": 1e10}, …}
medians() {
    jq -r 'to_entries[] | select(.value | type == "object") | "\(.key) \(.value.median)"'
}

case $1 in
setup)
    mkdir -p "$folder"
    for name in stream_loop stream_sweep; do
        gcc "xtask/peers/$name.c" -o "$folder/$name" -O3 -march=native -fopenmp -lm
    done
    ;;
assay)
    "$assay" stream --placement node --threads "$threads" --array-size "$bytes" --budget 3s \
        --json --store "$folder/store" |
        jq -r '.results[] | select(.benchmark == "memory.stream") | "\(.metric) \(.median)"'
    ;;
likwid-bench)
    # likwid has no Scale and no Add: Copy and Triad move as many bytes.
    likwid copy 2 copy_mem_avx512 copy_mem_avx copy_mem_sse | sed 'p; s/copy/scale/'
    likwid triad 3 stream_mem_avx512 stream_mem_avx_fma stream_mem_sse | sed 'p; s/triad/add/'
    likwid read 1 sum_avx512 sum_avx sum_sse
    likwid write 1 store_mem_avx512 store_mem_avx store_mem_sse
    ;;
loop) "$folder/stream_loop" $((bytes / 8)) 5 | medians ;;
sweep) "$folder/stream_sweep" $((bytes / 8)) 2 | medians ;;
esac
