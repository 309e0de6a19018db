/* Largest weights within budgets on norm and loss, by Dantzig-Wolfe decomposition.
 *
 * The linear program is: maximize a weight, or a linear function c . w of several weights, over all
 * models, subject to the budgets
 *
 *     a_b norm + c_b loss <= limit_b.
 *
 * Without the budgets, its feasible set is that of simplex.c, whose vertices are easy to visit. The
 * decomposition alternates between two steps:
 *
 * Master program. The restricted master program optimizes over convex combinations of the vertices
 * visited so far, plus rays. It has one constraint per budget and one convexity constraint, so its
 * basis has order n_budgets + 1, and the revised simplex method solves it in a few basis changes.
 * Its dual variables are prices of norm and loss.
 *
 * Pricing. One simplex iteration at these prices leads to an adjacent vertex, which becomes a new
 * column of the master program. If no reduced cost is negative, the solution of the master program
 * is optimal: it attains the bound that the prices certify.
 *
 * Start. The first vertex may exceed budgets. Artificial variables measure the excess, at a high
 * penalty (big-M method). The first prices of the master program are poor, because it contains
 * only one vertex. A fraction of the prices at which the start is optimal is added to them. This
 * fraction decays.
 *
 * End. When the vertex is optimal, this fraction is set to zero, then the perturbation of the
 * breakpoints is removed. The iterations continue until the vertex is optimal without either.
 */
#include "simplex.h"

/* Tolerances of the master program for reduced costs and for pivots. */
static const double MASTER_REDUCED_COST_TOL = 1e-12;
static const double MASTER_PIVOT_TOL = 1e-14;

/* Maximum number of basis changes per solve of the master program; its basis is then accepted. Two
 * nearly equal columns could otherwise replace each other forever. */
enum { MAX_BASIS_CHANGES = 50 };

/* Maximum number of columns (vertices and rays) of the master program. */
enum { POOL_SIZE = 64 };

/* Big-M penalty per unit of budget excess, in units of the objective weight. The start may exceed
 * budgets; the solution must not. (If the penalty is too small, the solve fails.) */
static const double EXCESS_PENALTY = 1e5;

/* An excess below this fraction of a budget limit is ignored. */
static const double EXCESS_TOL = 1e-10;

/* Initial fraction of the start prices, its decay per iteration, and the value below which it is
 * set to zero. */
static const double START_FRACTION = 0.5, START_FRACTION_DECAY = 0.9, MIN_START_FRACTION = 1e-3;

/* Tolerance of reduced costs and slopes: the first and the last value. A ray that the master program
 * cannot use has a slope of zero up to rounding; the tolerance then grows tenfold. */
static const double FIRST_TOL = 1e-11, MAX_TOL = 1e-7;

/* Floating-point operations per cell of the dictionary in one iteration. */
static const double WORK_PER_CELL = 4.0;

/* ---- Master program ---- */

/* Restricted master program. With n budgets:
 *
 * The pool holds one column per vertex or ray: its use of each budget (for a ray, per unit length),
 * then its coefficient in the convexity constraint (vertex: 1, ray: 0). Columns are numbered:
 * v >= 0 is slot v of the pool, -1 - b is the slack variable of budget b, and -1 - n - b is the
 * artificial variable of its excess. */
typedef struct {
    int64_t order;        /* n + 1, the order of the basis */
    const double *limits; /* (n, 3): budgets; the last entry of each is its limit */
    int64_t *pool;        /* (2): number of pool slots in use, and the slot that was filled last */
    double *columns;      /* (POOL_SIZE, n + 1) */
    double *gain;         /* (POOL_SIZE): objective coefficient of each column, c . w */
    double *coef;         /* (POOL_SIZE, n_weights) */
    double *offset;       /* (POOL_SIZE, n_offsets) */
    int64_t *basis;       /* (n + 1): numbers of the basic columns */
    double *basis_matrix; /* (n + 1, n + 1) */
    double *inverse;      /* (n + 1, n + 1): inverse of the basis matrix */
    double *basic_values; /* (n + 1): values of the basic variables */
    double *duals;        /* (n + 1): dual variables of the budgets and the convexity constraint */
} master;

/* Return the right-hand side of row b. */
static double right_side(const master *program, int64_t b) {
    return b < program->order - 1 ? program->limits[3 * b + 2] : 1.0;
}

/* Return the entry of column v in row b. */
static double column_entry(const master *program, int64_t v, int64_t b) {
    int64_t n_budgets = program->order - 1;
    if (v >= 0) return program->columns[v * program->order + b];
    if (v >= -n_budgets) return b == -1 - v ? 1.0 : 0.0;
    return b == -1 - n_budgets - v ? -1.0 : 0.0;
}

/* Return the objective coefficient of column v. */
static double column_gain(const master *program, int64_t v) {
    if (v >= 0) return program->gain[v];
    return v >= 1 - program->order ? 0.0 : -EXCESS_PENALTY;
}

static int is_basic(const master *program, int64_t v) {
    for (int64_t i = 0; i < program->order; i++)
        if (program->basis[i] == v) return 1;
    return 0;
}

/* Reserve an unused slot of the pool, or else its oldest nonbasic slot. */
static int64_t reserve_slot(master *program) {
    int64_t *n_used = &program->pool[0], *newest = &program->pool[1];
    if (*n_used < POOL_SIZE) return *newest = (*n_used)++;
    do *newest = (*newest + 1) % POOL_SIZE;
    while (is_basic(program, *newest));
    return *newest;
}

/* Set the initial basis: one vertex, and the slack or excess variable of each budget. */
static void set_initial_basis(master *program, int64_t slot) {
    int64_t n_budgets = program->order - 1;
    for (int64_t b = 0; b < n_budgets; b++) {
        double limit = right_side(program, b) * (1.0 + EXCESS_TOL);
        int is_exceeded = column_entry(program, slot, b) > limit;
        program->basis[b] = -1 - b - (is_exceeded ? n_budgets : 0);
    }
    program->basis[n_budgets] = slot;
}

/* Return whether all excess variables are zero, so that the solution is within all budgets. */
static int is_within_budgets(const master *program) {
    for (int64_t i = 0; i < program->order; i++) {
        int64_t b = -program->order - program->basis[i];
        if (b >= 0 && program->basic_values[i] > EXCESS_TOL * (1.0 + right_side(program, b)))
            return 0;
    }
    return 1;
}

/* Subtract multiples of row c from all other rows, so that column c becomes a unit vector. */
static void eliminate(double *matrix, double *inverse, int64_t n, int64_t c) {
    double scale = 1.0 / matrix[c * n + c];
    for (int64_t k = 0; k < n; k++) {
        matrix[c * n + k] *= scale;
        inverse[c * n + k] *= scale;
    }
    for (int64_t i = 0; i < n; i++) {
        double factor = matrix[i * n + c];
        for (int64_t k = 0; i != c && k < n; k++) {
            matrix[i * n + k] -= factor * matrix[c * n + k];
            inverse[i * n + k] -= factor * inverse[c * n + k];
        }
    }
}

static void swap_rows(double *matrix, int64_t n, int64_t a, int64_t b) {
    for (int64_t k = 0; k < n; k++) {
        double moved = matrix[a * n + k];
        matrix[a * n + k] = matrix[b * n + k];
        matrix[b * n + k] = moved;
    }
}

/* Invert a small matrix by Gauss-Jordan elimination with row pivoting. `inverse` is the identity on
 * entry, and `matrix` is destroyed. Return whether the matrix is nonsingular. */
static int invert(double *matrix, double *inverse, int64_t n) {
    for (int64_t c = 0; c < n; c++) {
        int64_t r = c;
        for (int64_t i = c + 1; i < n; i++)
            if (absolute(matrix[i * n + c]) > absolute(matrix[r * n + c])) r = i;
        if (matrix[r * n + c] == 0.0) return 0;
        swap_rows(matrix, n, c, r);
        swap_rows(inverse, n, c, r);
        eliminate(matrix, inverse, n, c);
    }
    return 1;
}

/* Recompute basis inverse, basic values and duals; return whether the basis is nonsingular. */
static int factorize_basis(master *program) {
    int64_t n = program->order;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t b = 0; b < n; b++) {
            program->inverse[b * n + i] = b == i ? 1.0 : 0.0;
            program->basis_matrix[b * n + i] = column_entry(program, program->basis[i], b);
        }
    }
    if (!invert(program->basis_matrix, program->inverse, n)) return 0;
    fill(program->basic_values, 0.0, n);
    fill(program->duals, 0.0, n);
    for (int64_t i = 0; i < n; i++) {
        double gain = column_gain(program, program->basis[i]);
        for (int64_t b = 0; b < n; b++) {
            program->basic_values[i] += program->inverse[i * n + b] * right_side(program, b);
            program->duals[b] += gain * program->inverse[i * n + b];
        }
    }
    return 1;
}

/* Return the reduced gain of the vertex or ray in a slot of the pool. */
static double reduced_gain_of(const master *program, int64_t slot) {
    double gain = program->gain[slot];
    for (int64_t b = 0; b < program->order; b++)
        gain -= program->duals[b] * program->columns[slot * program->order + b];
    return gain;
}

/* Return the column with the largest reduced gain, or POOL_SIZE if none is positive. */
static int64_t choose_entering_column(const master *program) {
    double best = MASTER_REDUCED_COST_TOL;
    int64_t entering = POOL_SIZE;
    for (int64_t b = 0; b < program->order - 1; b++) {
        if (-program->duals[b] > best) {
            best = -program->duals[b];
            entering = -1 - b;
        }
    }
    for (int64_t v = 0; v < program->pool[0]; v++) {
        double gain = reduced_gain_of(program, v);
        if (gain > best && !is_basic(program, v)) {
            best = gain;
            entering = v;
        }
    }
    return entering;
}

/* Return the leaving column's position in the basis (ratio test), or -1 if unbounded. */
static int64_t choose_leaving_column(const master *program, int64_t entering) {
    int64_t n = program->order, leaving = -1;
    double limit = INFINITE, largest_rate = 0.0;
    for (int64_t i = 0; i < n; i++) {
        double rate = 0.0;
        for (int64_t b = 0; b < n; b++)
            rate += program->inverse[i * n + b] * column_entry(program, entering, b);
        if (!(rate > MASTER_PIVOT_TOL)) continue;
        double ratio = larger(program->basic_values[i], 0.0) / rate;
        if (ratio < limit || (ratio == limit && rate > largest_rate)) {
            leaving = i;
            limit = ratio;
            largest_rate = rate;
        }
    }
    return leaving;
}

/* Solve the master program by the revised simplex method; return whether it succeeded. */
static int solve_master(master *program) {
    for (int changes = 0; changes < MAX_BASIS_CHANGES; changes++) {
        if (!factorize_basis(program)) return 0;
        int64_t entering = choose_entering_column(program);
        if (entering == POOL_SIZE) return 1;
        int64_t leaving = choose_leaving_column(program, entering);
        if (leaving < 0) return 0;
        program->basis[leaving] = entering;
    }
    return factorize_basis(program);
}

/* ---- Search for one extreme ---- */

/* Progress of a search, at the start of the work memory. All zero: not started. */
typedef struct {
    int64_t extreme;    /* extreme that is being solved */
    int64_t is_started; /* whether its first vertex is set */
    int64_t pivots;     /* iterations for this extreme */
    int64_t all_pivots; /* iterations for the extremes before it */
    double start_fraction;
    double tol; /* see edge */
    int64_t is_unperturbed;
    int64_t n_columns; /* number of columns of the dictionary */
} progress;

/* Search for extremes: progress, and the arrays of the work memory. */
typedef struct {
    const ar_program *program;
    progress *now;
    ar_dictionary dictionary; /* current vertex */
    master restricted;
    edge step;
    objective goal; /* of the current extreme */
    generator candidates;
} search;

/* Divide the work memory into progress and arrays, for a dictionary of shape (m, n) at the start. */
static search map_search(const ar_program *program, int64_t m, int64_t n, int64_t n_candidates,
                         block *memory) {
    search s = {.program = program};
    s.now = take(memory, sizeof(progress) / 8);
    ar_dictionary *dictionary = &s.dictionary;
    dictionary->m = m;
    n = dictionary->stride = n + column_room(n_candidates);
    dictionary->T = take(memory, m * n);
    dictionary->value = take(memory, m);
    dictionary->perturbed = take(memory, m);
    dictionary->side = take(memory, m);
    dictionary->basis = take(memory, m);
    dictionary->nonbasic = take(memory, n);
    dictionary->norm = take(memory, n);
    dictionary->loss = take(memory, n);
    dictionary->edge_norm2 = take(memory, n);
    master *restricted = &s.restricted;
    int64_t order = restricted->order = program->n_budgets + 1;
    restricted->limits = program->budgets;
    restricted->columns = take(memory, POOL_SIZE * order);
    restricted->gain = take(memory, POOL_SIZE);
    restricted->coef = take(memory, POOL_SIZE * program->n_weights);
    restricted->offset = take(memory, POOL_SIZE * program->n_offsets);
    restricted->basis = take(memory, order);
    restricted->basis_matrix = take(memory, order * order);
    restricted->inverse = take(memory, order * order);
    restricted->basic_values = take(memory, order);
    restricted->duals = take(memory, order);
    restricted->pool = take(memory, 2);
    s.step = make_edge(m, n, memory);
    s.goal.places = take(memory, program->n_weights);
    s.candidates = make_generator(program, m, n_candidates, memory);
    return s;
}

/* Add the vertex or ray of the last iteration to the pool and return its slot. */
static int64_t add_column(search *s, int32_t status) {
    master *restricted = &s->restricted;
    int64_t slot = reserve_slot(restricted), order = restricted->order;
    double *coef = restricted->coef + slot * s->program->n_weights;
    double *offset = restricted->offset + slot * s->program->n_offsets;
    int is_vertex = status == PIVOTED;
    prices used = is_vertex ? write_vertex(s->program, &s->dictionary, coef, offset)
                            : write_ray(s->program, &s->dictionary, &s->step, coef, offset);
    double *column = restricted->columns + slot * order;
    for (int64_t b = 0; b < order - 1; b++) {
        const double *budget = s->program->budgets + 3 * b;
        column[b] = budget[0] * used.norm + budget[1] * used.loss;
    }
    column[order - 1] = is_vertex ? 1.0 : 0.0;
    restricted->gain[slot] = 0.0;
    for (int64_t e = 0; e < s->goal.n_terms; e++)
        restricted->gain[slot] += s->goal.coefficients[e] * coef[s->goal.weights[e]];
    return slot;
}

/* Return the prices of norm and loss implied by the dual variables of the budgets. */
static prices budget_prices(const search *s) {
    prices price = {0.0, 0.0};
    for (int64_t b = 0; b < s->program->n_budgets; b++) {
        double dual = larger(s->restricted.duals[b], 0.0);
        price.norm += dual * s->program->budgets[3 * b];
        price.loss += dual * s->program->budgets[3 * b + 1];
    }
    return price;
}

/* Set the objective to that of the current extreme. The places of its weights are not changed. */
static void set_goal(search *s, const ar_extremes *extremes) {
    const int64_t *starts = extremes->starts + s->now->extreme;
    s->goal.n_terms = starts[1] - starts[0];
    s->goal.weights = extremes->weights + starts[0];
    s->goal.coefficients = extremes->coefficients + starts[0];
    s->candidates.excluded = extremes->excluded[s->now->extreme];
}

/* Find the places of the objective's weights in the dictionary. */
static void find_places(search *s) {
    const ar_dictionary *dictionary = &s->dictionary;
    for (int64_t e = 0; e < s->goal.n_terms; e++) {
        for (int64_t i = 0; i < dictionary->m; i++)
            if (dictionary->basis[i] == s->goal.weights[e]) s->goal.places[e] = i;
        for (int64_t c = 0; c < dictionary->n; c++)
            if (dictionary->nonbasic[c] == s->goal.weights[e]) s->goal.places[e] = -1 - c;
    }
}

/* Copy the start, with the column of the extreme if one of its weights is the placeholder. */
static void copy_start(search *s, const ar_dictionary *start, const ar_extremes *extremes) {
    ar_dictionary *to = &s->dictionary;
    int64_t m = to->m, n = to->n = start->n, e = s->now->extreme;
    for (int64_t i = 0; i < m; i++)
        copy(to->T + i * to->stride, start->T + i * start->stride, n);
    copy(to->value, start->value, m);
    copy(to->perturbed, start->perturbed, m);
    copy(to->side, start->side, m);
    for (int64_t i = 0; i < m; i++) to->basis[i] = start->basis[i];
    for (int64_t c = 0; c < n; c++) to->nonbasic[c] = start->nonbasic[c];
    copy(to->norm, start->norm, n);
    copy(to->loss, start->loss, n);
    copy(to->edge_norm2, start->edge_norm2, n);
    int has_placeholder = 0;
    for (int64_t k = 0; k < s->goal.n_terms; k++)
        has_placeholder |= s->goal.weights[k] == s->program->n_weights - 1;
    if (has_placeholder && n > 0) {
        for (int64_t i = 0; i < m; i++) to->T[i * to->stride + n - 1] = extremes->columns[e * m + i];
        ar_initialize(s->program, to);
    }
}

static void begin_extreme(search *s, const ar_dictionary *start, const ar_extremes *extremes) {
    set_goal(s, extremes);
    copy_start(s, start, extremes);
    find_places(s);
    s->now->is_started = 1;
    s->now->pivots = 0;
    s->now->start_fraction = START_FRACTION;
    s->now->tol = FIRST_TOL;
    s->now->is_unperturbed = 0;
    reset_generator(&s->candidates);
    s->restricted.pool[0] = s->restricted.pool[1] = 0;
    set_initial_basis(&s->restricted, add_column(s, PIVOTED));
}

/* Solve the master program and perform one pricing iteration. Return AR_RUNNING unless the extreme
 * is solved or has failed. */
static int32_t continue_extreme(search *s) {
    progress *now = s->now;
    if (!solve_master(&s->restricted)) return AR_FAILED;
    prices price = budget_prices(s);
    price.norm += now->start_fraction * s->program->start_prices[0];
    price.loss += now->start_fraction * s->program->start_prices[1];
    s->step.tol = now->tol;
    int32_t status = iterate(s->program, &s->dictionary, &s->goal, price, &s->step);
    if (status == AR_OPTIMAL && now->start_fraction > 0.0) {
        now->start_fraction = 0.0;
    } else if (status == AR_OPTIMAL &&
               add_columns(s->program, &s->dictionary, &s->goal, price, &s->candidates)) {
        find_places(s);
    } else if (status == AR_OPTIMAL && !now->is_unperturbed) {
        remove_perturbation(s->program, &s->dictionary);
        now->is_unperturbed = 1;
    } else if (status == AR_OPTIMAL) {
        return is_within_budgets(&s->restricted) ? AR_OPTIMAL : AR_FAILED;
    } else {
        int is_small = !(now->start_fraction > MIN_START_FRACTION);
        now->start_fraction = is_small ? 0.0 : now->start_fraction * START_FRACTION_DECAY;
        int64_t slot = add_column(s, status);
        if (status == AR_UNBOUNDED &&
            !(reduced_gain_of(&s->restricted, slot) > MASTER_REDUCED_COST_TOL)) {
            now->tol *= 10.0;
            if (now->tol > MAX_TOL) return AR_FAILED;
        }
    }
    return AR_RUNNING;
}

/* Write the solution of the current extreme, and proceed to the next one. */
static void finish_extreme(search *s, const ar_extremes *extremes, int32_t status) {
    const ar_program *program = s->program;
    const master *restricted = &s->restricted;
    int64_t e = s->now->extreme;
    extremes->status[e] = status;
    for (int64_t i = 0; status == AR_OPTIMAL && i < restricted->order; i++) {
        int64_t v = restricted->basis[i];
        if (v < 0) continue;
        for (int64_t k = 0; k < program->n_weights; k++)
            extremes->coef[e * program->n_weights + k] +=
                restricted->basic_values[i] * restricted->coef[v * program->n_weights + k];
        for (int64_t k = 0; k < program->n_offsets; k++)
            extremes->offset[e * program->n_offsets + k] +=
                restricted->basic_values[i] * restricted->offset[v * program->n_offsets + k];
    }
    if (status == AR_OPTIMAL)
        write_multipliers(program, &s->dictionary, &s->goal, budget_prices(s),
                          extremes->multipliers + e * program->n_rows);
    s->now->all_pivots += s->now->pivots;
    s->now->extreme++;
    s->now->is_started = 0;
}

/* ---- Entry points ---- */

int64_t ar_extremes_bytes(const ar_program *program, int64_t m, int64_t n, int64_t n_candidates) {
    block memory = {NULL, 0};
    map_search(program, m, n, n_candidates, &memory);
    return memory.used;
}

int32_t ar_solve_extremes(const ar_program *program, const ar_dictionary *start,
                          const ar_extremes *extremes, int64_t max_pivots, double max_work,
                          int64_t *pivots, void *work) {
    block memory = {work, 0};
    search s = map_search(program, start->m, start->n, extremes->n_candidates, &memory);
    s.candidates.columns = extremes->candidates;
    s.candidates.start_basis = start->basis;
    s.dictionary.n = s.now->n_columns;
    if (s.restricted.order >= POOL_SIZE) return AR_FAILED;
    double work_per_iteration = WORK_PER_CELL * ((double)start->m * (double)start->n + 1.0);
    double done = 0.0;
    if (s.now->is_started) set_goal(&s, extremes);
    while (s.now->extreme < extremes->n_extremes && done < max_work) {
        if (!s.now->is_started) begin_extreme(&s, start, extremes);
        int32_t status = s.now->pivots < max_pivots ? continue_extreme(&s) : AR_FAILED;
        if (status == AR_RUNNING)
            s.now->pivots++;
        else
            finish_extreme(&s, extremes, status);
        done += work_per_iteration;
    }
    s.now->n_columns = s.dictionary.n;
    *pivots = s.now->all_pivots;
    return s.now->extreme < extremes->n_extremes ? AR_RUNNING : AR_OPTIMAL;
}
