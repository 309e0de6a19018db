"""Tests of the baseline model and of the choice of C."""

import numpy as np
import pytest
from sklearn.svm import SVC

from allrelevant.bounds.baseline import JOINT, SEPARATE
from allrelevant.bounds.classification import ClassificationData
from allrelevant.bounds.cross_validation import choose_C, fold_scores
from allrelevant.bounds.tuning import GRID, Tuning
from allrelevant.datasets import make_linear_classification
from allrelevant.terms.scaling import no_scaling, standard_scaling
from tests.bounds.generated import generated_samples
from tests.bounds.naive import naive_l1_svm


def test_path_is_optimal_at_each_C():
    samples = generated_samples(1)
    grid = [0.01, 0.1, 1.0, 10.0]
    for C, baseline in zip(grid, SEPARATE.path(samples, grid), strict=True):
        model = baseline.model
        optimum = naive_l1_svm(samples.X, samples.y, C, samples.weight)
        assert model.norm_ + C * model.loss_ == pytest.approx(optimum, abs=1e-7)
        assert model.C_ == C


def test_norm_and_loss_match_the_weights():
    samples = generated_samples(1)
    for formulation in (SEPARATE, JOINT):
        model = formulation.fit(samples, 1.0).model
        margin = samples.y * (samples.X @ model.coef_ + model.intercept_)
        assert model.loss_ == pytest.approx(samples.weight @ np.maximum(0, 1 - margin))
        assert model.norm_ == pytest.approx(np.abs(model.coef_).sum())


def test_joint_baseline_is_the_standard_svm():
    samples = generated_samples(2)
    model = JOINT.fit(samples, 0.5).model
    svm = SVC(kernel="linear", C=0.5, tol=1e-8)
    svm.fit(samples.X, samples.y, sample_weight=samples.weight)
    np.testing.assert_allclose(model.coef_, svm.coef_.ravel(), atol=1e-3)


def test_baseline_at_a_tiny_C_uses_no_feature():
    samples = generated_samples(2)
    tiny, large = SEPARATE.path(samples, [1e-6, 1.0])
    assert not tiny.model.uses_features
    assert large.model.uses_features


def make_samples(flip, seed, n_samples=200):
    data = make_linear_classification(n_samples, flip=flip, random_state=seed)
    return ClassificationData(data.X, np.where(data.y == 1, 1.0, -1.0), np.ones(n_samples))


def choose(samples, **kwargs):
    scaled = samples.with_tables(samples.scale(standard_scaling).tables)
    return choose_C(samples, scaled, SEPARATE, standard_scaling, Tuning(0), **kwargs)


def test_chosen_C_is_on_the_grid_and_better_than_chance():
    samples = make_samples(0.1, seed=0)
    choice = choose(samples)
    assert np.isclose(GRID / 200, choice.C).any()
    assert choice.score > max(np.mean(samples.y > 0), np.mean(samples.y < 0))


def test_label_noise_lowers_the_chosen_C():
    """Label noise lowers the chosen C on average over several tables."""
    clean, noisy = (
        np.mean([np.log(choose(make_samples(flip, seed)).C) for seed in range(6)])
        for flip in (0.0, 0.25)
    )
    assert noisy < clean


def test_chosen_C_does_not_depend_on_n_jobs():
    samples = make_samples(0.1, seed=1)
    assert choose(samples, n_jobs=2) == choose(samples, n_jobs=1)


def test_doubling_all_weights_halves_C():
    samples = make_samples(0.1, seed=2)
    doubled = ClassificationData(samples.X, samples.y, 2 * samples.weight)
    assert np.isclose(choose(doubled).C, choose(samples).C / 2)


def test_scores_after_the_improvement_ends_repeat_the_last_one():
    samples = make_samples(0.1, 3)
    values = GRID / len(samples.y)
    all_scores = fold_scores(samples, SEPARATE, no_scaling, Tuning(0))
    for scores, stopped in zip(
        all_scores,
        fold_scores(samples, SEPARATE, no_scaling, Tuning(0), stop_early=True),
        strict=True,
    ):
        first = scores[:, 0]
        gained = np.maximum.accumulate(first) - first[0]
        is_over = (gained[:-1] > 0) & (np.diff(np.maximum.accumulate(first)) <= 0.01 * gained[:-1])
        last = np.flatnonzero(is_over)[0] + 1
        assert 1 < last < len(values) - 1
        np.testing.assert_allclose(stopped[: last + 1], scores[: last + 1])
        np.testing.assert_allclose(stopped[last:], np.tile(scores[last], (len(values) - last, 1)))
