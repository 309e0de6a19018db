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
    double tol;           /* reduced costs and slopes of smaller absolute value are zero */
    double *ratio;        /* (m): step length to the breakpoint of each basic variable */
    int64_t *heap;        /* (m): dictionary rows of the breakpoints along the edge */
    double *pivot_row;    /* (n) */
    double *pivot_column; /* (m) */
} edge;

/* Candidates for the dictionary, and work arrays (columns.c). */
typedef struct {
    int64_t n_candidates;
    int64_t first;              /* number of the weight of the first candidate */
    int64_t excluded;           /* candidate that must not enter, or -1 */
    const double *columns;      /* (n_candidates, m): columns in the dictionary of the start */
    const int64_t *start_basis; /* (m): basic variables of the start */
    int64_t *place;             /* (n_variables): row of a variable, or -1 minus its column */
    double *price;              /* (m): reduced gain of each basic variable of the start */
    double *column;             /* (m) */
    double *reduced;            /* (n_candidates): absolute reduced gains */
    int64_t *is_present;        /* (n_candidates): whether the candidate is in the dictionary */
} generator;

/* Return the number of dictionary columns that are reserved for candidates. */
int64_t column_room(int64_t n_candidates);

/* Take the work arrays of a generator from a block of memory. */
generator make_generator(const ar_program *program, int64_t m, int64_t n_candidates,
                         block *memory);

/* Mark all candidates as absent. */
void reset_generator(generator *g);

/* Add the candidates with the most negative reduced costs; return whether there are any. The places
 * of the objective's weights can then change. */
int add_columns(const ar_program *program, ar_dictionary *dictionary, const objective *goal,
                prices price, generator *g);

/* Return the gain of the objective per unit of the variable at a place of the dictionary (row, or
 * -1 minus column), without the cost and the gain of the variable itself if it is nonbasic. */
double reduced_gain(const ar_program *program, const ar_dictionary *dictionary,
                    const objective *goal, prices price, int64_t place);

/* Compute the reduced costs and the edge norm of one column of a dictionary. */
void initialize_column(const ar_program *program, ar_dictionary *dictionary, int64_t c);

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
