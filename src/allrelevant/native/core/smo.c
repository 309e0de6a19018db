/* Dual solver for binary support vector machines on a kernel matrix, with warm starts.
 *
 * Problem. With b_i = y_i alpha_i, the dual problem is to maximize
 *
 *     sum_i y_i b_i - b' K b / 2   subject to   lower <= b <= upper   and   sum_i b_i = 0.
 *
 * The bounds are 0 and C_i for the positive class, and -C_i and 0 for the negative class. The
 * gradient is f = y - K b. The solution is optimal if no variable below its upper bound has a
 * larger f than a variable above its lower bound. Iterations stop when the largest violation of
 * this condition is below the tolerance, as in libsvm.
 *
 * Iterations. Most iterations are those of sequential minimal optimization (SMO). They update a
 * pair of variables: the most violating one, and the one with the largest second-order gain (Fan,
 * Chen and Lin 2005). SMO quickly identifies the variables at bounds but then converges slowly.
 * Every few iterations, a Newton step is therefore taken over all free variables: it solves a
 * linear system and stops at the first bound. Both kinds of iterations increase the objective.
 *
 * Several problems. The classes are trained one-vs-one, each pair at several costs C. The kernel
 * matrix of a pair is copied, so that its rows are contiguous.
 */
#include "core.h"
#include "numeric.h"

/* Lower limit of the curvature along a pair. For two equal samples, the curvature is zero. */
static const double MIN_CURVATURE = 1e-12;

/* Iterations between Newton steps, and maximum number of successive steps while they end at a
 * bound. */
enum { PAIRS_PER_SYSTEM = 20, MAX_SYSTEMS = 5 };

/* Fraction of the mean diagonal that is added to the diagonal. Equal samples would otherwise make
 * the system singular. */
static const double RIDGE = 1e-11;

/* Slopes of the loss below this are treated as zero. */
static const double FLAT_SLOPE = 1e-9;

/* One binary problem at one cost. */
typedef struct {
    int64_t n;
    const double *side; /* (n) */
    double *b;          /* (n) */
    double *kernel;     /* (n, n) */
    double *f;          /* (n): gradient */
    double *lower;      /* (n) */
    double *upper;      /* (n) */
    int64_t *free;      /* (n): indices of the free variables */
    double *direction;  /* (n): Newton step over the free variables */
    double *ones;       /* (n): solution of the system with right-hand side 1 */
    double *system;     /* (n_free, n_free): its Cholesky factor */
} problem;

/* Most violating variable: largest f of those below their upper bound. Its partners are the
 * variables above their lower bound; `bottom` is their smallest f. */
typedef struct {
    int64_t first; /* -1 if there is none */
    double top;
    double bottom;
} violation;

/* ---- Pairs ---- */

static void compute_gradient(problem *svm) {
    double *restrict f = svm->f;
    copy(f, svm->side, svm->n);
    for (int64_t j = 0; j < svm->n; j++) {
        double factor = svm->b[j];
        const double *restrict row = svm->kernel + j * svm->n;
        if (factor != 0.0)
            for (int64_t t = 0; t < svm->n; t++) f[t] -= factor * row[t];
    }
}

static violation find_violation(const problem *svm) {
    violation found = {-1, -INFINITE, INFINITE};
    for (int64_t t = 0; t < svm->n; t++) {
        double f = svm->f[t], b = svm->b[t];
        if (b < svm->upper[t] && f > found.top) {
            found.first = t;
            found.top = f;
        }
        if (b > svm->lower[t] && f < found.bottom) found.bottom = f;
    }
    return found;
}

/* Return the curvature of the objective as variable i increases and j decreases. */
static inline double curvature(const problem *svm, int64_t i, int64_t j) {
    const double *K = svm->kernel;
    int64_t n = svm->n;
    return larger(K[i * n + i] + K[j * n + j] - 2.0 * K[i * n + j], MIN_CURVATURE);
}

/* Return the variable with the largest second-order gain when paired with the first, or -1. */
static int64_t choose_second(const problem *svm, int64_t first) {
    int64_t second = -1;
    double best = 0.0;
    for (int64_t t = 0; t < svm->n; t++) {
        double drop = svm->f[first] - svm->f[t];
        if (svm->b[t] > svm->lower[t] && drop > 0.0) {
            double gain = drop * drop / curvature(svm, first, t);
            if (gain > best) {
                second = t;
                best = gain;
            }
        }
    }
    return second;
}

/* Increase variable i and decrease j, up to the optimum or the first bound. */
static void update_pair(problem *svm, int64_t i, int64_t j) {
    double *restrict f = svm->f;
    const double *restrict row_i = svm->kernel + i * svm->n;
    const double *restrict row_j = svm->kernel + j * svm->n;
    double limit_i = svm->upper[i] - svm->b[i], limit_j = svm->b[j] - svm->lower[j];
    double optimum = (f[i] - f[j]) / curvature(svm, i, j);
    double length = smaller(smaller(optimum, limit_i), limit_j);
    /* Values at a bound must equal it exactly, because free variables are recognized by value. */
    svm->b[i] = length == limit_i ? svm->upper[i] : svm->b[i] + length;
    svm->b[j] = length == limit_j ? svm->lower[j] : svm->b[j] - length;
    for (int64_t t = 0; t < svm->n; t++) f[t] -= length * (row_i[t] - row_j[t]);
}

/* ---- Newton steps ---- */

static inline int is_free(const problem *svm, int64_t t) {
    return svm->lower[t] < svm->b[t] && svm->b[t] < svm->upper[t];
}

static double sum(const double *values, int64_t n) {
    double total = 0.0;
    for (int64_t k = 0; k < n; k++) total += values[k];
    return total;
}

/* Compute the inner products of four successive rows of a matrix, given the first one, with
 * `right`. Each equals that of `dot`. Computed together, they read `right` only once, and the
 * four sums are independent. */
static void dot_four(const double *rows, int64_t stride, const double *right, int64_t n,
                     double *result) {
    const double *row1 = rows + stride, *row2 = row1 + stride, *row3 = row2 + stride;
    lanes sum0 = {0.0}, sum1 = {0.0}, sum2 = {0.0}, sum3 = {0.0};
    int64_t k = 0;
    for (; k + LANES <= n; k += LANES) {
        lanes factor = load(right + k);
        sum0 += load(rows + k) * factor;
        sum1 += load(row1 + k) * factor;
        sum2 += load(row2 + k) * factor;
        sum3 += load(row3 + k) * factor;
    }
    result[0] = sum_lanes(sum0), result[1] = sum_lanes(sum1);
    result[2] = sum_lanes(sum2), result[3] = sum_lanes(sum3);
    for (; k < n; k++) {
        result[0] += rows[k] * right[k];
        result[1] += row1[k] * right[k];
        result[2] += row2[k] * right[k];
        result[3] += row3[k] * right[k];
    }
}

/* Compute the Cholesky factor of a matrix in its lower triangle; return whether it exists. Four
 * rows are computed together up to the column before the first of them. */
static int factorize(double *system, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        double *row = system + i * n;
        int64_t first = i - i % 4, n_done = first + 4 <= n ? first : 0;
        for (int64_t j = 0; i == first && j < n_done; j++) {
            double products[4];
            dot_four(row, n, system + j * n, j, products);
            for (int64_t k = 0; k < 4; k++)
                row[k * n + j] = (row[k * n + j] - products[k]) / system[j * n + j];
        }
        for (int64_t j = n_done; j < i; j++)
            row[j] = (row[j] - dot(row, system + j * n, j)) / system[j * n + j];
        double rest = row[i] - dot(row, row, i);
        if (!(rest > 0.0)) return 0;
        row[i] = __builtin_sqrt(rest);
    }
    return 1;
}

/* Solve a linear system in place, given its Cholesky factor. */
static void solve_factorized(const double *factor, double *x, int64_t n) {
    for (int64_t i = 0; i < n; i++) x[i] = (x[i] - dot(factor + i * n, x, i)) / factor[i * n + i];
    for (int64_t i = n - 1; i >= 0; i--) {
        x[i] /= factor[i * n + i];
        for (int64_t k = 0; k < i; k++) x[k] -= factor[i * n + k] * x[i];
    }
}

/* Compute the Newton step over the free variables, which preserves their sum.
 *
 * A constant is added to the kernel, because the system would be singular for centered features. It
 * does not change the step, since the sum of the variables is constant. Return whether the step
 * exists, which is not guaranteed unless the kernel is positive definite. */
static int compute_direction(problem *svm, int64_t n_free) {
    const int64_t *free = svm->free;
    double *direction = svm->direction, *ones = svm->ones, mean = 0.0;
    for (int64_t a = 0; a < n_free; a++)
        mean += svm->kernel[free[a] * svm->n + free[a]] / (double)n_free;
    for (int64_t a = 0; a < n_free; a++) {
        const double *row = svm->kernel + free[a] * svm->n;
        double *entries = svm->system + a * n_free;
        for (int64_t c = 0; c <= a; c++) entries[c] = row[free[c]] + mean;
        entries[a] += RIDGE * mean;
        direction[a] = svm->f[free[a]];
        ones[a] = 1.0;
    }
    if (!(mean > 0.0) || !factorize(svm->system, n_free)) return 0;
    solve_factorized(svm->system, direction, n_free);
    solve_factorized(svm->system, ones, n_free);
    double offset = sum(direction, n_free) / sum(ones, n_free);
    for (int64_t a = 0; a < n_free; a++) direction[a] -= offset * ones[a];
    double rounding = sum(direction, n_free) / (double)n_free;
    for (int64_t a = 0; a < n_free; a++) direction[a] -= rounding;
    return 1;
}

/* Find the step length to the first bound, at most 1. Return the position among the free variables
 * of the one that reaches it, or -1 if a step of length 1 reaches no bound. */
static int64_t find_first_bound(const problem *svm, int64_t n_free, double *length) {
    int64_t blocking = -1;
    *length = 1.0;
    for (int64_t a = 0; a < n_free; a++) {
        int64_t i = svm->free[a];
        double bound = svm->direction[a] > 0.0 ? svm->upper[i] : svm->lower[i];
        double reach = (bound - svm->b[i]) / svm->direction[a];
        if (svm->direction[a] != 0.0 && reach < *length) {
            *length = reach;
            blocking = a;
        }
    }
    return blocking;
}

/* Take a Newton step over the free variables. Return whether it ended at a bound. */
static int update_free(problem *svm, double *done) {
    int64_t n = svm->n, n_free = 0;
    for (int64_t t = 0; t < n; t++)
        if (is_free(svm, t)) svm->free[n_free++] = t;
    *done += (double)n_free * (double)n_free * (double)n_free / 3.0 + 2.0 * (double)(n_free * n);
    if (n_free < 2 || !compute_direction(svm, n_free)) return 0;
    double slope = 0.0, length;
    for (int64_t a = 0; a < n_free; a++) slope += svm->direction[a] * svm->f[svm->free[a]];
    if (!(slope > 0.0)) return 0; /* not an ascent direction, because of rounding */
    int64_t blocking = find_first_bound(svm, n_free, &length);
    double *restrict f = svm->f;
    for (int64_t a = 0; a < n_free; a++) {
        int64_t i = svm->free[a];
        const double *restrict row = svm->kernel + i * n;
        double value = svm->b[i] + length * svm->direction[a];
        value = smaller(larger(value, svm->lower[i]), svm->upper[i]);
        if (a == blocking) value = svm->direction[a] > 0.0 ? svm->upper[i] : svm->lower[i];
        double change = value - svm->b[i];
        svm->b[i] = value;
        for (int64_t t = 0; t < n; t++) f[t] -= change * row[t];
    }
    return blocking >= 0;
}

/* ---- Offset ---- */

/* Return the mean gradient of the free variables; the middle of the violation if none is free. */
static double free_offset(const problem *svm, violation last) {
    int64_t n_free = 0;
    double total = 0.0;
    for (int64_t t = 0; t < svm->n; t++) {
        if (is_free(svm, t)) {
            n_free++;
            total += svm->f[t];
        }
    }
    return n_free ? total / (double)n_free : 0.5 * (last.top + last.bottom);
}

/* Return the derivative of the loss with respect to the offset, relative to its maximum. */
static double loss_slope(const problem *svm, double offset) {
    double slope = 0.0, whole = 0.0;
    for (int64_t t = 0; t < svm->n; t++) {
        double lower = svm->lower[t], upper = svm->upper[t];
        whole += upper - lower;
        if (upper > 0.0 && svm->f[t] > offset)
            slope -= upper;
        else if (lower < 0.0 && svm->f[t] < offset)
            slope -= lower;
    }
    return slope / whole;
}

/* Return the offset of the decision function; the midpoint if an interval is optimal.
 *
 * At offset f[t], sample t lies on its margin. With few features, the loss can be constant between
 * two such offsets. The start then determines at which end the free variables are. */
static double decision_offset(const problem *svm, violation last, double tol) {
    double offset = free_offset(svm, last), near = 2.0 * tol, low = offset, high = offset;
    if (absolute(loss_slope(svm, offset + near)) < FLAT_SLOPE) {
        high = INFINITE;
        for (int64_t t = 0; t < svm->n; t++)
            if (offset + near < svm->f[t] && svm->f[t] < high) high = svm->f[t];
    }
    if (absolute(loss_slope(svm, offset - near)) < FLAT_SLOPE) {
        low = -INFINITE;
        for (int64_t t = 0; t < svm->n; t++)
            if (low < svm->f[t] && svm->f[t] < offset - near) low = svm->f[t];
    }
    return 0.5 * (low + high);
}

/* ---- All problems ---- */

/* Progress, at the start of the work memory. All zero: not started. */
typedef struct {
    int64_t problem;
    int64_t cost;
    int64_t is_started; /* whether the problem is set up at this cost */
    int64_t iterations; /* for this problem and cost */
    int64_t largest;    /* number of iterations of a solved problem */
} progress;

/* Divide the work memory, for problems with up to n members. */
static problem map_problem(int64_t n, progress **now, block *memory) {
    problem svm = {.n = n};
    *now = take(memory, sizeof(progress) / 8);
    svm.kernel = take(memory, n * n);
    svm.f = take(memory, n);
    svm.lower = take(memory, n);
    svm.upper = take(memory, n);
    svm.free = take(memory, n);
    svm.direction = take(memory, n);
    svm.ones = take(memory, n);
    svm.system = take(memory, n * n);
    return svm;
}

static int64_t largest_problem(const ar_problems *problems) {
    int64_t largest = 0;
    for (int64_t p = 0; p < problems->n_problems; p++) {
        int64_t n = problems->starts[p + 1] - problems->starts[p];
        if (n > largest) largest = n;
    }
    return largest;
}

/* Copy the kernel matrix of the problem's members. */
static void copy_kernel(const double *kernel, int64_t n_samples, const int64_t *members,
                        problem *svm) {
    for (int64_t a = 0; a < svm->n; a++) {
        const double *row = kernel + members[a] * n_samples;
        for (int64_t c = 0; c < svm->n; c++) svm->kernel[a * svm->n + c] = row[members[c]];
    }
}

/* Set bounds and gradient of the problem at the given cost. */
static void set_cost(problem *svm, const double *weight, double cost) {
    for (int64_t t = 0; t < svm->n; t++) {
        double bound = cost * weight[t];
        svm->lower[t] = svm->side[t] > 0.0 ? 0.0 : -bound;
        svm->upper[t] = svm->side[t] > 0.0 ? bound : 0.0;
    }
    compute_gradient(svm);
}

/* Iterate until the problem is solved, or *done exceeds max_work. */
static int32_t solve(problem *svm, double tol, int64_t max_iterations, double max_work,
                     int64_t *iterations, double *offset, double *done) {
    for (;;) {
        violation found = find_violation(svm);
        if (found.top - found.bottom < tol || *iterations >= max_iterations) {
            *offset = decision_offset(svm, found, tol);
            return AR_OPTIMAL;
        }
        if (*done >= max_work) return AR_RUNNING;
        *done += 10.0 * (double)svm->n;
        if (++*iterations % PAIRS_PER_SYSTEM) {
            int64_t second = found.first < 0 ? -1 : choose_second(svm, found.first);
            if (second < 0) return AR_FAILED;
            update_pair(svm, found.first, second);
        } else {
            for (int k = 0; k < MAX_SYSTEMS && update_free(svm, done); k++) {
            }
        }
    }
}

int64_t ar_svms_bytes(const ar_problems *problems) {
    block memory = {NULL, 0};
    progress *now;
    map_problem(largest_problem(problems), &now, &memory);
    return memory.used;
}

int32_t ar_solve_svms(const ar_problems *problems, int64_t n_samples, const double *kernel,
                      int64_t n_costs, const double *costs, int64_t chain_costs, double tol,
                      int64_t max_iterations, double max_work, double *b, double *offsets,
                      int64_t *iterations, void *work) {
    block memory = {work, 0};
    progress *now;
    problem svm = map_problem(largest_problem(problems), &now, &memory);
    double done = 0.0;
    for (; now->problem < problems->n_problems; now->problem++, now->cost = 0) {
        int64_t first = problems->starts[now->problem];
        svm.n = problems->starts[now->problem + 1] - first;
        svm.side = problems->side + first;
        if (now->cost == 0 && !now->is_started)
            copy_kernel(kernel, n_samples, problems->members + first, &svm);
        for (; now->cost < n_costs; now->cost++) {
            svm.b = b + now->cost * problems->n_members + first;
            if (!now->is_started) {
                if (chain_costs && now->cost > 0) copy(svm.b, svm.b - problems->n_members, svm.n);
                set_cost(&svm, problems->weight + first, costs[now->cost]);
                now->is_started = 1;
            }
            double *offset = offsets + now->cost * problems->n_problems + now->problem;
            int32_t status =
                solve(&svm, tol, max_iterations, max_work, &now->iterations, offset, &done);
            if (status != AR_OPTIMAL) return status;
            if (now->iterations > now->largest) now->largest = now->iterations;
            now->iterations = now->is_started = 0;
        }
    }
    *iterations = now->largest;
    return AR_OPTIMAL;
}

void ar_decide(const ar_problems *problems, int64_t n_samples, const double *kernel,
               int64_t n_costs, const double *b, const double *offsets, int64_t n_rows,
               const int64_t *rows, double *values) {
    const int64_t *starts = problems->starts, *members = problems->members;
    for (int64_t c = 0; c < n_costs; c++, b += problems->n_members) {
        for (int64_t p = 0; p < problems->n_problems; p++, offsets++) {
            for (int64_t r = 0; r < n_rows; r++) {
                const double *row = kernel + rows[r] * n_samples;
                double value = *offsets;
                for (int64_t t = starts[p]; t < starts[p + 1]; t++)
                    if (b[t] != 0.0) value += b[t] * row[members[t]];
                *values++ = value;
            }
        }
    }
}
