/* Column generation: features that are not in the dictionary enter it when they are needed.
 *
 * A candidate is given by its column in the dictionary of the start. Every variable that is basic at
 * the start stays in the dictionary. Its current column is a column of T, or a unit vector if it is
 * basic. The current column of a candidate is therefore a linear combination of known columns. In
 * the same way, the reduced costs of all candidates follow from those of these variables, so that
 * one product with the columns at the start prices all candidates.
 *
 * When the vertex is optimal for the features in the dictionary, the candidates with the most
 * negative reduced costs are added. If there are too many, candidates that are nonbasic leave first.
 */
#include "simplex.h"

/* Maximum numbers of candidates that are added at a time, and of those in the dictionary that are
 * nonbasic. */
enum { COLUMNS_PER_ROUND = 16, MAX_NONBASIC = 128 };

/* Maximum number of dictionary columns that are reserved for candidates. If a candidate becomes
 * basic, another variable takes its column. */
enum { MAX_ROOM = 1024 };

/* A candidate enters if its reduced cost is below minus this, relative to the norm price. */
static const double ENTERING_TOL = 1e-10;

int64_t column_room(int64_t n_candidates) {
    return n_candidates < MAX_ROOM ? n_candidates : MAX_ROOM;
}

generator make_generator(const ar_program *program, int64_t m, int64_t n_candidates,
                         block *memory) {
    int64_t n_variables = program->n_weights + program->n_offsets + program->n_rows;
    generator g = {.n_candidates = n_candidates};
    g.first = program->n_weights - 1 - n_candidates;
    g.place = take(memory, n_variables);
    g.price = take(memory, m);
    g.column = take(memory, m);
    g.reduced = take(memory, n_candidates);
    g.is_present = take(memory, n_candidates);
    return g;
}

void reset_generator(generator *g) {
    for (int64_t k = 0; k < g->n_candidates; k++) g->is_present[k] = 0;
}

/* Find the row (>= 0) or the column (-1 - column) of each variable in the dictionary. */
static void find_variables(const ar_dictionary *dictionary, generator *g) {
    for (int64_t i = 0; i < dictionary->m; i++) g->place[dictionary->basis[i]] = i;
    for (int64_t c = 0; c < dictionary->n; c++) g->place[dictionary->nonbasic[c]] = -1 - c;
}

/* Return the number of candidates that are in the dictionary and nonbasic. */
static int64_t count_nonbasic(const ar_dictionary *dictionary, const generator *g) {
    int64_t n_nonbasic = 0;
    for (int64_t c = 0; c < dictionary->n; c++) {
        int64_t k = dictionary->nonbasic[c] - g->first;
        n_nonbasic += k >= 0 && k < g->n_candidates;
    }
    return n_nonbasic;
}

/* Compute the absolute reduced gain of each candidate, zero for those in the dictionary. */
static void price_candidates(const ar_program *program, const ar_dictionary *dictionary,
                             const objective *goal, prices price, const generator *g) {
    int64_t m = dictionary->m;
    for (int64_t i = 0; i < m; i++)
        g->price[i] = reduced_gain(program, dictionary, goal, price, g->place[g->start_basis[i]]);
    for (int64_t k = 0; k < g->n_candidates; k++) {
        int is_skipped = g->is_present[k] || k == g->excluded;
        const double *column = g->columns + k * m;
        g->reduced[k] = is_skipped ? 0.0 : absolute(dot(column, g->price, m));
    }
}

/* Compute the current column of candidate k. */
static void current_column(const ar_dictionary *dictionary, const generator *g, int64_t k) {
    int64_t m = dictionary->m;
    const double *start = g->columns + k * m;
    fill(g->column, 0.0, m);
    for (int64_t i = 0; i < m; i++) {
        int64_t place = g->place[g->start_basis[i]];
        if (place >= 0) g->column[place] += start[i];
    }
    for (int64_t r = 0; r < m; r++) {
        const double *row = dictionary->T + r * dictionary->stride;
        double sum = 0.0;
        for (int64_t i = 0; i < m; i++) {
            int64_t place = g->place[g->start_basis[i]];
            if (place < 0) sum += start[i] * row[-1 - place];
        }
        g->column[r] += sum;
    }
}

/* Append the current column of candidate k to the dictionary. */
static void append_column(const ar_program *program, ar_dictionary *dictionary, const generator *g,
                          int64_t k) {
    int64_t c = dictionary->n;
    current_column(dictionary, g, k);
    for (int64_t i = 0; i < dictionary->m; i++)
        dictionary->T[i * dictionary->stride + c] = g->column[i];
    dictionary->nonbasic[c] = g->first + k;
    dictionary->n = c + 1;
    initialize_column(program, dictionary, c);
    g->is_present[k] = 1;
}

/* Remove the candidates that are nonbasic and not part of the objective. */
static void remove_columns(ar_dictionary *dictionary, const objective *goal, const generator *g) {
    int64_t kept = 0;
    for (int64_t c = 0; c < dictionary->n; c++) {
        int64_t k = dictionary->nonbasic[c] - g->first;
        int is_candidate = k >= 0 && k < g->n_candidates;
        for (int64_t e = 0; e < goal->n_terms; e++)
            is_candidate &= dictionary->nonbasic[c] != goal->weights[e];
        if (is_candidate) {
            g->is_present[k] = 0;
            continue;
        }
        for (int64_t i = 0; c != kept && i < dictionary->m; i++) {
            double *row = dictionary->T + i * dictionary->stride;
            row[kept] = row[c];
        }
        dictionary->nonbasic[kept] = dictionary->nonbasic[c];
        dictionary->norm[kept] = dictionary->norm[c];
        dictionary->loss[kept] = dictionary->loss[c];
        dictionary->edge_norm2[kept++] = dictionary->edge_norm2[c];
    }
    dictionary->n = kept;
}

int add_columns(const ar_program *program, ar_dictionary *dictionary, const objective *goal,
                prices price, generator *g) {
    if (g->n_candidates == 0) return 0;
    find_variables(dictionary, g);
    price_candidates(program, dictionary, goal, price, g);
    double limit = price.norm * (1.0 + ENTERING_TOL) + ENTERING_TOL;
    int64_t n_nonbasic = count_nonbasic(dictionary, g);
    int n_added = 0;
    while (n_added < COLUMNS_PER_ROUND) {
        int64_t best = 0;
        for (int64_t k = 1; k < g->n_candidates; k++)
            if (g->reduced[k] > g->reduced[best]) best = k;
        if (!(g->reduced[best] > limit)) break;
        if (n_nonbasic >= MAX_NONBASIC || dictionary->n == dictionary->stride) {
            remove_columns(dictionary, goal, g);
            if (dictionary->n == dictionary->stride) break; /* all reserved columns are in use */
            find_variables(dictionary, g);
            n_nonbasic = count_nonbasic(dictionary, g);
        }
        append_column(program, dictionary, g, best);
        g->reduced[best] = 0.0;
        n_added++, n_nonbasic++;
    }
    return n_added > 0;
}
