/* The compiled core: every entry point, with the arrays it reads and writes.
 *
 *   simplex.c           primal simplex method for piecewise-linear objectives: ar_minimize
 *   budgets.c           largest weights within budgets on norm and loss: ar_solve_extremes
 *   columns.c           column generation for ar_solve_extremes
 *   pairs.c             hinge loss over pairs of samples, and its derivatives: ar_pair_losses
 *   smo.c               binary SVMs on a kernel matrix: ar_solve_svms, ar_decide
 *   kernel_criterion.c  change of the SVM objective without a feature: ar_*_changes
 *   processor.c         instruction set of the processor: ar_vector_level
 *
 * Conventions, which hold for every function:
 *
 * - The caller owns all memory. Arrays are C-contiguous. Their shapes are given in parentheses.
 *   Pointers are valid during the call only; nothing is kept. Arrays must not overlap.
 * - Work memory is one block, whose size a function `ar_..._bytes` returns. It must be aligned to
 *   8 bytes. Its contents are private.
 * - There are no global variables and no allocation. The only functions of a C library are memcpy
 *   and memset, which compilers insert. All functions can run in several threads at the same time,
 *   on different output arrays and work memory.
 * - Functions that can run for long take a limit and return AR_RUNNING when they reach it. The same
 *   call continues where the last one stopped, with the same result as one call without limit. The
 *   caller can handle signals in between. To start, the work memory must be zero.
 * - Results do not depend on the instruction set: no sum is reordered, and products and sums are
 *   rounded separately. NaN and infinity are allowed in every array of doubles; the result is then
 *   AR_FAILED, NaN or infinite.
 * - Indices (basis, nonbasic, weights, members, starts, rows) must be in range. They are not
 *   checked. Sizes must not be negative; zero is allowed.
 *
 * Quantities are in the units of the caller's data. Work is counted in floating-point operations.
 */
#ifndef ALLRELEVANT_CORE_H
#define ALLRELEVANT_CORE_H

#include <stdint.h>

#if defined(_WIN32)
#define AR_API __declspec(dllexport)
#else
#define AR_API __attribute__((visibility("default")))
#endif

/* Status of a solver. */
enum {
    AR_OPTIMAL = 0,   /* solved */
    AR_RUNNING = 1,   /* the limit was reached; call again to continue */
    AR_UNBOUNDED = 2, /* the objective decreases without bound */
    AR_FAILED = 3,    /* no solution, because of rounding errors or invalid numbers */
};

/* ---- Simplex method (simplex.c, budgets.c) ---- */

/* Constraints, budgets and start prices, constant over all iterations.
 *
 * A model has weights w, offsets o and one slack variable per constraint. Its norm is sum_k |w_k|,
 * and its loss is sum_i row_weight_i max(0, slack_i). Variables are numbered: weights, then
 * offsets, then slack variables. */
typedef struct {
    int64_t n_weights;
    int64_t n_offsets;
    int64_t n_rows;             /* number of constraints */
    int64_t n_budgets;
    const double *row_weight;   /* (n_rows): weight in the loss; infinite: hard constraint */
    const double *budgets;      /* (n_budgets, 3): coefficients of norm and loss, and limit */
    const double *start_prices; /* (2): prices of norm and loss at which the start is optimal */
} ar_program;

/* Simplex dictionary x[basis] = value - T x[nonbasic], with reduced costs and edge norms.
 *
 * Every weight, offset and slack variable occurs once, in basis or in nonbasic, except weights that
 * are candidates of ar_solve_extremes. */
typedef struct {
    int64_t m;          /* number of basic variables */
    int64_t n;          /* number of nonbasic variables */
    int64_t stride;     /* distance between the rows of T, at least n */
    double *T;          /* (m, n) */
    double *value;      /* (m): values of the basic variables */
    double *perturbed;  /* (m): values with perturbed breakpoints */
    double *side;       /* (m): +1 or -1, the side of its breakpoint on which a variable lies */
    int64_t *basis;     /* (m): numbers of the basic variables */
    int64_t *nonbasic;  /* (n): numbers of the nonbasic variables */
    double *norm;       /* (n): decrease of the basic variables' norm per unit of a nonbasic one */
    double *loss;       /* (n): decrease of the basic variables' loss per unit of a nonbasic one */
    double *edge_norm2; /* (n): squared norm of each edge direction */
} ar_dictionary;

/* Compute perturbed, norm, loss and edge_norm2 from the other arrays of a dictionary. */
AR_API void ar_initialize(const ar_program *program, ar_dictionary *dictionary);

/* Return the size of the work memory of ar_minimize, given the sizes of the dictionary. */
AR_API int64_t ar_minimize_bytes(int64_t m, int64_t n);

/* Minimize norm_price * norm + loss_price * loss, starting from a dictionary, which is modified.
 *
 * At most max_pivots iterations are made; their number is written to *pivots. AR_RUNNING means that
 * the limit was reached. The state is the dictionary; the work memory need not be zero.
 * coef (n_weights), offset (n_offsets) and multipliers (n_rows) receive the vertex and the dual
 * variables of the constraints. */
AR_API int32_t ar_minimize(const ar_program *program, ar_dictionary *dictionary, double norm_price,
                           double loss_price, int64_t max_pivots, double *coef, double *offset,
                           double *multipliers, int64_t *pivots, void *work);

/* Linear functions of the weights to maximize, and their solutions.
 *
 * Extreme e has the entries starts[e], ..., starts[e + 1] - 1 of weights and coefficients. To
 * maximize or minimize a single weight, it has one entry, with coefficient +1 or -1.
 *
 * The weights before the last one are candidates. They are not in the dictionary of the start, and
 * are added to that of an extreme when their reduced cost is negative. */
typedef struct {
    int64_t n_extremes;
    const int64_t *starts;      /* (n_extremes + 1): first entry of each extreme */
    const int64_t *weights;     /* (n_entries): number of the weight; distinct in each extreme */
    const double *coefficients; /* (n_entries): coefficient of the weight */
    const double *columns;      /* (n_extremes, m): column of the last weight, if it is used */
    int64_t n_candidates;
    const double *candidates;   /* (n_candidates, m): columns of the candidates at the start */
    const int64_t *excluded;    /* (n_extremes): candidate that must remain zero, or -1 */
    double *coef;               /* (n_extremes, n_weights): solutions; zero at the start */
    double *offset;             /* (n_extremes, n_offsets): zero at the start */
    double *multipliers;        /* (n_extremes, n_rows): dual variables; zero at the start */
    int64_t *status;            /* (n_extremes): AR_OPTIMAL or AR_FAILED */
} ar_extremes;

/* Return the size of the work memory of ar_solve_extremes, given the sizes of the dictionary. */
AR_API int64_t ar_extremes_bytes(const ar_program *program, int64_t m, int64_t n,
                                 int64_t n_candidates);

/* Maximize a linear function of the weights within the budgets, for each extreme from one start.
 *
 * The start is not modified. Rounding errors therefore do not accumulate, and no solution depends
 * on earlier ones. The last weight of the dictionary is a placeholder: if extreme e refers to it,
 * columns[e] becomes the last column of T. An extreme fails after max_pivots iterations.
 * The call returns AR_RUNNING after about max_work operations, else AR_OPTIMAL, or AR_FAILED if
 * there are more than 62 budgets. The number of iterations for all solved extremes is written to
 * *pivots. Outputs of extremes that failed remain zero. */
AR_API int32_t ar_solve_extremes(const ar_program *program, const ar_dictionary *start,
                                 const ar_extremes *extremes, int64_t max_pivots, double max_work,
                                 int64_t *pivots, void *work);

/* ---- Hinge loss over pairs (pairs.c) ---- */

/* Comparable pairs of samples: a union of blocks.
 *
 * In each block, every sample of its high side is paired with every sample of its low side, and
 * should score higher. The weight of a pair is the product of high_weight and low_weight. */
typedef struct {
    int64_t n_samples;
    int64_t n_blocks;
    int64_t n_weights;
    const int64_t *high_starts; /* (n_samples + 1): first entry of each sample in high_blocks */
    const int64_t *high_blocks; /* (n_high): blocks in which the sample is on the high side */
    const int64_t *high_begin;  /* (n_blocks + 1): first place of each block, by block size */
    const int64_t *low_starts;  /* the same for the low side */
    const int64_t *low_blocks;
    const int64_t *low_begin;
    const double *high_weight;  /* (n_samples) */
    const double *low_weight;   /* (n_samples) */
    const double *table;        /* (n_samples, n_weights) */
} ar_pairs;

/* Sums over the pairs: the loss, the smoothed loss, the slopes, and the weight of near pairs. */
typedef struct {
    double loss;
    double smoothed;
    double height;
    double near;
} ar_pair_sums;

/* Return the size of the work memory of ar_pair_losses. */
AR_API int64_t ar_pairs_bytes(const ar_pairs *pairs);

/* Compute the hinge loss over pairs for several models, smoothed over a width for each.
 *
 * scores and order have shape (n_models, n_samples): the score of each sample, and the samples in
 * ascending order of their scores. width and threshold have shape (n_models). Pairs whose residual
 * is at most the threshold do not count; without smoothing, the width is zero.
 * sums (n_models) and slopes (n_models, n_samples) must be zero. slopes receives the derivative of
 * the smoothed loss with respect to the score of each sample, with the opposite sign.
 * near_weight (n_models, n_samples) and cross (n_models, n_samples, n_weights) are zero or both
 * NULL. They receive, for each sample, the weight of its near pairs, and for those of which it is
 * on the high side the sum of weight times the low sample's row of the table. */
AR_API void ar_pair_losses(const ar_pairs *pairs, int64_t n_models, const double *scores,
                           const int64_t *order, const double *width, const double *threshold,
                           ar_pair_sums *sums, double *slopes, double *near_weight, double *cross,
                           void *work);

/* ---- Support vector machines (smo.c) ---- */

/* Samples of binary SVMs, one problem after another.
 *
 * Problem p has the samples members[starts[p]], ..., members[starts[p + 1] - 1] of a kernel matrix.
 * side, weight and the columns of b have the same layout. */
typedef struct {
    int64_t n_members;
    int64_t n_problems;
    const int64_t *members; /* (n_members): sample of each member */
    const int64_t *starts;  /* (n_problems + 1): first member of each problem */
    const double *side;     /* (n_members): label, +1 or -1 */
    const double *weight;   /* (n_members): factor of the member's loss */
} ar_problems;

/* Return the size of the work memory of ar_solve_svms. */
AR_API int64_t ar_svms_bytes(const ar_problems *problems);

/* Solve all problems at all costs.
 *
 * kernel (n_samples, n_samples) is symmetric. costs (n_costs) are in ascending order. b (n_costs,
 * n_members) holds the starting points on entry and the solutions on return. If chain_costs is not
 * zero, each cost starts from the solution of the previous cost. offsets (n_costs, n_problems)
 * receives the offsets of the decision functions. tol is the largest violation of the optimality
 * condition, as in libsvm.
 * The call returns AR_RUNNING after about max_work operations, else AR_OPTIMAL, or AR_FAILED if
 * invalid numbers leave no pair of variables to update. The largest number of iterations for a
 * problem and cost is written to *iterations: if it is max_iterations, a problem did not converge. */
AR_API int32_t ar_solve_svms(const ar_problems *problems, int64_t n_samples, const double *kernel,
                             int64_t n_costs, const double *costs, int64_t chain_costs, double tol,
                             int64_t max_iterations, double max_work, double *b, double *offsets,
                             int64_t *iterations, void *work);

/* Write the decision values of the given rows, samples of the kernel matrix, to `values`.
 *
 * rows has shape (n_rows), values (n_costs, n_problems, n_rows). */
AR_API void ar_decide(const ar_problems *problems, int64_t n_samples, const double *kernel,
                      int64_t n_costs, const double *b, const double *offsets, int64_t n_rows,
                      const int64_t *rows, double *values);

/* ---- Change of the SVM objective without a feature (kernel_criterion.c) ---- */

/* Write, for each feature, the decrease in sum(products * K) / 2 if it is removed from K.
 *
 * columns (n_features, n_rows) holds one feature per row of the array. distances and inner
 * (n_rows, n_rows) are squared distances and inner products of the rows, products (n_rows, n_rows)
 * is symmetric, and changes has shape (n_features). */

/* K = exp(-gamma distance); work has shape (2, n_rows, n_rows). */
AR_API void ar_rbf_changes(int64_t n_features, int64_t n_rows, const double *columns,
                           const double *distances, const double *products, double gamma,
                           double *changes, double *work);

/* K = (gamma inner + coef0)^degree, degree >= 0. */
AR_API void ar_polynomial_changes(int64_t n_features, int64_t n_rows, const double *columns,
                                  const double *inner, const double *products, double gamma,
                                  double coef0, int64_t degree, double *changes);

/* K = tanh(gamma inner + coef0); work has shape (n_rows, n_rows). */
AR_API void ar_sigmoid_changes(int64_t n_features, int64_t n_rows, const double *columns,
                               const double *inner, const double *products, double gamma,
                               double coef0, double *changes, double *work);

/* ---- Processor (processor.c) ---- */

/* Return the x86-64 microarchitecture level of this processor: 3 if it has AVX2, else 1. */
AR_API int32_t ar_vector_level(void);

#endif
