/* Simplex iterations, shared by simplex.c and budgets.c. Not part of the interface of the core. */
#ifndef ALLRELEVANT_SIMPLEX_H
#define ALLRELEVANT_SIMPLEX_H

#include "core.h"
#include "numeric.h"

/* Status of an iteration, in addition to AR_OPTIMAL and AR_UNBOUNDED. */
#define PIVOTED AR_RUNNING

/* Objective sum_e coefficients[e] * w[weights[e]], to be maximized. places[e] is the dictionary row
 * of the weight if it is basic, else -1 minus its column. */
typedef struct {
    int64_t n_terms;
    const int64_t *weights;
    const double *coefficients;
    int64_t *places;
} objective;

/* Objective without weights: only norm and loss count. */
static const objective no_objective = {0, NULL, NULL, NULL};

/* Prices of norm and loss. */
typedef struct {
    double norm;
    double loss;
} prices;

/* Edge along which an iteration moves, and work arrays. */
typedef struct {
    int64_t column;       /* column of the entering variable */
    double direction;     /* +1 if the entering variable increases, else -1 */
    double *ratio;        /* (m): step length to the breakpoint of each basic variable */
    int64_t *heap;        /* (m): dictionary rows of the breakpoints along the edge */
    double *pivot_row;    /* (n) */
    double *pivot_column; /* (m) */
} edge;

/* Take the work arrays of an edge from a block of memory. */
edge make_edge(int64_t m, int64_t n, block *memory);

/* Perform one iteration at the given prices. Return AR_OPTIMAL, PIVOTED or AR_UNBOUNDED. */
int32_t iterate(const ar_program *program, ar_dictionary *dictionary, const objective *goal,
                prices price, edge *step);

/* Remove the perturbation, and change the side of variables that are beyond their breakpoint. */
void remove_perturbation(const ar_program *program, ar_dictionary *dictionary);

/* Write the vertex, or the ray of the last step, to coef and offset. Return its norm and loss; for
 * a ray, per unit length. */
prices write_vertex(const ar_program *program, const ar_dictionary *dictionary, double *coef,
                    double *offset);
prices write_ray(const ar_program *program, const ar_dictionary *dictionary, const edge *step,
                 double *coef, double *offset);

/* Write the dual variables of the constraints at the given prices. */
void write_multipliers(const ar_program *program, const ar_dictionary *dictionary,
                       const objective *goal, prices price, double *multipliers);

#endif
