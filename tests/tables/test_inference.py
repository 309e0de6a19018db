"""Tests of inferring the task from a target column."""

from __future__ import annotations

import warnings
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from allrelevant.tables.inference import InferredTask, infer_task
from allrelevant.terms.columns import column_from_series


def infer(values: Any) -> InferredTask:
    """Infer the task from the values of a target."""
    column = column_from_series(pd.Series(values), "y")
    assert column is not None
    return infer_task(column)


CLASSES = [
    (["yes", "no"] * 10, "2 classes: 'no' and 'yes'"),
    ([True, False] * 10, "2 classes: 'False' and 'True'"),
    (pd.array([True, False] * 10, dtype="boolean"), "2 classes"),
    ([0, 1] * 10, "2 classes: 0 and 1"),
    ([0.0, 1.0] * 10, "2 classes: 0 and 1"),
    ([-1, 7] * 10, "2 classes: -1 and 7"),
    (pd.array([3, 4] * 10, dtype="Int64"), "2 classes: 3 and 4"),
    (pd.Categorical([1.5, 2.5] * 10), "2 classes: '1.5' and '2.5'"),
    ([10, 20, 40] * 10, "3 classes: 10, 20 and 40"),
    ([f"word {i}" for i in range(30)], "30 classes: 'word 0', 'word 1'"),
    (list(range(20)) * 5, "20 classes: 0, 1, 2, 3, 4, 5 and 14 more"),
]

NUMBERS = [
    ([0.5, 1.5] * 10, "fractional part, such as 0.5"),
    ([1.0, 2.0, 2.25] * 10, "such as 2.25"),
    ([Decimal("1.50"), Decimal("2.00")] * 10, "such as 1.5"),
    (list(range(21)) * 50, "21 distinct numbers, from 0 to 20"),
    (list(range(-7, 8)), "15 distinct numbers, from -7 to 7"),
    (np.array([1e15, *range(30)]), "to 1000000000000000"),
]


@pytest.mark.parametrize(("values", "reason"), CLASSES)
def test_classes(values: Any, reason: str) -> None:
    inferred = infer(values)
    assert inferred.task == "classification"
    assert f"the target has {reason}" in inferred.reason


@pytest.mark.parametrize(("values", "reason"), NUMBERS)
def test_numbers(values: Any, reason: str) -> None:
    inferred = infer(values)
    assert inferred.task == "regression"
    assert reason in inferred.reason


@pytest.mark.parametrize(
    ("values", "mentioned"),
    [([1, 2, 3, 4, 5], True), ([0, 1, 2], True), ([0, 1], False), ([1, 2, 4], False)],
)
def test_reason_mentions_ordinal_task_for_integers(values: list[int], mentioned: bool) -> None:
    assert ("--task ordinal" in infer(values * 10).reason) == mentioned


def test_reason_mentions_ordinal_task_for_ordered_categories() -> None:
    grades = pd.Categorical(["low", "high"] * 5, ["low", "high"], ordered=True)
    assert "--task ordinal" in infer(grades).reason


def test_the_note_is_one_line() -> None:
    note = infer(["a\nb", "<b>" * 50] * 5).note
    assert "\n" not in note
    assert len(note) < 250
    assert note.startswith("Task: classification (")
    assert note.endswith("). Use --task to choose a different task.")


def test_no_warnings() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        infer(pd.to_datetime(["2020-01-01", "2020-01-02"]))
