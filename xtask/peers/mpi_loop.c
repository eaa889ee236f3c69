/* Ping-pong and windows of messages between two ranks, for comparison with assay: the same loops, compiled
 * with the mpicc of each MPI. Prints one line per size: bytes, median and best of the batches in seconds (half
 * a round trip) or in bytes per second. Checks nothing and never times anything else.
 *
 * mpi_loop latency|bw LEAST GREATEST SECONDS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WINDOW = 64, MOST = 4096 };
static char *out, *in;
static int rank;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void latency(long turns, int bytes) {
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

static void windows(long turns, int bytes) {
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

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **arguments) {
    if (count != 5) return 2;
    int is_latency = strcmp(arguments[1], "latency") == 0;
    int least = atoi(arguments[2]), greatest = atoi(arguments[3]);
    double seconds = atof(arguments[4]);
    void (*turn)(long, int) = is_latency ? latency : windows;
    static double samples[MOST];
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (posix_memalign((void **)&out, 65536, greatest)) return 1;
    if (posix_memalign((void **)&in, 65536, greatest)) return 1;
    memset(out, 'a', greatest);
    memset(in, 'b', greatest);
    for (long bytes = least; bytes <= greatest; bytes *= 2) {
        MPI_Barrier(MPI_COMM_WORLD);
        int rough = !is_latency && bytes > 8192 ? 4 : 40;
        double start = now();
        turn(rough, bytes);
        long turns = 1e-3 / ((now() - start) / rough);
        if (turns < 1) turns = 1;
        MPI_Bcast(&turns, 1, MPI_LONG, 0, MPI_COMM_WORLD);
        int n = 0, more = 1;
        while (more) {
            MPI_Barrier(MPI_COMM_WORLD);
            turn(1, bytes);
            double before = now();
            turn(turns, bytes);
            double elapsed = now() - before;
            samples[n++] = is_latency ? elapsed / (2.0 * turns)
                                      : (double)bytes * WINDOW * turns / elapsed;
            more = n < MOST && now() - start < seconds;
            MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
        }
        qsort(samples, n, sizeof samples[0], ascending);
        double best = is_latency ? samples[0] : samples[n - 1];
        if (rank == 0) printf("%ld %.9g %.9g\n", bytes, samples[n / 2], best);
    }
    MPI_Finalize();
    return 0;
}
