/* Hinge loss over comparable pairs of samples, smoothed over a width, with its derivatives.
 *
 * A pair (i, j) has the residual r = 1 - score_i + score_j and the weight u_i v_j. Its loss max(0, r)
 * is smoothed over a width h:
 *
 *   r^2 / (2 h) for 0 < r < h,    r - h / 2 for r >= h,    with slope min(r / h, 1).
 *
 * The pairs are those of a union of blocks: in each block, every sample of the high side is paired
 * with every sample of the low side. Within a block, both sides are sorted by score. For sample i,
 * the low samples before `begin` have no loss, those from `begin` to `linear` are near, with
 * 0 < r <= h, and those from `linear` on are far. Both positions grow with the score of i, so one
 * pass over both sides finds them all. Sums over the near or far samples are differences of prefix
 * sums. The cost is linear in the number of entries of the blocks, not in the number of pairs.
 *
 * The samples of a model are sorted once. Distributing them to their blocks keeps their order.
 */
#include "core.h"
#include "numeric.h"

/* Sorted samples of both sides of all blocks, and sums over the low side of one block. */
typedef struct {
    int64_t *high, *low;                 /* samples, by block, then by score */
    int64_t *next_high, *next_low;       /* next free place of each block */
    double *weight, *score, *square;     /* prefix sums of v, v b and v b^2, with b the score */
    double *near, *near_score, *far;     /* changes of the sums of u, u a and u, over the low side */
    double *window;                      /* sum of v x over the near samples */
} scratch;

static int64_t divide_work(const ar_pairs *pairs, void *work, scratch *parts) {
    block memory = {work, 0};
    int64_t n = pairs->low_begin[pairs->n_blocks] + 1;
    parts->high = take(&memory, pairs->high_begin[pairs->n_blocks]);
    parts->low = take(&memory, n);
    parts->next_high = take(&memory, pairs->n_blocks);
    parts->next_low = take(&memory, pairs->n_blocks);
    double **sums[] = {&parts->weight, &parts->score, &parts->square,
                       &parts->near,   &parts->near_score, &parts->far};
    for (int k = 0; k < 6; k++) *sums[k] = take(&memory, n);
    parts->window = take(&memory, pairs->n_weights);
    return memory.used;
}

int64_t ar_pairs_bytes(const ar_pairs *pairs) {
    scratch parts;
    return divide_work(pairs, NULL, &parts);
}

/* Distribute samples, in the given order, to the blocks of one side. */
static void distribute(int64_t n_samples, const int64_t *order, const int64_t *starts,
                       const int64_t *blocks, int64_t n_blocks, const int64_t *begin,
                       int64_t *next, int64_t *samples) {
    for (int64_t b = 0; b < n_blocks; b++) next[b] = begin[b];
    for (int64_t k = 0; k < n_samples; k++) {
        int64_t sample = order[k];
        for (int64_t e = starts[sample]; e < starts[sample + 1]; e++)
            samples[next[blocks[e]]++] = sample;
    }
}

/* Compute the prefix sums over the low samples of a block, and clear the sums of the high side. */
static void sum_low_side(const ar_pairs *pairs, const double *scores, const int64_t *low, int64_t n,
                         scratch *parts) {
    parts->weight[0] = parts->score[0] = parts->square[0] = 0.0;
    for (int64_t k = 0; k < n; k++) {
        double v = pairs->low_weight[low[k]], b = scores[low[k]];
        parts->weight[k + 1] = parts->weight[k] + v;
        parts->score[k + 1] = parts->score[k] + v * b;
        parts->square[k + 1] = parts->square[k] + v * b * b;
    }
    fill(parts->near, 0.0, n + 1);
    fill(parts->near_score, 0.0, n + 1);
    fill(parts->far, 0.0, n + 1);
}

/* Move the window of near samples to [begin, linear) and update the sum of v x over it. */
static void move_window(const ar_pairs *pairs, const int64_t *low, int64_t window[2],
                        int64_t begin, int64_t linear, double *restrict sum) {
    int64_t d = pairs->n_weights;
    if (begin >= window[1]) { /* no common samples: start again, without rounding errors */
        fill(sum, 0.0, d);
        window[0] = window[1] = begin;
    }
    for (; window[0] < begin; window[0]++) {
        const double *x = pairs->table + low[window[0]] * d;
        double v = pairs->low_weight[low[window[0]]];
        for (int64_t k = 0; k < d; k++) sum[k] -= v * x[k];
    }
    for (; window[1] < linear; window[1]++) {
        const double *x = pairs->table + low[window[1]] * d;
        double v = pairs->low_weight[low[window[1]]];
        for (int64_t k = 0; k < d; k++) sum[k] += v * x[k];
    }
}

/* Add the pairs of one block to the sums of a model. */
static void add_block(const ar_pairs *pairs, int64_t b, const double *scores, double width,
                      double threshold, ar_pair_sums *sums, double *slopes, double *near_weight,
                      double *cross, scratch *parts) {
    const int64_t *high = parts->high + pairs->high_begin[b], *low = parts->low + pairs->low_begin[b];
    int64_t n_high = pairs->high_begin[b + 1] - pairs->high_begin[b];
    int64_t n = pairs->low_begin[b + 1] - pairs->low_begin[b];
    int64_t d = pairs->n_weights, begin = 0, linear = 0, window[2] = {0, 0};
    double inverse = width > 0.0 ? 1.0 / width : 0.0;
    sum_low_side(pairs, scores, low, n, parts);
    for (int64_t k = 0; k < n_high; k++) {
        int64_t sample = high[k];
        double a = scores[sample], u = pairs->high_weight[sample], missing = 1.0 - a;
        while (begin < n && scores[low[begin]] <= a - 1.0 + threshold) begin++;
        if (linear < begin) linear = begin;
        while (width > 0.0 && linear < n && scores[low[linear]] <= a - 1.0 + width) linear++;
        double far = parts->weight[n] - parts->weight[linear];
        double far_score = parts->score[n] - parts->score[linear];
        double near = parts->weight[linear] - parts->weight[begin];
        double near_score = parts->score[linear] - parts->score[begin];
        double near_square = parts->square[linear] - parts->square[begin];
        double shortfall = missing * near + near_score;
        double square = missing * (missing * near + 2.0 * near_score) + near_square;
        double slope = u * (far + inverse * shortfall);
        sums->loss += u * (missing * far + far_score + shortfall);
        sums->smoothed += u * ((missing - 0.5 * width) * far + far_score + 0.5 * inverse * square);
        sums->height += slope;
        sums->near += u * near;
        slopes[sample] += slope;
        parts->near[begin] += u;
        parts->near[linear] -= u;
        parts->near_score[begin] += u * a;
        parts->near_score[linear] -= u * a;
        parts->far[linear] += u;
        if (!cross) continue;
        near_weight[sample] += u * near;
        move_window(pairs, low, window, begin, linear, parts->window);
        for (int64_t i = 0; i < d; i++) cross[sample * d + i] += u * parts->window[i];
    }
    double near = 0.0, near_score = 0.0, far = 0.0;
    for (int64_t k = 0; k < n; k++) {
        int64_t sample = low[k];
        double v = pairs->low_weight[sample];
        near += parts->near[k];
        near_score += parts->near_score[k];
        far += parts->far[k];
        slopes[sample] -= v * (far + inverse * ((1.0 + scores[sample]) * near - near_score));
        if (cross) near_weight[sample] += v * near;
    }
}

void ar_pair_losses(const ar_pairs *pairs, int64_t n_models, const double *scores,
                    const int64_t *order, const double *width, const double *threshold,
                    ar_pair_sums *sums, double *slopes, double *near_weight, double *cross,
                    void *work) {
    int64_t n = pairs->n_samples, d = pairs->n_weights;
    scratch parts;
    divide_work(pairs, work, &parts);
    for (int64_t m = 0; m < n_models; m++) {
        double *model_near = near_weight ? near_weight + m * n : NULL;
        double *model_cross = cross ? cross + m * n * d : NULL;
        distribute(n, order + m * n, pairs->high_starts, pairs->high_blocks, pairs->n_blocks,
                   pairs->high_begin, parts.next_high, parts.high);
        distribute(n, order + m * n, pairs->low_starts, pairs->low_blocks, pairs->n_blocks,
                   pairs->low_begin, parts.next_low, parts.low);
        for (int64_t b = 0; b < pairs->n_blocks; b++)
            add_block(pairs, b, scores + m * n, width[m], threshold[m], sums + m, slopes + m * n,
                      model_near, model_cross, &parts);
    }
}
