/* Primal simplex method for piecewise-linear objectives, on a dense dictionary.
 *
 * The models are linear, with weights w, offsets o and one slack variable per constraint,
 *
 *     r_i = target_i - table_i . w - offset_table_i . o.
 *
 * Their norm is sum_k |w_k| and their loss is sum_i row_weight_i max(0, r_i). The objective is
 * norm_price * norm + loss_price * loss, minus the weights to maximize, if there are any (budgets.c).
 *
 * Variables. The costs |w_k| and max(0, r_i) are piecewise linear, with one breakpoint at zero. A
 * constraint of infinite weight is hard: its slack variable never passes its breakpoint. Offsets
 * are free variables without cost.
 *
 * Vertices. At a vertex, the nonbasic variables are at their breakpoints, and the dictionary
 * x[basis] = value - T x[nonbasic] gives the basic variables. The dictionary also holds the reduced
 * costs, for norm and loss separately, because their prices change from iteration to iteration.
 *
 * Iterations. The entering variable is chosen by steepest edge: the reduced cost per length of the
 * edge is most negative. The ratio test passes breakpoints until the objective stops decreasing
 * (Barrodale and Roberts 1973; also known as bound-flipping or long-step ratio test). Many basic
 * variables can therefore change sides in one pivot. Breakpoints are perturbed to prevent cycling.
 * If no reduced cost is negative, the vertex is optimal. If no breakpoint stops the decrease, the
 * edge is an unbounded ray.
 *
 * Cost. A pivot passes once over T. It recomputes the norms of all edges in the same pass, so that
 * they do not accumulate rounding errors.
 */
#include "simplex.h"

/* Reduced costs and pivots of smaller absolute value are treated as zero. */
static const double REDUCED_COST_TOL = 1e-11;
static const double PIVOT_TOL = 1e-9;

/* Offsets have no cost and enter the basis even if nothing is gained: their reduced cost is at most
 * minus this. */
static const double OFFSET_REDUCED_COST = 1e-10;

/* The ratio test stops when the reduced cost has shrunk to this fraction of its initial value. */
static const double FLAT_FRACTION = 1e-9;

/* Ratios that differ by less than this are ties. */
static const double TIE_TOL = 1e-12;

/* Approximate perturbation of the breakpoints, which makes them distinct. */
static const double PERTURBATION = 1e-9;

/* A value within this distance of its breakpoint is at the breakpoint. */
static const double BREAKPOINT_TOL = 1e-13;

/* ---- Variables ---- */

static inline int is_weight(const ar_program *program, int64_t v) { return v < program->n_weights; }

static inline int64_t first_slack(const ar_program *program) {
    return program->n_weights + program->n_offsets;
}

static inline int is_slack(const ar_program *program, int64_t v) {
    return v >= first_slack(program);
}

static inline double slack_weight(const ar_program *program, int64_t v) {
    return program->row_weight[v - first_slack(program)];
}

/* Return whether v is a slack variable that may be positive at a cost. */
static inline int is_soft(const ar_program *program, int64_t v) {
    return is_slack(program, v) && slack_weight(program, v) < INFINITE;
}

/* Return the price of a slack variable, given its weight; infinite for a hard constraint. */
static inline double slack_price(double weight, double loss_price) {
    return weight < INFINITE ? loss_price * weight : INFINITE;
}

/* ---- Reduced costs ---- */

/* Add a multiple of dictionary row i to the reduced costs `costs`. */
static void add_row(const ar_dictionary *dictionary, int64_t i, double factor,
                    double *restrict costs) {
    const double *restrict row = dictionary->T + i * dictionary->stride;
    for (int64_t c = 0; c < dictionary->n; c++) costs[c] += factor * row[c];
}

/* Add the cost of basic variable i to the reduced costs (times = 1) or remove it (times = -1). */
static void add_basic_cost(const ar_program *program, ar_dictionary *dictionary, int64_t i,
                           double times) {
    int64_t v = dictionary->basis[i];
    double side = dictionary->side[i];
    if (is_weight(program, v))
        add_row(dictionary, i, times * side, dictionary->norm);
    else if (is_soft(program, v) && side > 0)
        add_row(dictionary, i, times * slack_weight(program, v), dictionary->loss);
}

/* Move basic variable i to the other side of its breakpoint. */
static void change_side(const ar_program *program, ar_dictionary *dictionary, int64_t i) {
    int64_t v = dictionary->basis[i];
    double side = dictionary->side[i];
    dictionary->side[i] = -side;
    if (is_weight(program, v))
        add_row(dictionary, i, -2.0 * side, dictionary->norm);
    else if (is_soft(program, v))
        add_row(dictionary, i, -side * slack_weight(program, v), dictionary->loss);
}

void ar_initialize(const ar_program *program, ar_dictionary *dictionary) {
    int64_t m = dictionary->m, n = dictionary->n;
    double *restrict edge_norm2 = dictionary->edge_norm2;
    fill(dictionary->norm, 0.0, n);
    fill(dictionary->loss, 0.0, n);
    fill(edge_norm2, 1.0, n);
    for (int64_t i = 0; i < m; i++) {
        int64_t v = dictionary->basis[i];
        dictionary->perturbed[i] = dictionary->value[i];
        if (is_weight(program, v) || is_slack(program, v)) {
            double multiple = (double)v * 0.6180339887498949; /* golden ratio: fractions differ */
            double shift = 0.5 + (multiple - (double)(int64_t)multiple);
            dictionary->perturbed[i] += dictionary->side[i] * PERTURBATION * shift;
        }
        add_basic_cost(program, dictionary, i, 1.0);
        const double *restrict row = dictionary->T + i * dictionary->stride;
        for (int64_t c = 0; c < n; c++) edge_norm2[c] += row[c] * row[c];
    }
}

void initialize_column(const ar_program *program, ar_dictionary *dictionary, int64_t c) {
    double norm = 0.0, loss = 0.0, square = 1.0;
    for (int64_t i = 0; i < dictionary->m; i++) {
        int64_t v = dictionary->basis[i];
        double entry = dictionary->T[i * dictionary->stride + c], side = dictionary->side[i];
        if (is_weight(program, v)) norm += side * entry;
        if (is_soft(program, v) && side > 0) loss += slack_weight(program, v) * entry;
        square += entry * entry;
    }
    dictionary->norm[c] = norm;
    dictionary->loss[c] = loss;
    dictionary->edge_norm2[c] = square;
}

/* ---- Entering variable ---- */

/* Return the decrease of the objective's basic weights per unit of the nonbasic variable c. */
static double basic_gain(const ar_dictionary *dictionary, const objective *goal, int64_t c) {
    double gain = 0.0;
    for (int64_t e = 0; e < goal->n_terms; e++) {
        int64_t row = goal->places[e];
        if (row >= 0) gain += goal->coefficients[e] * dictionary->T[row * dictionary->stride + c];
    }
    return gain;
}

double reduced_gain(const ar_program *program, const ar_dictionary *dictionary,
                    const objective *goal, prices price, int64_t place) {
    if (place < 0) {
        int64_t c = -1 - place;
        double gain = basic_gain(dictionary, goal, c);
        return gain - price.norm * dictionary->norm[c] - price.loss * dictionary->loss[c];
    }
    int64_t v = dictionary->basis[place];
    double gain = 0.0, side = dictionary->side[place];
    for (int64_t e = 0; e < goal->n_terms; e++)
        if (goal->places[e] == place) gain = goal->coefficients[e];
    if (is_weight(program, v)) return gain - price.norm * side;
    return is_soft(program, v) && side > 0 ? gain - price.loss * slack_weight(program, v) : gain;
}

/* Return the objective coefficient of the nonbasic variable c. */
static double nonbasic_gain(const objective *goal, int64_t c) {
    for (int64_t e = 0; e < goal->n_terms; e++)
        if (goal->places[e] == -1 - c) return goal->coefficients[e];
    return 0.0;
}

/* Choose the entering variable by steepest edge. Return its reduced cost, 0 if optimal. */
static double choose_entering(const ar_program *program, const ar_dictionary *dictionary,
                              const objective *goal, prices price, edge *step) {
    const double *norm = dictionary->norm, *loss = dictionary->loss;
    const double *edge_norm2 = dictionary->edge_norm2;
    double steepest = 0.0, reduced_cost = 0.0;
    for (int64_t c = 0; c < dictionary->n; c++) {
        int64_t v = dictionary->nonbasic[c];
        double base = basic_gain(dictionary, goal, c);
        base = base - price.norm * norm[c] - price.loss * loss[c];
        double up, down; /* reduced costs as the variable increases or decreases */
        if (is_weight(program, v)) {
            double gain = nonbasic_gain(goal, c);
            up = base + price.norm - gain;
            down = -base + price.norm + gain;
        } else if (is_slack(program, v)) {
            up = base + slack_price(slack_weight(program, v), price.loss);
            down = -base;
        } else { /* an offset enters even if its reduced cost is zero */
            up = smaller(base, -OFFSET_REDUCED_COST);
            down = -base;
        }
        double cost = smaller(up, down);
        if (cost < -step->tol && cost * cost > steepest * edge_norm2[c]) {
            step->column = c;
            step->direction = up <= down ? 1.0 : -1.0;
            steepest = cost * cost / edge_norm2[c];
            reduced_cost = cost;
        }
    }
    return reduced_cost;
}

/* ---- Ratio test ---- */

/* Restore the heap property below position `top`: no ratio is larger than those of its children. */
static void sift_down(const double *ratio, int64_t *heap, int64_t top, int64_t size) {
    for (;;) {
        int64_t child = 2 * top + 1;
        if (child >= size) return;
        if (child + 1 < size && ratio[heap[child + 1]] < ratio[heap[child]]) child++;
        if (ratio[heap[child]] >= ratio[heap[top]]) return;
        int64_t moved = heap[top];
        heap[top] = heap[child];
        heap[child] = moved;
        top = child;
    }
}

/* Arrange the breakpoints along the edge as a min-heap of their ratios; return their number. */
static int64_t collect_breakpoints(const ar_program *program, const ar_dictionary *dictionary,
                                   edge *step) {
    int64_t n_breakpoints = 0;
    for (int64_t i = 0; i < dictionary->m; i++) {
        int64_t v = dictionary->basis[i];
        double side = dictionary->side[i];
        double approach = step->direction * step->pivot_column[i] * side;
        if (approach > PIVOT_TOL && (is_weight(program, v) || is_slack(program, v))) {
            step->ratio[i] = larger(dictionary->perturbed[i] * side, 0.0) / approach;
            step->heap[n_breakpoints++] = i;
        }
    }
    for (int64_t p = n_breakpoints / 2 - 1; p >= 0; p--)
        sift_down(step->ratio, step->heap, p, n_breakpoints);
    return n_breakpoints;
}

/* Among the first n_ahead breakpoints of the heap that tie with row r, return the largest pivot. */
static int64_t break_ties(const edge *step, int64_t n_ahead, int64_t r) {
    double farthest = step->ratio[r] + TIE_TOL * (1.0 + step->ratio[r]);
    for (int64_t p = 0; p < n_ahead; p++) {
        int64_t i = step->heap[p];
        if (step->ratio[i] <= farthest &&
            absolute(step->pivot_column[i]) > absolute(step->pivot_column[r]))
            r = i;
    }
    return r;
}

/* Find the breakpoint at which the objective stops decreasing, and move the variables whose
 * breakpoints are passed to the other side. Return the row of the leaving variable, or -1 if the
 * edge is unbounded; no variable is then moved. */
static int64_t ratio_test(const ar_program *program, ar_dictionary *dictionary, prices price,
                          double reduced_cost, edge *step) {
    int64_t n_breakpoints = collect_breakpoints(program, dictionary, step);
    int64_t n_ahead = n_breakpoints, r = -1;
    double flat = step->tol - FLAT_FRACTION * reduced_cost;
    while (n_ahead > 0 && r < 0) {
        int64_t nearest = step->heap[0], v = dictionary->basis[nearest];
        /* The reduced cost increases where a weight changes sign or a constraint is violated. */
        double rise = is_weight(program, v) ? 2.0 * price.norm
                                            : slack_price(slack_weight(program, v), price.loss);
        reduced_cost += rise * absolute(step->pivot_column[nearest]);
        if (reduced_cost >= -flat) {
            r = nearest;
        } else { /* passed: move it behind the heap */
            step->heap[0] = step->heap[--n_ahead];
            step->heap[n_ahead] = nearest;
            sift_down(step->ratio, step->heap, 0, n_ahead);
        }
    }
    if (r < 0) return -1;
    r = break_ties(step, n_ahead, r);
    for (int64_t p = n_ahead; p < n_breakpoints; p++)
        change_side(program, dictionary, step->heap[p]);
    return r;
}

/* ---- Pivot ---- */

/* Subtract column[i] * source from each row i of T, and add the squares to edge_norm2.
 *
 * Four rows are updated together, so that source and edge_norm2 are read only once for them. */
static void update_rows(int64_t m, int64_t n, int64_t stride, double *T, const double *column,
                        const double *restrict source, double *restrict edge_norm2) {
    int64_t i = 0;
    for (; i + 4 <= m; i += 4) {
        double *restrict row0 = T + i * stride, *restrict row1 = row0 + stride;
        double *restrict row2 = row1 + stride, *restrict row3 = row2 + stride;
        double f0 = column[i], f1 = column[i + 1], f2 = column[i + 2], f3 = column[i + 3];
        for (int64_t c = 0; c < n; c++) {
            double t0 = row0[c] - f0 * source[c], t1 = row1[c] - f1 * source[c];
            double t2 = row2[c] - f2 * source[c], t3 = row3[c] - f3 * source[c];
            row0[c] = t0, row1[c] = t1, row2[c] = t2, row3[c] = t3;
            edge_norm2[c] = (((edge_norm2[c] + t0 * t0) + t1 * t1) + t2 * t2) + t3 * t3;
        }
    }
    for (; i < m; i++) {
        double *restrict row = T + i * stride;
        for (int64_t c = 0; c < n; c++) {
            double t = row[c] - column[i] * source[c];
            row[c] = t;
            edge_norm2[c] += t * t;
        }
    }
}

/* Exchange the basic variable of row r with the nonbasic variable of the step's column. */
static void pivot(ar_dictionary *dictionary, int64_t r, edge *step) {
    int64_t m = dictionary->m, n = dictionary->n, q = step->column, stride = dictionary->stride;
    double *T = dictionary->T, *source = step->pivot_row, *column = step->pivot_column;
    double inverse = 1.0 / column[r];
    double length = dictionary->value[r] * inverse;
    double perturbed_length = step->direction * step->ratio[r];
    for (int64_t c = 0; c < n; c++) source[c] = T[r * stride + c] * inverse;
    source[q] = inverse;
    /* With these values, update_rows also updates the pivot row and column correctly. */
    fill(T + r * stride, 0.0, n);
    for (int64_t i = 0; i < m; i++) T[i * stride + q] = 0.0;
    column[r] = -1.0;
    fill(dictionary->edge_norm2, 1.0, n);
    update_rows(m, n, stride, T, column, source, dictionary->edge_norm2);
    for (int64_t i = 0; i < m; i++) {
        dictionary->value[i] -= column[i] * length;
        dictionary->perturbed[i] -= column[i] * perturbed_length;
    }
    dictionary->value[r] = length;
    dictionary->perturbed[r] = perturbed_length;
    double norm_factor = dictionary->norm[q], loss_factor = dictionary->loss[q];
    dictionary->norm[q] = dictionary->loss[q] = 0.0;
    for (int64_t c = 0; c < n; c++) {
        dictionary->norm[c] -= norm_factor * source[c];
        dictionary->loss[c] -= loss_factor * source[c];
    }
    int64_t entering = dictionary->nonbasic[q];
    dictionary->nonbasic[q] = dictionary->basis[r];
    dictionary->basis[r] = entering;
    dictionary->side[r] = step->direction;
}

int32_t iterate(const ar_program *program, ar_dictionary *dictionary, const objective *goal,
                prices price, edge *step) {
    double reduced_cost = choose_entering(program, dictionary, goal, price, step);
    if (reduced_cost == 0.0) return AR_OPTIMAL;
    for (int64_t i = 0; i < dictionary->m; i++)
        step->pivot_column[i] = dictionary->T[i * dictionary->stride + step->column];
    int64_t r = ratio_test(program, dictionary, price, reduced_cost, step);
    if (r < 0) return AR_UNBOUNDED;
    add_basic_cost(program, dictionary, r, -1.0);
    pivot(dictionary, r, step);
    add_basic_cost(program, dictionary, r, 1.0);
    for (int64_t e = 0; e < goal->n_terms; e++) {
        if (dictionary->basis[r] == goal->weights[e])
            goal->places[e] = r;
        else if (dictionary->nonbasic[step->column] == goal->weights[e])
            goal->places[e] = -1 - step->column;
    }
    return PIVOTED;
}

void remove_perturbation(const ar_program *program, ar_dictionary *dictionary) {
    for (int64_t i = 0; i < dictionary->m; i++) {
        int64_t v = dictionary->basis[i];
        dictionary->perturbed[i] = dictionary->value[i];
        /* The slack variable of a hard constraint exceeds its breakpoint by at most the
         * perturbation. It keeps its side and is treated as being at the breakpoint. */
        int can_change = is_weight(program, v) || is_soft(program, v);
        if (can_change && dictionary->value[i] * dictionary->side[i] < -BREAKPOINT_TOL)
            change_side(program, dictionary, i);
    }
}

/* ---- Solutions ---- */

/* Write one variable to coef or offset, and add its cost to `total`. */
static void write_variable(const ar_program *program, int64_t v, double value, double *coef,
                           double *offset, prices *total) {
    if (is_weight(program, v)) {
        coef[v] = value;
        total->norm += absolute(value);
    } else if (!is_slack(program, v)) {
        offset[v - program->n_weights] = value;
    } else if (value > 0.0 && is_soft(program, v)) {
        total->loss += slack_weight(program, v) * value;
    }
}

prices write_vertex(const ar_program *program, const ar_dictionary *dictionary, double *coef,
                    double *offset) {
    prices total = {0.0, 0.0};
    fill(coef, 0.0, program->n_weights);
    fill(offset, 0.0, program->n_offsets);
    for (int64_t i = 0; i < dictionary->m; i++)
        write_variable(program, dictionary->basis[i], dictionary->value[i], coef, offset, &total);
    return total;
}

prices write_ray(const ar_program *program, const ar_dictionary *dictionary, const edge *step,
                 double *coef, double *offset) {
    prices total = {0.0, 0.0};
    fill(coef, 0.0, program->n_weights);
    fill(offset, 0.0, program->n_offsets);
    for (int64_t i = 0; i < dictionary->m; i++)
        write_variable(program, dictionary->basis[i], -step->direction * step->pivot_column[i],
                       coef, offset, &total);
    write_variable(program, dictionary->nonbasic[step->column], step->direction, coef, offset,
                   &total);
    return total;
}

void write_multipliers(const ar_program *program, const ar_dictionary *dictionary,
                       const objective *goal, prices price, double *multipliers) {
    int64_t n = dictionary->n, first = first_slack(program);
    for (int64_t i = 0; i < dictionary->m; i++) {
        int64_t v = dictionary->basis[i];
        if (!is_slack(program, v)) continue;
        int is_violated = dictionary->side[i] > 0 && is_soft(program, v);
        multipliers[v - first] = is_violated ? slack_weight(program, v) * price.loss : 0.0;
    }
    for (int64_t c = 0; c < n; c++) {
        int64_t v = dictionary->nonbasic[c];
        if (!is_slack(program, v)) continue;
        double dual = price.norm * dictionary->norm[c] + price.loss * dictionary->loss[c];
        dual -= basic_gain(dictionary, goal, c);
        /* Clip rounding errors, which would loosen the certified bound. */
        double largest = slack_price(slack_weight(program, v), price.loss);
        multipliers[v - first] = smaller(larger(dual, 0.0), largest);
    }
}

/* ---- Entry point ---- */

edge make_edge(int64_t m, int64_t n, block *memory) {
    edge step = {.column = 0, .direction = 0.0, .tol = REDUCED_COST_TOL};
    step.ratio = take(memory, m);
    step.heap = take(memory, m);
    step.pivot_row = take(memory, n);
    step.pivot_column = take(memory, m);
    return step;
}

int64_t ar_minimize_bytes(int64_t m, int64_t n) {
    block memory = {NULL, 0};
    make_edge(m, n, &memory);
    return memory.used;
}

int32_t ar_minimize(const ar_program *program, ar_dictionary *dictionary, double norm_price,
                    double loss_price, int64_t max_pivots, double *coef, double *offset,
                    double *multipliers, int64_t *pivots, void *work) {
    block memory = {work, 0};
    edge step = make_edge(dictionary->m, dictionary->n, &memory);
    objective goal = no_objective;
    prices price = {norm_price, loss_price};
    int32_t status = PIVOTED;
    for (*pivots = 0; status == PIVOTED && *pivots < max_pivots; ++*pivots)
        status = iterate(program, dictionary, &goal, price, &step);
    write_vertex(program, dictionary, coef, offset);
    write_multipliers(program, dictionary, &goal, price, multipliers);
    return status;
}
