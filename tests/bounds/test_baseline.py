"""The models that set the standard."""

import numpy as np
import pytest
from sklearn.svm import SVC

from allrelevant.bounds.baseline import l1_path, l2_svm_path, uses_features
from tests.bounds.generated import generated_samples
from tests.bounds.naive import naive_l1_svm


def test_a_path_gives_the_optimum_at_each_C():
    samples = generated_samples(1)
    grid = [0.01, 0.1, 1.0, 10.0]
    for C, model in zip(grid, l1_path(samples, grid), strict=True):
        optimum = naive_l1_svm(samples.X, samples.y, C, samples.weight)
        assert model.norm_ + C * model.loss_ == pytest.approx(optimum, abs=1e-7)
        assert model.C_ == C


def test_norm_and_loss_are_those_of_the_model():
    samples = generated_samples(1)
    for path in (l1_path, l2_svm_path):
        (model,) = path(samples, [1.0])
        margin = samples.y * (samples.X @ model.coef_ + model.intercept_)
        assert model.loss_ == pytest.approx(samples.weight @ np.maximum(0, 1 - margin))
        assert model.norm_ == pytest.approx(np.abs(model.coef_).sum())


def test_the_joint_baseline_is_the_common_svm():
    samples = generated_samples(2)
    (model,) = l2_svm_path(samples, [0.5])
    svm = SVC(kernel="linear", C=0.5, tol=1e-8)
    svm.fit(samples.X, samples.y, sample_weight=samples.weight)
    np.testing.assert_allclose(model.coef_, svm.coef_.ravel(), atol=1e-3)


def test_a_tiny_C_uses_no_feature():
    samples = generated_samples(2)
    tiny, large = l1_path(samples, [1e-6, 1.0])
    assert not uses_features(tiny)
    assert uses_features(large)
