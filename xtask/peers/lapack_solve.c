/* A dense system solved by the LAPACK of a library: dgetrf and dgetrs, what HPL measures, without HPL.
 * It is what assay's LINPACK is compared with.
 *
 * Usage: lapack_solve LIBRARY N SEED        threads: OPENBLAS_NUM_THREADS, MKL_NUM_THREADS
 * Prints one JSON object. Timed are the factorisation and the solution, not the making of the matrix nor
 * the library's first steps, for which a small system is solved before; the operations are HPL's
 * 2/3 n^3 + 3/2 n^2, and the residual is HPL's, which has to stay below 16.
 * A residual that does not is exit status 1. */

#define _POSIX_C_SOURCE 199309L
#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The Fortran interface. Integers are passed as 64-bit ones by address: on a little-endian machine a library
 * with 32-bit integers reads their lower half, and uses the pivots as it wrote them. */
typedef void dgetrf_function(const int64_t *m, const int64_t *n, double *a, const int64_t *lda,
                             int64_t *ipiv, int64_t *info);
typedef void dgetrs_function(const char *trans, const int64_t *n, const int64_t *nrhs, const double *a,
                             const int64_t *lda, const int64_t *ipiv, double *b, const int64_t *ldb,
                             int64_t *info, size_t trans_length);
static dgetrf_function *dgetrf;
static dgetrs_function *dgetrs;

/* Names of the same function: as Fortran has it, with 64-bit integers, and as SciPy's wheels rename it. */
static void *function(void *library, const char *name) {
    static const char *const FORMS[] = {"%s_", "%s_64_", "scipy_%s_", "scipy_%s_64_"};
    void *found = NULL;
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS && !found; i++) {
        char full[64];
        snprintf(full, sizeof full, FORMS[i], name);
        found = dlsym(library, full);
    }
    return found;
}

/* Order of the system that is solved before the clock starts. */
enum { WARM_UP = 512 };

/* Entry i of a random sequence in [-0.5, 0.5): splitmix64 (Steele et al., OOPSLA 2014) of seed and place,
 * so that the matrix can be had again for the residual instead of being kept twice. */
static double entry(uint64_t seed, uint64_t i) {
    uint64_t z = seed + (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53 - 0.5;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double largest(int n, const double *x) {
    double most = 0.0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

/* HPL's scaled residual: |Ax-b| / (eps (|A| |x| + |b|) n), all norms infinite, eps = 2^-53. */
static double residual(int n, uint64_t seed, const double *x, const double *b, double *row_sum,
                       double *difference) {
    memcpy(difference, b, sizeof *b * n);
    memset(row_sum, 0, sizeof *row_sum * n);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            double a = entry(seed, (uint64_t)j * n + i);
            row_sum[i] += fabs(a);
            difference[i] -= a * x[j];
        }
    }
    double scale = largest(n, row_sum) * largest(n, x) + largest(n, b);
    return largest(n, difference) / (DBL_EPSILON / 2 * scale * n);
}

/* The matrix by columns, and the right-hand side. */
static void fill(int n, uint64_t seed, double *a, double *b) {
    for (uint64_t i = 0; i < (uint64_t)n * n; i++) a[i] = entry(seed, i);
    for (int i = 0; i < n; i++) b[i] = entry(~seed, i);
}

/* Overwrites the matrix with its factors and x, which holds the right-hand side, with the solution. */
static int64_t solve(int64_t n, double *a, int64_t *pivots, double *x) {
    int64_t info = 0, one = 1;
    dgetrf(&n, &n, a, &n, pivots, &info);
    if (info == 0) dgetrs("N", &n, &one, a, &n, pivots, x, &n, &info, 1);
    return info;
}

int main(int argc, char **argv) {
    int n = argc == 4 ? atoi(argv[2]) : 0;
    uint64_t seed = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
    double *a = n > 0 ? malloc(sizeof *a * n * n) : NULL;
    double *vectors = n > 0 ? malloc(sizeof *vectors * 4 * n) : NULL;
    int64_t *pivots = n > 0 ? malloc(sizeof *pivots * n) : NULL;
    if (!a || !vectors || !pivots) {
        fprintf(stderr, "usage: lapack_solve LIBRARY N SEED, with memory for N*N numbers\n");
        return 2;
    }
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
    if (library) {
        dgetrf = (dgetrf_function *)function(library, "dgetrf");
        dgetrs = (dgetrs_function *)function(library, "dgetrs");
    }
    if (!dgetrf || !dgetrs) {
        fprintf(stderr, "no LAPACK in %s: %s\n", argv[1], library ? "dgetrf is missing" : dlerror());
        return 2;
    }
    double *b = vectors, *x = vectors + n;
    fill(n < WARM_UP ? n : WARM_UP, seed, a, x);
    int64_t info = solve(n < WARM_UP ? n : WARM_UP, a, pivots, x);
    fill(n, seed, a, x);
    memcpy(b, x, sizeof *b * n);
    double start = now();
    if (info == 0) info = solve(n, a, pivots, x);
    double seconds = now() - start;
    if (info != 0) {
        fprintf(stderr, "LAPACK says info = %d\n", (int)info);
        return 1;
    }
    double wrong = residual(n, seed, x, b, vectors + 2 * n, vectors + 3 * n);
    double operations = 2.0 / 3.0 * n * n * n + 1.5 * n * n;
    printf("{\"n\": %d, \"seconds\": %.17g, \"flops\": %.17g, \"residual\": %.6g}\n", n, seconds,
           operations / seconds, wrong);
    return wrong < 16.0 ? 0 : 1;
}
