/* Change of the SVM objective when a feature is removed from the kernel.
 *
 * The quantity is half the sum of P * K (entry by entry), where P is the sum of b b' over all pairs
 * of classes, and b are the dual coefficients, which are held fixed. Each entry of K without a
 * feature follows from the same entry of K, so each feature takes one pass over the pairs of rows:
 *
 *   RBF         K = exp(-gamma d): the distance d decreases by (x_a - x_c)^2, so K grows by the
 *               factor exp(z), z = gamma (x_a - x_c)^2, and the change is P K (exp(z) - 1).
 *   polynomial  K = (gamma s + coef0)^degree: the inner product s decreases by x_a x_c.
 *   sigmoid     K = tanh(gamma s + coef0): likewise.
 *
 * The pass is a sum over all pairs of rows, four at a time. There are no branches or library calls
 * in it.
 */
#include "core.h"
#include "numeric.h"

typedef int64_t integer_lanes __attribute__((vector_size(LANES * sizeof(int64_t))));

/* Largest z, after halvings, for which exp(z) - 1 is computed by its Taylor series. */
static const double SERIES_LIMIT = 0.5;

/* For larger exponents z, the product of exp(z) and a tiny kernel value is inaccurate. */
static const double MAX_EXPONENT = 30.0;

/* ---- Functions of four numbers ---- */

/* Return the next numbers of an array, at most four; missing ones are replaced by `padding`. */
static inline lanes load_padded(const double *from, int64_t count, double padding) {
    if (count >= LANES) return load(from);
    lanes x;
    for (int64_t k = 0; k < LANES; k++) x[k] = k < count ? from[k] : padding;
    return x;
}

static inline lanes clip(lanes x, double low, double high) {
    for (int k = 0; k < LANES; k++) x[k] = smaller(larger(x[k], low), high);
    return x;
}

/* Return exp(z) - 1 for 0 <= z <= SERIES_LIMIT by 14 terms of its Taylor series. */
static inline lanes exp_minus_one(lanes z) {
    lanes e = 1.0 + z * (1.0 / 14.0);
    e = 1.0 + z * (1.0 / 13.0) * e;
    e = 1.0 + z * (1.0 / 12.0) * e;
    e = 1.0 + z * (1.0 / 11.0) * e;
    e = 1.0 + z * (1.0 / 10.0) * e;
    e = 1.0 + z * (1.0 / 9.0) * e;
    e = 1.0 + z * (1.0 / 8.0) * e;
    e = 1.0 + z * (1.0 / 7.0) * e;
    e = 1.0 + z * (1.0 / 6.0) * e;
    e = 1.0 + z * (1.0 / 5.0) * e;
    e = 1.0 + z * (1.0 / 4.0) * e;
    e = 1.0 + z * (1.0 / 3.0) * e;
    return z * (1.0 + z * (1.0 / 2.0) * e);
}

/* Return exp(x), for x clipped to the range of normal numbers.
 *
 * With k the integer nearest to x / log(2), exp(x) = 2^k exp(x - k log(2)). The sum with `magic`
 * rounds to an integer and leaves k in the last bits of the significand. */
static inline lanes exponential(lanes x) {
    const double magic = 0x1.8p52, log2_high = 0x1.62e42fee00000p-1, log2_low = 0x1.a39ef35793c76p-33;
    x = clip(x, -708.0, 709.0);
    lanes shifted = x * 0x1.71547652b82fep0 + magic;
    lanes k = shifted - magic;
    lanes rest = (x - k * log2_high) - k * log2_low;
    integer_lanes bits = ((integer_lanes)shifted + 1023) << 52;
    return (1.0 + exp_minus_one(rest)) * (lanes)bits;
}

/* Return tanh(x), with an absolute error near the rounding error of 1. */
static inline lanes hyperbolic_tangent(lanes x) { return 1.0 - 2.0 / (exponential(2.0 * x) + 1.0); }

/* Return x^degree by repeated squaring. */
static inline lanes power(lanes x, int64_t degree) {
    lanes result = (lanes){0.0} + 1.0;
    for (; degree > 0; degree >>= 1) {
        if (degree & 1) result *= x;
        x *= x;
    }
    return result;
}

/* ---- RBF kernel ---- */

/* Return the sum over c < a of scaled[c] * (exp(gamma (values[a] - values[c])^2) - 1).
 *
 * The Taylor series gives e = exp(z / 2^halvings) - 1. Each doubling of the exponent then replaces
 * e by e (e + 2). */
static double sum_by_series(const double *values, int64_t a, double gamma, int halvings,
                            const double *scaled) {
    double factor = gamma / (double)(1 << halvings);
    lanes total = {0.0};
    for (int64_t c = 0; c < a; c += LANES) {
        lanes difference = values[a] - load_padded(values + c, a - c, values[a]);
        lanes e = exp_minus_one(factor * difference * difference);
        for (int k = 0; k < halvings; k++) e = e * (e + 2.0);
        total += load_padded(scaled + c, a - c, 0.0) * e;
    }
    return sum_lanes(total);
}

/* Return the same sum, with each kernel value computed from the reduced distance. */
static double sum_by_distance(const double *values, int64_t a, double gamma,
                              const double *distances, const double *products,
                              const double *kernel) {
    lanes total = {0.0};
    for (int64_t c = 0; c < a; c += LANES) {
        lanes difference = values[a] - load_padded(values + c, a - c, values[a]);
        lanes reduced = load_padded(distances + c, a - c, 0.0) - difference * difference;
        lanes without = exponential(-gamma * clip(reduced, 0.0, INFINITE));
        lanes change = without - load_padded(kernel + c, a - c, 1.0);
        total += load_padded(products + c, a - c, 0.0) * change;
    }
    return sum_lanes(total);
}

/* Return the difference between the largest and the smallest of n values, n > 0. */
static double range(const double *values, int64_t n) {
    double low = values[0], high = values[0];
    for (int64_t k = 1; k < n; k++) {
        low = smaller(low, values[k]);
        high = larger(high, values[k]);
    }
    return high - low;
}

void ar_rbf_changes(int64_t n_features, int64_t n_rows, const double *columns,
                    const double *distances, const double *products, double gamma, double *changes,
                    double *work) {
    int64_t n_cells = n_rows * n_rows;
    double *kernel = work, *scaled = work + n_cells;
    for (int64_t c = 0; c < n_cells; c += LANES) {
        lanes values = exponential(-gamma * load_padded(distances + c, n_cells - c, 0.0));
        for (int64_t k = 0; k < LANES && c + k < n_cells; k++) {
            kernel[c + k] = values[k];
            scaled[c + k] = products[c + k] * values[k];
        }
    }
    for (int64_t j = 0; j < n_features; j++) {
        const double *values = columns + j * n_rows;
        double spread = n_rows > 0 ? range(values, n_rows) : 0.0, total = 0.0;
        double largest_exponent = gamma * spread * spread;
        int halvings = 0, is_accurate = largest_exponent <= MAX_EXPONENT;
        while (is_accurate && SERIES_LIMIT * (double)(1 << halvings) < largest_exponent) halvings++;
        for (int64_t a = 1; a < n_rows; a++) {
            int64_t row = a * n_rows;
            total += is_accurate ? sum_by_series(values, a, gamma, halvings, scaled + row)
                                 : sum_by_distance(values, a, gamma, distances + row,
                                                   products + row, kernel + row);
        }
        changes[j] = -total; /* each pair occurs twice; the diagonal does not change */
    }
}

/* ---- Polynomial and sigmoid kernels ---- */

void ar_polynomial_changes(int64_t n_features, int64_t n_rows, const double *columns,
                           const double *inner, const double *products, double gamma, double coef0,
                           int64_t degree, double *changes) {
    for (int64_t j = 0; j < n_features; j++) {
        const double *values = columns + j * n_rows;
        lanes total = {0.0};
        for (int64_t a = 0; a < n_rows; a++) {
            for (int64_t c = 0; c < n_rows; c += LANES) {
                int64_t count = n_rows - c, cell = a * n_rows + c;
                lanes whole = gamma * load_padded(inner + cell, count, 0.0) + coef0;
                lanes part = whole - gamma * values[a] * load_padded(values + c, count, 0.0);
                lanes change = power(whole, degree) - power(part, degree);
                total += load_padded(products + cell, count, 0.0) * change;
            }
        }
        changes[j] = 0.5 * sum_lanes(total);
    }
}

void ar_sigmoid_changes(int64_t n_features, int64_t n_rows, const double *columns,
                        const double *inner, const double *products, double gamma, double coef0,
                        double *changes, double *work) {
    int64_t n_cells = n_rows * n_rows;
    for (int64_t c = 0; c < n_cells; c += LANES) {
        lanes argument = gamma * load_padded(inner + c, n_cells - c, 0.0) + coef0;
        lanes values = hyperbolic_tangent(argument);
        for (int64_t k = 0; k < LANES && c + k < n_cells; k++) work[c + k] = values[k];
    }
    for (int64_t j = 0; j < n_features; j++) {
        const double *values = columns + j * n_rows;
        lanes total = {0.0};
        for (int64_t a = 0; a < n_rows; a++) {
            for (int64_t c = 0; c < n_rows; c += LANES) {
                int64_t count = n_rows - c, cell = a * n_rows + c;
                lanes product = values[a] * load_padded(values + c, count, 0.0);
                lanes reduced = load_padded(inner + cell, count, 0.0) - product;
                lanes change = load_padded(work + cell, count, 0.0) -
                               hyperbolic_tangent(gamma * reduced + coef0);
                total += load_padded(products + cell, count, 0.0) * change;
            }
        }
        changes[j] = 0.5 * sum_lanes(total);
    }
}
