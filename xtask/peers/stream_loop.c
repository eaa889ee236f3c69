/* A plain STREAM: the four loops as a C programmer would write them, and a sum and a fill beside them.
 * It is what assay's memory kernels are compared with; it contains no trick on purpose.
 *
 * Usage: stream_loop ELEMENTS PASSES        threads and places: OMP_NUM_THREADS, OMP_PLACES
 * Prints one JSON object, bytes per second by operation, counted as STREAM does: the bytes the program
 * names, without the line the cache may read before it is written. A wrong result is exit status 1. */

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { COPY, SCALE, ADD, TRIAD, READ, WRITE, OPERATIONS };
static const char *const NAMES[OPERATIONS] = {"copy", "scale", "add", "triad", "read", "write"};
static const double ARRAYS[OPERATIONS] = {2, 2, 3, 3, 1, 1};
static const double SCALAR = 3.0;

static void copy(size_t n, const double *restrict a, double *restrict c) {
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++) c[i] = a[i];
}

static void scale(size_t n, const double *restrict c, double *restrict b) {
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++) b[i] = SCALAR * c[i];
}

static void add(size_t n, const double *restrict a, const double *restrict b, double *restrict c) {
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++) c[i] = a[i] + b[i];
}

static void triad(size_t n, const double *restrict b, const double *restrict c, double *restrict a) {
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++) a[i] = b[i] + SCALAR * c[i];
}

static double read_all(size_t n, const double *restrict a) {
    double sum = 0.0;
    /* Adding in any order lets the loop use vectors, as the other five do. */
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
    for (size_t i = 0; i < n; i++) sum += a[i];
    return sum;
}

static void write_all(size_t n, double value, double *restrict a) {
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++) a[i] = value;
}

/* The largest relative distance of any element from the value all of them should have. */
static double distance(size_t n, const double *a, double expected) {
    double worst = 0.0;
#pragma omp parallel for schedule(static) reduction(max : worst)
    for (size_t i = 0; i < n; i++) worst = fmax(worst, fabs(a[i] - expected) / fabs(expected));
    return worst;
}

static int by_size(const void *left, const void *right) {
    double l = *(const double *)left, r = *(const double *)right;
    return (l > r) - (l < r);
}

static double median(size_t n, double *values) {
    qsort(values, n, sizeof *values, by_size);
    return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

int main(int argc, char **argv) {
    size_t n = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
    size_t passes = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
    double *a = NULL, *b = NULL, *c = NULL, *seconds = NULL;
    if (n == 0 || passes == 0 || posix_memalign((void **)&a, 4096, n * sizeof *a) ||
        posix_memalign((void **)&b, 4096, n * sizeof *b) ||
        posix_memalign((void **)&c, 4096, n * sizeof *c) ||
        !(seconds = malloc(OPERATIONS * passes * sizeof *seconds))) {
        fprintf(stderr, "usage: stream_loop ELEMENTS PASSES, with memory for three arrays\n");
        return 2;
    }
    /* First touch by the thread that will use the memory. */
    write_all(n, 1.0, a);
    write_all(n, 2.0, b);
    write_all(n, 0.0, c);
    double value_a = 1.0, value_b = 2.0, value_c = 0.0, sum = 0.0;
    /* Pass 0 warms up and is not counted. */
    for (size_t pass = 0; pass <= passes; pass++) {
        for (int operation = 0; operation < OPERATIONS; operation++) {
            double start = omp_get_wtime();
            switch (operation) {
                case COPY: copy(n, a, c); value_c = value_a; break;
                case SCALE: scale(n, c, b); value_b = SCALAR * value_c; break;
                case ADD: add(n, a, b, c); value_c = value_a + value_b; break;
                case TRIAD: triad(n, b, c, a); value_a = value_b + SCALAR * value_c; break;
                case READ: sum = read_all(n, a); break;
                case WRITE: write_all(n, 1.0, a); break;
            }
            double taken = omp_get_wtime() - start;
            if (pass > 0) seconds[operation * passes + pass - 1] = taken;
        }
        double wrong = fabs(sum - value_a * n) / fabs(value_a * n);
        value_a = 1.0;
        wrong = fmax(wrong, distance(n, a, value_a));
        wrong = fmax(wrong, fmax(distance(n, b, value_b), distance(n, c, value_c)));
        /* A sum of n rounded terms may be off by n * 2^-53 of its size; the arrays by a few of those. */
        if (!(wrong <= n * 0x1p-53)) {
            fprintf(stderr, "the arrays are wrong by %g\n", wrong);
            return 1;
        }
    }
    printf("{\"threads\": %d", omp_get_max_threads());
    for (int operation = 0; operation < OPERATIONS; operation++) {
        double bytes = ARRAYS[operation] * sizeof(double) * n;
        double middle = median(passes, seconds + operation * passes);
        printf(", \"%s\": {\"median\": %.17g, \"best\": %.17g}", NAMES[operation], bytes / middle,
               bytes / seconds[operation * passes]);
    }
    printf("}\n");
    return 0;
}
