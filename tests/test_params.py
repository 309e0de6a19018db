"""Tests that docstrings state the default values of the signatures."""

from __future__ import annotations

import ast
import inspect
import re
from typing import Any

import pytest
from sklearn.base import BaseEstimator

import allrelevant

ESTIMATORS = [
    public
    for name in dir(allrelevant)
    if inspect.isclass(public := getattr(allrelevant, name)) and issubclass(public, BaseEstimator)
]


def stated_defaults(estimator: type) -> dict[str, Any]:
    """Return the default values stated in the parameter section of a docstring."""
    section = inspect.getdoc(estimator).split("\nAttributes\n---")[0]  # type: ignore[union-attr]
    entries = re.findall(r"^(\w[\w, ]*) : .*?default=([^\n]+)$", section, re.MULTILINE)
    return {name: ast.literal_eval(text) for names, text in entries for name in names.split(", ")}


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_docstrings_state_the_defaults(estimator: type) -> None:
    parameters = inspect.signature(estimator).parameters.values()
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    stated = stated_defaults(estimator)
    assert stated == {name: defaults[name] for name in stated}
