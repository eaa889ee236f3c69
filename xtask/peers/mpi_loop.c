/* Ping-pong and windows of messages between two ranks, for comparison with assay: the same loops, compiled
 * with the mpicc of each MPI into a shared object that the ranks of `mpi_in_turns` open. Its calls go through
 * its own procedure linkage table. Checks nothing, and owns no memory but requests.
 *
 * Seconds of `turns` turns after `warm_up` turns after a barrier; bytes at `out` are sent, and as many are
 * received at `in`. */
#include <mpi.h>
#include <time.h>

enum { WINDOW = 64 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void latency(int rank, long turns, const char *out, char *in, int bytes) {
    for (long i = 0; i < turns; i++) {
        if (rank == 0) {
            MPI_Send(out, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(in, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(in, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(out, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
        }
    }
}

static void windows(int rank, long turns, const char *out, char *in, int bytes) {
    MPI_Request requests[WINDOW];
    char answer[4] = {0};
    for (long i = 0; i < turns; i++) {
        if (rank == 0) {
            for (int j = 0; j < WINDOW; j++)
                MPI_Isend(out, bytes, MPI_CHAR, 1, 100, MPI_COMM_WORLD, &requests[j]);
            MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
            MPI_Recv(answer, 4, MPI_CHAR, 1, 101, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            for (int j = 0; j < WINDOW; j++)
                MPI_Irecv(in, bytes, MPI_CHAR, 0, 100, MPI_COMM_WORLD, &requests[j]);
            MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
            MPI_Send(answer, 4, MPI_CHAR, 0, 101, MPI_COMM_WORLD);
        }
    }
}

/* Whether this object is linked to the library that the program has initialised. */
int mpi_loop_is_ready(void) {
    int is_ready = 0;
    MPI_Initialized(&is_ready);
    return is_ready;
}

double mpi_loop_batch(int is_latency, long warm_up, long turns, const char *out, char *in, int bytes) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    double start;
    if (is_latency) {
        latency(rank, warm_up, out, in, bytes);
        start = now();
        latency(rank, turns, out, in, bytes);
    } else {
        windows(rank, warm_up, out, in, bytes);
        start = now();
        windows(rank, turns, out, in, bytes);
    }
    return now() - start;
}
