"""Tests of the generalization bound: formula, validity on new data, and printed text."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from allrelevant import ClassificationBounds, InputError, RiskBound
from allrelevant.datasets import make_linear_classification, make_privileged

DATA = make_linear_classification(
    n_samples=120, n_strong=1, n_weak=2, n_irrelevant=2, random_state=0
)
N: int = len(DATA.X)
D: int = DATA.X.shape[1]


def fitted(sample_weight: Any = None, X: Any = DATA.X, **settings: Any) -> Any:
    settings = {"C": 0.1, "cutoff": 0.1, **settings}
    return ClassificationBounds(**settings).fit(X, DATA.y, sample_weight)


def make_bound(est: ClassificationBounds, failure_probability: float = 0.05) -> RiskBound:
    bound = est.risk_bound(failure_probability)
    assert isinstance(bound, RiskBound)
    return bound


def offset_limit(est: ClassificationBounds) -> float:
    return float(np.abs(est._result.subproblems[0].models.offset_range).max())


def test_equals_the_formula() -> None:
    est = fitted(norm_slack=0.2, loss_slack=0.3, loss_tol=0.5)
    bound, model = make_bound(est, failure_probability=0.1), est.baseline_
    scaled = (DATA.X - DATA.X.mean(axis=0)) / DATA.X.std(axis=0)
    sign = np.where(DATA.y == est.classes_[1], 1, -1)
    hinge = np.maximum(0, 1 - sign * (scaled @ model.coef_ + model.intercept_))
    per_norm = 2 * np.abs(scaled).max() * np.sqrt(2 * np.log(2 * D) / N)
    confidence = np.sqrt(2 * np.log(20) / N)
    norm = np.abs(model.coef_).sum()
    assert bound.loss_part == pytest.approx(hinge.mean())
    assert bound.complexity_part == pytest.approx(per_norm * norm)
    assert bound.offset_part == pytest.approx(2 * abs(model.intercept_) / np.sqrt(N))
    assert bound.confidence_part == pytest.approx(confidence)
    parts = bound.loss_part + bound.complexity_part + bound.offset_part + bound.confidence_part
    assert bound.baseline == pytest.approx(parts)
    assert bound.equivalent == pytest.approx(
        (1.3 * hinge.sum() + 0.5) / N
        + 1.2 * per_norm * norm
        + 2 * offset_limit(est) / np.sqrt(N)
        + confidence
    )
    assert bound.added_by_slack == pytest.approx(bound.equivalent - bound.baseline)
    assert bound.training_error == pytest.approx(1 - est.score(DATA.X, DATA.y))
    assert bound.radius == pytest.approx(np.abs(scaled).max())
    assert bound.failure_probability == 0.1


@pytest.mark.parametrize("C", [1e-2, 1.0])
def test_joint_budget_is_spent_on_norm_or_loss(C: float) -> None:
    est = fitted(formulation="joint", C=C)
    bound, model = make_bound(est), est.baseline_
    limit = 1.1 * model.norm_ + C * (1.05 * model.loss_ + 1e-6)
    per_norm = bound.complexity_part / model.norm_
    worst = max(limit * per_norm, limit / C / N)
    others = 2 * offset_limit(est) / np.sqrt(N) + bound.confidence_part
    assert bound.equivalent == pytest.approx(worst + others)


@pytest.mark.parametrize("formulation", ["separate", "joint"])
def test_holds_for_all_witnesses(formulation: str) -> None:
    """The error bound for a single witness is at most the bound for all equivalent models."""
    est = fitted(formulation=formulation)
    bound = make_bound(est)
    per_norm = bound.complexity_part / est.baseline_.norm_
    for feature in range(D):
        model = est.witness(feature, "upper")
        own = model.loss_ / N + per_norm * model.norm_ + 2 * abs(model.intercept_) / np.sqrt(N)
        assert own + bound.confidence_part <= bound.equivalent + 1e-9


def test_more_slack_increases_the_bound() -> None:
    bounds = [make_bound(fitted(norm_slack=norm_slack)) for norm_slack in (0.0, 0.1, 0.5)]
    assert bounds[0].equivalent < bounds[1].equivalent < bounds[2].equivalent
    assert bounds[0].baseline == pytest.approx(bounds[2].baseline)
    assert all(bound.added_by_slack > 0 for bound in bounds)


def test_holds_on_new_data() -> None:
    data = make_linear_classification(
        n_samples=6000, n_strong=1, n_weak=2, n_irrelevant=1, flip=0.05, random_state=1
    )
    train, new = slice(0, 3000), slice(3000, 6000)
    est = ClassificationBounds(C=0.001, cutoff=0.1).fit(data.X[train], data.y[train])
    bound = make_bound(est)
    assert not bound.is_vacuous
    sign = np.where(data.y[new] == est.classes_[1], 1, -1)
    models = [
        est.baseline_,
        *(est.witness(j, side) for j in range(4) for side in ("lower", "upper")),
    ]
    for model in models:
        error = (np.sign(model.decision_function(data.X[new])) != sign).mean()
        assert 0.0 < error <= bound.equivalent
    assert (est.predict(data.X[new]) != data.y[new]).mean() <= bound.baseline


def test_weights() -> None:
    """Equal row weights do not change the bound; unequal ones lower the effective sample size."""
    plain = make_bound(fitted())
    doubled = make_bound(fitted(np.full(N, 2.0), C=0.05))
    assert doubled.n_rows == pytest.approx(N)
    assert doubled.baseline == pytest.approx(plain.baseline)
    weight: np.ndarray = np.random.default_rng(0).uniform(0.1, 3.0, N)
    bound = make_bound(fitted(weight))
    assert bound.n_rows == pytest.approx(weight.sum() ** 2 / (weight**2).sum())
    assert bound.n_rows < N
    assert bound.confidence_part == pytest.approx(np.sqrt(2 * np.log(40) / bound.n_rows))
    absent = np.where(np.arange(N) < 20, 0.0, 1.0)
    assert make_bound(fitted(absent)).n_rows == N - 20


def test_several_classes() -> None:
    X = np.random.default_rng(0).normal(size=(90, 2))
    X[:30, 0] += 3
    X[30:60, 1] += 3
    est = ClassificationBounds(C=1.0, cutoff=0.1).fit(X, np.repeat(["a", "b", "c"], 30))
    bounds = est.risk_bound()
    assert isinstance(bounds, list)
    losses = np.asarray(est.baseline_.loss_)
    np.testing.assert_allclose([bound.loss_part for bound in bounds], losses / 90)


def test_sparse_and_privileged() -> None:
    table = sp.csr_array(np.where(np.abs(DATA.X) > 0.3, DATA.X, 0.0))
    assert make_bound(fitted(X=table)).radius == pytest.approx(
        np.abs(table.toarray() / table.toarray().std(axis=0)).max()
    )
    data = make_privileged("classification", n_samples=60, random_state=0)
    est = ClassificationBounds(C=1.0, cutoff=0.1).fit(data.X, data.y, privileged=data.privileged)
    bound = make_bound(est)
    assert np.isfinite(bound.equivalent)
    assert bound.added_by_slack > 0


def test_interpretation() -> None:
    text = str(make_bound(fitted()))
    assert 3 <= len(text.splitlines()) <= 5
    assert "is not informative" in text.splitlines()[-1]
    assert make_bound(fitted()).is_vacuous
    tight = RiskBound(0.05, 0.1, 0.1, 0.0, 0.1, 0.33, 0.02, 1.0, 1000.0)
    assert not tight.is_vacuous
    assert re.search(r"loose.*adds 10%", str(tight).splitlines()[-1])


def test_invalid_input_raises() -> None:
    with pytest.raises(NotFittedError):
        ClassificationBounds().risk_bound()
    est = fitted()
    for failure_probability in (0.0, 1.0, -1, float("nan"), "often"):
        with pytest.raises(InputError, match="failure_probability is the probability") as error:
            est.risk_bound(failure_probability)
        assert "\n" not in str(error.value)
