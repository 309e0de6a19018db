"""Warnings refer to the line of the user's code."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from allrelevant import (
    SVMRFE,
    ClassificationBounds,
    MappingBounds,
    RegressionBounds,
    RelevanceWarning,
    SaliencySelector,
)
from allrelevant.exceptions import warn_caller

RNG = np.random.default_rng(0)
X = np.column_stack([RNG.normal(size=(60, 3)), np.ones(60)])
Y = (X[:, 0] > 0).astype(int)
NOISE = RNG.integers(0, 2, size=60)


def in_a_pipeline(X: Any, y: Any) -> None:
    make_pipeline(ClassificationBounds(C=1.0, cutoff=0.1), SVC()).fit(X, y)


CALLS: dict[str, Callable[[], object]] = {
    "constant column": lambda: ClassificationBounds(C=1.0, cutoff=0.1).fit(X, Y),
    "constant column, regression": lambda: RegressionBounds(C=1.0, cutoff=0.1, epsilon=0.1).fit(
        X, X[:, 0]
    ),
    "constant column, mapping": lambda: MappingBounds(np.eye(4)[:1], effective_dimension=2).fit(X),
    "constant column, elimination": lambda: SVMRFE().fit(X, Y),
    "constant column, saliency": lambda: SaliencySelector(SVC(), n_repeats=1).fit(X, Y),
    "no evidence": lambda: ClassificationBounds(C=1.0, cutoff="fdr", random_state=0).fit(
        X[:, :3], NOISE
    ),
    "pipeline": lambda: in_a_pipeline(X, Y),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_warning_refers_to_the_caller(call: Callable[[], object]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    found = [warning for warning in caught if issubclass(warning.category, RelevanceWarning)]
    assert found
    assert {warning.filename for warning in found} == {__file__}


def test_category() -> None:
    with pytest.warns(DeprecationWarning, match="^old$") as caught:
        warn_caller("old", DeprecationWarning)
    assert caught[0].filename == __file__
