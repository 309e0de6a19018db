"""Tests of p-values from permuted tables, q-values and the resulting relevance classes."""

import numpy as np
import pytest
import scipy.sparse as sp

from allrelevant import (
    ClassificationBounds,
    OrdinalBounds,
    RankingBounds,
    RegressionBounds,
    bounds_path,
)
from allrelevant.bounds import permutations
from allrelevant.bounds.permutations import OWN_VARIANCE, TIE_TOL, Draws, pvalues
from allrelevant.datasets import make_linear_classification, make_privileged
from allrelevant.relevance import RELEVANT, adjust_pvalues, n_irrelevant
from allrelevant.resampling import permute_rows


@pytest.fixture(scope="module")
def data():
    return make_linear_classification(200, n_strong=2, n_weak=2, n_irrelevant=6, random_state=0)


@pytest.fixture(scope="module")
def noise():
    rng = np.random.RandomState(0)
    return rng.normal(size=(60, 5)), np.arange(60) % 2


def make_draws(features, probes, feature_association=None, probe_association=None, widths=None):
    """Return draws of single columns, without association, unless widths or associations differ."""
    if feature_association is None:
        feature_association, probe_association = np.zeros(probes.shape[1]), np.zeros(probes.shape)
    widths = np.ones(probes.shape[1], dtype=int) if widths is None else np.array(widths)
    return Draws(features, probes, feature_association, probe_association, widths)


def naive_scores(draws):
    """Compute the combined evidence of features and probes from its definition."""
    weight, null = naive_weights(draws)
    units = [(np.mean(part), np.std(part)) for part in (null, draws.probe_association)]

    def combine(value, association):
        parts = zip((value, association), units, strict=True)
        smaller, larger = sorted((part - mean) / (std + TIE_TOL) for part, (mean, std) in parts)
        return smaller + 2 * larger

    n_draws, d = draws.probes.shape
    return (
        [combine(weight[j], draws.feature_association[j]) for j in range(d)],
        [
            [combine(null[k][j], draws.probe_association[k, j]) for j in range(d)]
            for k in range(n_draws)
        ],
    )


def naive_weights(draws):
    """Compute the standardized weights of features and of probes from their definition."""
    probes = draws.probes
    n_draws, d = probes.shape
    same_width = [[i for i in range(d) if draws.widths[i] == draws.widths[j]] for j in range(d)]

    def score(value, others, j):
        pooled = np.mean([np.var(probes[:, i], ddof=1) for i in same_width[j]])
        variance = OWN_VARIANCE * np.var(others, ddof=1) + (1 - OWN_VARIANCE) * pooled
        return (value - np.mean(others)) / (np.sqrt(variance) + TIE_TOL)

    null = [
        [score(probes[k, j], np.delete(probes[:, j], k), j) for j in range(d)]
        for k in range(n_draws)
    ]
    return np.array([score(draws.features[:, j].mean(), probes[:, j], j) for j in range(d)]), null


@pytest.mark.parametrize("widths", [[1, 1, 1, 1], [1, 6, 1, 6]])
@pytest.mark.parametrize("n_subproblems", [1, 3])
def test_pvalues_follow_their_definition(n_subproblems, widths):
    rng = np.random.RandomState(0)
    draws = [
        make_draws(
            rng.gamma(2.0, size=(5, 4)) + np.array([0, 0, 3, 9]),
            rng.gamma(2.0, size=(20, 4)),
            rng.gamma(2.0, size=4) + np.array([0, 2, 0, 5]),
            rng.gamma(2.0, size=(20, 4)),
            widths,
        )
        for _ in range(n_subproblems)
    ]
    parts = [naive_scores(part) for part in draws]
    null = np.max([probes for _, probes in parts], axis=0)
    expected = [
        [(1 + np.sum(null >= score - TIE_TOL)) / (1 + null.size) for score in features]
        for features, _ in parts
    ]
    np.testing.assert_allclose(pvalues(draws), expected)


def test_a_category_is_not_compared_with_the_variance_of_numbers():
    """Noise whose weights vary more than those of other columns is not called relevant."""
    rng = np.random.RandomState(0)
    scale = np.repeat([0.1, 5.0], [20, 1])
    probes = rng.normal(size=(20, 21)) * scale
    features = np.zeros((10, 21))
    features[:, -1] = 1.5 * scale[-1]  # in the range of its own probes
    associations = np.zeros(21), np.zeros((20, 21))
    one_width, category = (
        pvalues([make_draws(features, probes, *associations, widths)])[0]
        for widths in ([1] * 21, [1] * 20 + [8])
    )
    assert one_width[-1] < 0.01
    assert category[-1] > 0.05


def test_smallest_pvalue_finds_a_single_feature():
    """One relevant feature among 1, 10 or 100 features is found with 1 / fdr permutations."""
    rng = np.random.RandomState(0)
    for d in (1, 10, 100):
        features = np.zeros((3, d))
        features[:, 0] = 50.0
        qvalue = adjust_pvalues(pvalues([make_draws(features, rng.rand(20, d))]))[0]
        assert qvalue[0] <= 0.05
        assert (qvalue[1:] > 0.05).all()


def test_equal_statistics_have_pvalue_one():
    assert (pvalues([make_draws(np.zeros((2, 3)), np.zeros((20, 3)))]) == 1.0).all()


def test_qvalues_agree_with_the_step_up_procedure():
    """The step-up procedure at level q selects exactly the features with a q-value up to q."""
    rng = np.random.RandomState(1)
    for d in (12, 40) * 10:
        p = rng.rand(d) ** 3
        q = adjust_pvalues(p[None])[0]
        for level in (0.01, 0.05, 0.2, 0.5):
            ranks = np.minimum(np.arange(1, d + 1), 3 if d == 12 else 8)
            thresholds = level * np.minimum(1.0, ranks / n_irrelevant(p))
            passed = np.flatnonzero(np.sort(p) <= thresholds)
            limit = np.sort(p)[passed[-1]] if len(passed) else -1.0
            np.testing.assert_array_equal(q <= level, p <= limit)


def test_feature_is_relevant_if_one_of_its_tests_is():
    p = np.array([[0.001, 0.5, 0.9], [0.4, 0.002, 0.8]])
    q = adjust_pvalues(p)
    np.testing.assert_allclose(q.min(axis=0), adjust_pvalues(p.min(axis=0)[None])[0])
    assert q[0, 0] < q[1, 0]


def test_permutations_without_a_solution_are_dropped_everywhere():
    rows = [np.arange(24.0).reshape(4, 6), np.ones((4, 6))]
    rows[0][3, :3] = np.nan  # probes only
    rows[1][1] = np.nan  # no solution
    associations = [np.arange(15.0).reshape(5, 3), np.ones((5, 3))]
    first, second = Draws.aligned(rows, associations, np.ones(3, dtype=int))
    np.testing.assert_array_equal(first.features, rows[0][[0, 2], :3])
    np.testing.assert_array_equal(first.probes, rows[0][[0, 2, 3], 3:])
    np.testing.assert_array_equal(first.feature_association, [0.0, 1.0, 2.0])
    np.testing.assert_array_equal(first.probe_association, associations[0][[1, 3, 4]])
    assert len(second.probes) == 3
    assert "Only 3 of 4" in first.notes(4)[0]


@pytest.mark.parametrize("sizes", [[1] * 8, [2] * 5, [2, 2, 3, 3, 5]])
def test_row_groups_move_as_a_whole(sizes):
    groups = np.repeat(np.arange(len(sizes)), sizes)
    rng = np.random.RandomState(0)
    mixed = rng.permutation(len(groups))
    row_groups = groups[mixed]
    moved = False
    for _ in range(10):
        order = permute_rows(len(groups), rng, row_groups)
        if len(set(sizes)) == 1:
            assert sorted(order) == list(range(len(groups)))
        sources = []
        for group in np.unique(row_groups):
            taken = order[row_groups == group]
            (source,) = np.unique(row_groups[taken])  # one group takes the place of one group
            own = np.flatnonzero(row_groups == source)
            # In its own order, repeated or truncated to the size of the place.
            np.testing.assert_array_equal(taken, np.resize(own, len(taken)))
            sources.append(source)
        assert sorted(sources) == list(range(len(sizes)))
        moved = moved or (order != np.arange(len(groups))).any()
    assert moved


def test_relevance_follows_from_test_and_proof(data):
    bounds = ClassificationBounds(cutoff="fdr", random_state=0).fit(data.X, data.y)
    assert bounds.rule_ == "fdr"
    assert bounds.table_pvalue_ <= permutations.EVIDENCE_LEVEL
    is_relevant = bounds.qvalue_ <= 0.05
    is_needed = bounds.interval_[:, 0] > 1e-6 * bounds.baseline_.norm_
    names = [["irrelevant", "unconfirmed"], ["weak", "strong"]]
    expected = [names[int(r)][int(n)] for r, n in zip(is_relevant, is_needed, strict=True)]
    assert bounds.relevance_.tolist() == expected
    assert is_relevant[:4].all()
    assert bounds.get_support().tolist() == is_relevant.tolist()


@pytest.mark.filterwarnings("ignore::allrelevant.RelevanceWarning")
def test_table_without_evidence_has_no_relevant_feature(noise):
    bounds = ClassificationBounds(cutoff="fdr", random_state=0).fit(*noise)
    assert bounds.table_pvalue_ > permutations.EVIDENCE_LEVEL
    assert not np.isin(bounds.relevance_, RELEVANT).any()
    assert np.isnan(bounds.pvalue_).all()
    assert np.isnan(bounds.qvalue_).all()


def test_result_does_not_depend_on_n_jobs(data):
    one, two = (
        ClassificationBounds(cutoff="fdr", random_state=0, n_jobs=n).fit(data.X, data.y)
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one.pvalue_, two.pvalue_)
    assert one.table_pvalue_ == two.table_pvalue_


def test_fewer_features_are_relevant_at_a_stricter_level(data):
    loose, strict = (
        ClassificationBounds(cutoff="fdr", random_state=0, fdr=fdr).fit(data.X, data.y)
        for fdr in (0.3, 0.02)
    )
    assert loose.get_support().sum() >= strict.get_support().sum() >= 3


def test_wide_tables_use_probes():
    data = make_linear_classification(40, n_strong=2, n_weak=2, n_irrelevant=60, random_state=1)
    bounds = ClassificationBounds(C=1.0, cutoff="fdr", random_state=0).fit(data.X, data.y)
    assert bounds.rule_ == "probes"
    assert np.isnan(bounds.qvalue_).all()
    probes = ClassificationBounds(C=1.0, cutoff="probes", random_state=0).fit(data.X, data.y)
    np.testing.assert_array_equal(bounds.relevance_, probes.relevance_)


def test_constant_columns_are_not_tested(data):
    X = np.column_stack([data.X, np.ones(len(data.X))])
    with pytest.warns(Warning, match="constant"):
        bounds = ClassificationBounds(cutoff="fdr", random_state=0).fit(X, data.y)
    assert np.isnan(bounds.qvalue_[-1])
    assert np.isfinite(bounds.qvalue_[:-1]).all()
    assert bounds.relevance_[-1] == "irrelevant"


@pytest.mark.parametrize("estimator", [RegressionBounds, OrdinalBounds, RankingBounds])
def test_all_tasks_find_the_informative_features(estimator):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(150, 6))
    value = X[:, 0] + X[:, 1] + 0.2 * rng.normal(size=150)
    y = {
        RegressionBounds: value,
        OrdinalBounds: np.digitize(value, [-1, 1]),
        RankingBounds: (value > 1).astype(int),
    }[estimator]
    bounds = estimator(cutoff="fdr", random_state=0).fit(X, y)
    assert bounds.rule_ == "fdr"
    assert np.isin(bounds.relevance_[:2], RELEVANT).all()
    assert np.isin(bounds.relevance_[2:], RELEVANT).sum() <= 1


def test_several_classes_share_the_tests():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(180, 5))
    y = np.argmax(np.column_stack([X[:, 0], X[:, 1], np.zeros(180)]), axis=1)
    bounds = ClassificationBounds(cutoff="fdr", random_state=0).fit(X, y)
    assert np.isin(bounds.relevance_[:2], RELEVANT).all()
    assert not np.isin(bounds.relevance_[2:], RELEVANT).all()
    # A feature that is relevant in some class is relevant overall, and the other way round.
    in_some_class = np.isin(bounds.class_relevance_, RELEVANT).any(axis=0)
    np.testing.assert_array_equal(in_some_class, bounds.get_support())


@pytest.mark.filterwarnings("ignore::allrelevant.RelevanceWarning")
@pytest.mark.parametrize(
    ("task", "estimator"),
    [("classification", ClassificationBounds), ("regression", RegressionBounds)],
)
def test_privileged_features_are_tested_against_the_loss(task, estimator):
    data = make_privileged(task, 200, random_state=0)
    bounds = estimator(cutoff="fdr", random_state=0).fit(data.X, data.y, privileged=data.privileged)
    assert bounds.privileged_table_pvalue_ <= permutations.EVIDENCE_LEVEL
    informative = data.privileged_relevance != "irrelevant"
    assert np.isin(bounds.privileged_relevance_[informative], RELEVANT).any()
    rng = np.random.RandomState(0)
    noise = rng.normal(size=(200, 3))
    bounds = estimator(cutoff="fdr", random_state=0).fit(data.X, data.y, privileged=noise)
    assert not np.isin(bounds.privileged_relevance_, RELEVANT).any()


def test_sparse_and_dense_tables_agree(data):
    X = data.X * (np.abs(data.X) > 0.5)
    dense, sparse = (
        ClassificationBounds(C=1.0, cutoff="fdr", standardize=False, random_state=0).fit(
            table, data.y
        )
        for table in (X, sp.csr_array(X))
    )
    np.testing.assert_allclose(dense.pvalue_, sparse.pvalue_, atol=1e-9)


def test_tests_are_the_same_along_a_path(data):
    estimator = ClassificationBounds(cutoff="fdr", random_state=0)
    path = bounds_path(estimator, data.X, data.y, values=[0.01, 1.0])
    fitted = ClassificationBounds(cutoff="fdr", random_state=0).fit(data.X, data.y)
    np.testing.assert_array_equal(np.isin(path.relevance[1], RELEVANT), fitted.get_support())


def test_dropped_feature_is_irrelevant_and_substitutes_become_strong(data):
    bounds = ClassificationBounds(cutoff="fdr", random_state=0).fit(data.X, data.y)
    assert bounds.relevance_[2:4].tolist() == ["weak", "weak"]
    without = bounds.what_if({2: "drop"})
    assert without.relevance_[2:4].tolist() == ["irrelevant", "strong"]
    np.testing.assert_array_equal(without.qvalue_, bounds.qvalue_)


@pytest.mark.filterwarnings("ignore::allrelevant.RelevanceWarning")
def test_groups_keep_repeated_rows_of_noise_irrelevant():
    # 25 patients with 6 nearly equal rows each: without groups, noise looks like evidence.
    rng = np.random.RandomState(3)
    patient = np.repeat(np.arange(25), 6)
    X = rng.randn(25, 8)[patient] + 0.1 * rng.randn(150, 8)
    y = rng.permutation(np.arange(25) % 2)[patient]
    alone = ClassificationBounds(random_state=0).fit(X, y)
    grouped = ClassificationBounds(random_state=0).fit(X, y, groups=patient)
    assert alone.table_pvalue_ <= 0.01 < grouped.table_pvalue_
    assert not np.isin(grouped.relevance_, ("strong", "weak")).any()


def test_groups_do_not_change_the_intervals(data):
    groups = np.arange(len(data.y))
    plain = ClassificationBounds(C=1.0, random_state=0).fit(data.X, data.y)
    grouped = ClassificationBounds(C=1.0, random_state=0).fit(data.X, data.y, groups=groups)
    np.testing.assert_allclose(plain.interval_, grouped.interval_)
