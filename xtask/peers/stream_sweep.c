/* STREAM in vectors of the compiler's widest kind, by 1, 2, 4 and 8 walks, with plain and non-temporal
 * stores: what a C programmer who knows the machine finds by trying. Each walk goes through a section of a
 * thread's part, all of them in turns of 256 bytes; nothing is prefetched by hand.
 *
 * Usage: stream_sweep ELEMENTS PASSES       threads and places: OMP_NUM_THREADS, OMP_PLACES
 * Passes that take long are fewer: three are enough, and more only until LOOK_S seconds are over.
 * Prints one JSON object: for each operation the best variant by the median over passes, its name, and its
 * bytes per second when timed again, counted as STREAM does. A wrong result is exit status 1. */

#include <immintrin.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__AVX512F__)
typedef __m512d vector;
#define STREAM_STORE _mm512_stream_pd
#define SPLAT _mm512_set1_pd
#elif defined(__AVX__)
typedef __m256d vector;
#define STREAM_STORE _mm256_stream_pd
#define SPLAT _mm256_set1_pd
#else
typedef __m128d vector;
#define STREAM_STORE _mm_stream_pd
#define SPLAT _mm_set1_pd
#endif

enum { COPY, SCALE, ADD, TRIAD, READ, WRITE, OPERATIONS };
enum { LANES = sizeof(vector) / sizeof(double), BLOCK = 256 / sizeof(double), VARIANTS = 8 };
static const char *const NAMES[OPERATIONS] = {"copy", "scale", "add", "triad", "read", "write"};
static const double ARRAYS[OPERATIONS] = {2, 2, 3, 3, 1, 1};
static const double SCALAR = 3.0;
/* Seconds that the passes of all variants of an operation take before the best of them is chosen, and those
 * of the best when it is timed again. */
static const double LOOK_S = 4.0, AGAIN_S = 2.0;
enum { FEWEST = 3, CHECKED = 1 << 17 };

static inline __attribute__((always_inline)) vector value(int operation, const double *x,
                                                          const double *y) {
    vector v = *(const vector *)x;
    switch (operation) {
        case SCALE: return SPLAT(SCALAR) * v;
        case ADD: return v + *(const vector *)y;
        case TRIAD: return v + SPLAT(SCALAR) * *(const vector *)y;
        case WRITE: return SPLAT(1.0);
        default: return v;
    }
}

/* One thread's part; all parameters after `target` are constants where this is inlined. */
static inline __attribute__((always_inline)) double part(size_t n, const double *x, const double *y,
                                                         double *target, int operation,
                                                         size_t walks, int past_caches) {
    size_t section = n / walks / BLOCK * BLOCK;
    vector sums[4] = {SPLAT(0.0), SPLAT(0.0), SPLAT(0.0), SPLAT(0.0)};
    for (size_t i = 0; i < section; i += BLOCK) {
        for (size_t walk = 0; walk < walks; walk++) {
            size_t at = i + walk * section;
#pragma GCC unroll 16
            for (size_t k = 0; k < BLOCK; k += LANES) {
                vector v = value(operation, x + at + k, y + at + k);
                if (operation == READ) sums[k / LANES % 4] += v;
                else if (past_caches) STREAM_STORE(target + at + k, v);
                else *(vector *)(target + at + k) = v;
            }
        }
    }
    if (past_caches) _mm_sfence();
    vector all = sums[0] + sums[1] + sums[2] + sums[3];
    double sum = 0.0;
    for (int lane = 0; lane < LANES; lane++) sum += all[lane];
    return sum;
}

#define ALL_VARIANTS(operation)                                     \
    switch (variant) {                                              \
        case 0: return part(n, x, y, target, operation, 1, 0);      \
        case 1: return part(n, x, y, target, operation, 2, 0);      \
        case 2: return part(n, x, y, target, operation, 4, 0);      \
        case 3: return part(n, x, y, target, operation, 8, 0);      \
        case 4: return part(n, x, y, target, operation, 1, 1);      \
        case 5: return part(n, x, y, target, operation, 2, 1);      \
        case 6: return part(n, x, y, target, operation, 4, 1);      \
        default: return part(n, x, y, target, operation, 8, 1);     \
    }

static double dispatch(int operation, int variant, size_t n, const double *x, const double *y,
                       double *target) {
    switch (operation) {
        case COPY: ALL_VARIANTS(COPY)
        case SCALE: ALL_VARIANTS(SCALE)
        case ADD: ALL_VARIANTS(ADD)
        case TRIAD: ALL_VARIANTS(TRIAD)
        case READ: ALL_VARIANTS(READ)
        default: ALL_VARIANTS(WRITE)
    }
}

static double pass(int operation, int variant, size_t share, double *a, double *b, double *c) {
    const double *x[OPERATIONS] = {a, c, a, b, a, a}, *y[OPERATIONS] = {a, c, b, c, a, a};
    double *target[OPERATIONS] = {c, b, c, a, a, a}, sum = 0.0;
#pragma omp parallel reduction(+ : sum)
    {
        size_t first = share * (size_t)omp_get_thread_num();
        sum += dispatch(operation, variant, share, x[operation] + first, y[operation] + first,
                        target[operation] + first);
    }
    return sum;
}

static double timed(int operation, int variant, size_t share, double *a, double *b, double *c) {
    double start = omp_get_wtime();
    volatile double sum = pass(operation, variant, share, a, b, c);
    (void)sum;
    return omp_get_wtime() - start;
}

static void fill(size_t share, double *array, double with) {
#pragma omp parallel
    {
        double *mine = array + share * (size_t)omp_get_thread_num();
        for (size_t i = 0; i < share; i++) mine[i] = with;
    }
}

static int is_wrong(size_t n, const double *array, double expected) {
    double worst = 0.0;
#pragma omp parallel for schedule(static) reduction(max : worst)
    for (size_t i = 0; i < n; i++) worst = fmax(worst, fabs(array[i] - expected));
    return !(worst <= 1e-12 * fabs(expected));
}

static int is_enough(size_t passes, double start, double seconds) {
    return passes >= FEWEST && omp_get_wtime() - start >= seconds;
}

static int by_size(const void *left, const void *right) {
    double l = *(const double *)left, r = *(const double *)right;
    return (l > r) - (l < r);
}

static double median(size_t n, double *values) {
    qsort(values, n, sizeof *values, by_size);
    return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

/* Runs one variant once on known contents and checks what it left. */
static int check(int operation, int variant, size_t share, size_t n, double *a, double *b, double *c) {
    fill(share, a, 1.5), fill(share, b, 2.0), fill(share, c, 4.0);
    double sum = pass(operation, variant, share, a, b, c);
    switch (operation) {
        case COPY: return is_wrong(n, c, 1.5);
        case SCALE: return is_wrong(n, b, 4.0 * SCALAR);
        case ADD: return is_wrong(n, c, 3.5);
        case TRIAD: return is_wrong(n, a, 2.0 + 4.0 * SCALAR);
        case READ: return !(fabs(sum - 1.5 * (double)n) <= 1e-9 * sum);
        default: return is_wrong(n, a, 1.0);
    }
}

int main(int argc, char **argv) {
    size_t asked = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
    size_t passes = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
    size_t threads = (size_t)omp_get_max_threads();
    /* Whole blocks for every walk of every thread. */
    size_t share = asked / threads / (8 * BLOCK) * (8 * BLOCK), n = share * threads;
    double *arrays[3] = {NULL, NULL, NULL}, *seconds = NULL;
    int missing = n == 0 || passes == 0;
    for (int i = 0; i < 3 && !missing; i++) {
        missing = posix_memalign((void **)&arrays[i], 4096, n * sizeof(double));
    }
    if (missing || !(seconds = malloc(VARIANTS * passes * sizeof *seconds))) {
        fprintf(stderr, "usage: stream_sweep ELEMENTS PASSES, with memory for three arrays\n");
        return 2;
    }
    double *a = arrays[0], *b = arrays[1], *c = arrays[2];
    /* Every page lies where the thread runs that will use it. */
    fill(share, a, 0.0), fill(share, b, 0.0), fill(share, c, 0.0);
    printf("{\"threads\": %zu", threads);
    for (int operation = 0; operation < OPERATIONS; operation++) {
        int variants = operation == READ ? VARIANTS / 2 : VARIANTS, best = 0;
        /* What is right on a part is right on all of it. */
        size_t part = share < CHECKED ? share : CHECKED;
        for (int variant = 0; variant < variants; variant++) {
            if (check(operation, variant, part, part * threads, a, b, c)) {
                fprintf(stderr, "%s, variant %d: wrong result\n", NAMES[operation], variant);
                return 1;
            }
        }
        fill(share, a, 0.0), fill(share, b, 0.0), fill(share, c, 0.0);
        size_t looks = 0;
        double start = omp_get_wtime();
        for (; looks < passes && !is_enough(looks, start, LOOK_S); looks++) {
            for (int variant = 0; variant < variants; variant++) {
                seconds[(size_t)variant * passes + looks] = timed(operation, variant, share, a, b, c);
            }
        }
        double medians[VARIANTS];
        for (int variant = 0; variant < variants; variant++) {
            medians[variant] = median(looks, seconds + (size_t)variant * passes);
            if (medians[variant] < medians[best]) best = variant;
        }
        /* The best of many short looks was lucky as well as fast: it is timed again by itself. */
        size_t again = 0;
        for (start = omp_get_wtime(); again < VARIANTS * passes && !is_enough(again, start, AGAIN_S); again++) {
            seconds[again] = timed(operation, best, share, a, b, c);
        }
        printf(", \"%s\": {\"median\": %.17g, \"kernel\": \"%d walks%s\"}", NAMES[operation],
               ARRAYS[operation] * sizeof(double) * (double)n / median(again, seconds), 1 << best % 4,
               best < 4 ? "" : ", non-temporal");
    }
    printf("}\n");
    return 0;
}
