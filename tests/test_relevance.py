"""Tests of relevance classes and q-values, against their definitions feature by feature."""

from itertools import product

import numpy as np
import pytest

from allrelevant.relevance import adjust_pvalues, assign_classes, n_irrelevant, rank_cap


def test_every_combination_has_its_class():
    flags = np.array(list(product([False, True], repeat=3)))
    expected = [
        ("strong" if strong else "weak")
        if relevant
        else ("unconfirmed" if needed else "irrelevant")
        for relevant, strong, needed in flags.tolist()
    ]
    assert assign_classes(*flags.T).tolist() == expected


@pytest.mark.parametrize(("n_features", "cap"), [(1, 3), (15, 3), (19, 3), (20, 4), (100, 20)])
def test_ranks_are_capped_at_a_fifth_of_the_features(n_features, cap):
    assert rank_cap(n_features) == cap


def test_number_of_irrelevant_features_is_estimated_from_large_pvalues():
    rng = np.random.default_rng(0)
    for n_null in (70, 80, 90):
        pvalues = [
            np.concatenate([np.full(100 - n_null, 1e-4), rng.uniform(size=n_null)])
            for _ in range(400)
        ]
        estimate = np.mean([n_irrelevant(p) for p in pvalues])
        assert n_null <= estimate <= n_null + 7
    assert n_irrelevant(np.full(10, 1e-4)) == pytest.approx(7.0)
    assert n_irrelevant(np.full(10, 0.9)) == 10.0
    assert n_irrelevant(np.full(10, 0.5)) == pytest.approx(7.0)


def smallest_rates(pvalue):
    """Return, for each test, the smallest false discovery rate at which it is significant.

    At a rate q, the procedure accepts the largest number k of sorted p-values p_k that are at most
    q and q min(k, cap) / n, and with it all tests with at most this p-value. The number n of
    irrelevant features is estimated from the p-values above a half.
    """
    d = pvalue.shape[1]
    ordered = sorted(pvalue.min(axis=0))
    n = min(d, max(0.7 * d, 2 * (1 + sum(p > 0.5 for p in ordered))))
    rates = [max(p, p * n / min(k, rank_cap(d))) for k, p in enumerate(ordered, start=1)]
    return [
        [
            min([min(1.0, rate) for rate, p in zip(rates, ordered, strict=True) if p >= own] or [1])
            for own in row
        ]
        for row in pvalue.tolist()
    ]


@pytest.mark.parametrize("n_features", [1, 2, 5, 40])
@pytest.mark.parametrize("n_tests", [1, 2])
def test_qvalues_are_the_smallest_rates(n_features, n_tests):
    rng = np.random.RandomState(n_features)
    pvalue = np.round(rng.uniform(size=(n_tests, n_features)) ** 3, 2)
    np.testing.assert_allclose(adjust_pvalues(pvalue), smallest_rates(pvalue), rtol=1e-12)
