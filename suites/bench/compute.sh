#!/bin/sh
# compute.sh setup         compiles the caller of LAPACK
# compute.sh TOOL N        prints the rate of one solution of order N, by HPL's count: 2/3 N³ + 3/2 N²
#
# All tools have one thread for each CPU of this process. The libraries are those of the registries; each
# chooses its kernels itself.
set -eu
assay=${ASSAY:-target/release/assay}
folder=target/bench/compute
threads=$(nproc)
export OPENBLAS_NUM_THREADS="$threads" MKL_NUM_THREADS="$threads"
unset OPENBLAS_CORETYPE

# lapack FILE N [START]: dgetrf and dgetrs of a library; MKL finds its parts beside it. START is a program
# that starts the caller with other libraries
lapack() {
    if [ ! -e "$1" ]; then
        echo "the library $1 is not there" >&2
        exit 1
    fi
    LD_LIBRARY_PATH=$(dirname "$1") ${3-} "$folder/lapack_solve" "$1" "$2" 1 | jq -r '"flops \(.flops)"'
}

# below FOLDER NAME: the path of a file, or its name where there is none
below() {
    found=$(find "$1" -name "$2" 2>/dev/null | sort | head -n 1)
    echo "${found:-$2}"
}

case $1 in
setup)
    mkdir -p "$folder"
    gcc xtask/peers/lapack_solve.c -o "$folder/lapack_solve" -O3 -march=native -ldl -lm
    ;;
assay)
    "$assay" linpack --n "$2" --threads "$threads" --budget shortest --json --store "$folder/store" |
        jq -r '.results[] | select(.metric == "rmax") | "flops \(.median)"'
    ;;
debian-openblas)
    # A library of a newer release needs the C library of that release.
    newest=target/newest
    lapack "$(below $newest/root/usr/lib libopenblas.so.0)" "$2" "$newest/bin/newest-libraries"
    ;;
scipy-openblas64) lapack "$(below target/blas/scipy-openblas64 libscipy_openblas64_.so)" "$2" ;;
mkl) lapack "$(below target/blas/mkl libmkl_rt.so.3)" "$2" ;;
esac
