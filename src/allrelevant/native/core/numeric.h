/* Small numerical helpers that need no C library. */
#ifndef ALLRELEVANT_NUMERIC_H
#define ALLRELEVANT_NUMERIC_H

#include <stddef.h>
#include <stdint.h>

#define INFINITE __builtin_inf()

static inline double smaller(double a, double b) { return b < a ? b : a; }
static inline double larger(double a, double b) { return b > a ? b : a; }
static inline double absolute(double a) { return __builtin_fabs(a); }

static inline void copy(double *restrict to, const double *restrict from, int64_t n) {
    for (int64_t k = 0; k < n; k++) to[k] = from[k];
}

static inline void fill(double *restrict to, double value, int64_t n) {
    for (int64_t k = 0; k < n; k++) to[k] = value;
}

/* Block of work memory that is divided into arrays, one after another. With start = NULL, no array
 * is set, and `used` becomes the size of the block in bytes. */
typedef struct {
    char *start;
    int64_t used;
} block;

/* Return the next part of a block, for `count` numbers of eight bytes. */
static inline void *take(block *memory, int64_t count) {
    void *part = memory->start ? memory->start + memory->used : NULL;
    memory->used += 8 * count;
    return part;
}

/* Four numbers that are computed together. A sum over many terms is kept as four partial sums,
 * which are added in a fixed order. Compilers may not reorder a sum by themselves, and the result
 * is the same for every vector length of the processor. */
#define LANES 4
typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef double unaligned_lanes
    __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));

static inline lanes load(const double *from) { return *(const unaligned_lanes *)from; }

static inline double sum_lanes(lanes x) {
    return (x[0] + x[2]) + (x[1] + x[3]);
}

/* Return the inner product of the first n entries of two arrays. */
static inline double dot(const double *left, const double *right, int64_t n) {
    lanes sums = {0.0};
    int64_t k = 0;
    for (; k + LANES <= n; k += LANES) sums += load(left + k) * load(right + k);
    double total = sum_lanes(sums);
    for (; k < n; k++) total += left[k] * right[k];
    return total;
}

#endif
