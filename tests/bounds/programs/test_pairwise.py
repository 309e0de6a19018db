"""Tests of the loss over comparable pairs against enumeration of all pairs."""

from itertools import product

import numpy as np
import pytest

from allrelevant.bounds.programs.comparable_pairs import class_pairs, ordered_pairs
from allrelevant.bounds.programs.pairwise import PairwiseLoss


def random_pairs(seed):
    """Return comparable pairs of one kind, and the same pairs as a set, by definition."""
    rng = np.random.RandomState(seed)
    n = rng.randint(5, 40)
    if seed % 3 == 0:
        rank, can_precede = rng.randint(0, 12, n), rng.rand(n) < 0.6
        pairs = ordered_pairs(rank, can_precede)
        listed = {
            (i, j) for i, j in product(range(n), repeat=2) if rank[i] < rank[j] and can_precede[i]
        }
    else:
        groups = None if seed % 3 == 1 else rng.randint(0, 4, n)
        is_high = rng.rand(n) < 0.4
        pairs = class_pairs(is_high, groups)
        listed = {
            (i, j)
            for i, j in product(range(n), repeat=2)
            if is_high[i] and not is_high[j] and (groups is None or groups[i] == groups[j])
        }
    return n, pairs, listed, rng


@pytest.mark.parametrize("seed", range(30))
def test_blocks_contain_each_comparable_pair_once(seed):
    _, pairs, listed, _ = random_pairs(seed)
    found = list(zip(*(side.tolist() for side in pairs.list_pairs()), strict=True))
    assert len(found) == len(set(found)) == pairs.n_pairs
    assert set(found) == listed


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("width", [0.0, 0.01, 0.3, 1.0])
def test_loss_and_derivatives_match_a_sum_over_all_pairs(seed, width):
    n, pairs, listed, rng = random_pairs(seed)
    if not listed:
        return
    X, weight = rng.normal(size=(n, 3)), rng.rand(n) + 0.2
    coef = rng.normal(size=(4, 3))
    loss = PairwiseLoss(X, pairs, weight)
    value = loss.smoothed(coef, np.full(4, width), with_curvature=width > 0)
    i, j = np.array(sorted(listed)).T
    pair_weight = weight[i] * weight[j] / (weight[i] * weight[j]).sum()
    difference = X[i] - X[j]
    for k, w in enumerate(coef):
        rest = 1.0 - difference @ w
        a = np.clip(rest / width, 0.0, 1.0) if width else (rest > 0).astype(float)
        near = pair_weight * ((rest > 0) & (rest < width))
        assert value.loss[k] == pytest.approx(pair_weight @ np.maximum(rest, 0.0))
        assert value.smoothed[k] == pytest.approx(pair_weight @ (a * rest - width * a**2 / 2))
        assert value.height[k] == pytest.approx(pair_weight @ a)
        np.testing.assert_allclose(value.slope[k], (pair_weight * a) @ difference, atol=1e-12)
        if width:
            expected = (difference * near[:, None]).T @ difference / width
            np.testing.assert_allclose(value.curvature[k], expected, atol=1e-9)
    np.testing.assert_allclose(loss.values(coef), value.loss, atol=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_concordance_counts_ties_half(seed):
    n, pairs, listed, rng = random_pairs(seed)
    if not listed:
        return
    scores, weight = rng.randint(0, 5, n).astype(float), rng.rand(n) + 0.2
    right = total = 0.0
    for i, j in listed:
        pair_weight = weight[i] * weight[j]
        total += pair_weight
        right += pair_weight * (1.0 if scores[i] > scores[j] else 0.5 * (scores[i] == scores[j]))
    assert pairs.concordance(scores, weight) == pytest.approx(right / total)


@pytest.mark.parametrize("limit", [10, 100_000])
def test_local_rows_are_exact_nearby_and_never_above_the_loss(limit, monkeypatch):
    monkeypatch.setattr("allrelevant.bounds.programs.pairwise.MAX_NEAR_PAIRS", limit)
    rng = np.random.RandomState(0)
    loss = PairwiseLoss(
        rng.normal(size=(40, 3)), class_pairs(rng.rand(40) < 0.5, None), np.ones(40)
    )
    point = rng.normal(size=(1, 3))
    rows = loss.local_rows(point, 0.1)
    assert rows.n_rows <= min(limit, 400) + 2

    def described(coef):
        """Return the smallest loss that satisfies the constraints."""
        cuts = rows.take(np.flatnonzero(rows.is_hard)).slack(coef, np.zeros((len(coef), 1)))
        return rows.loss(coef, np.maximum(cuts.max(axis=1, initial=0.0), 0.0)[:, None])

    nearby, far = point + 1e-4 * rng.normal(size=(5, 3)), point + rng.normal(size=(50, 3))
    np.testing.assert_allclose(described(nearby), loss.values(nearby), atol=1e-12)
    assert (described(far) <= loss.values(far) + 1e-12).all()
