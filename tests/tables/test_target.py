"""Tests of target conversion for each task, and of error messages for unsuitable targets."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from allrelevant import InputError
from allrelevant.bounds.task import task_by_name
from allrelevant.tables.target import order_classes
from allrelevant.terms.columns import Column, column_from_series

TEXT = ["low", "high"] * 5


def column(values: Any) -> Column:
    result = column_from_series(pd.Series(values), "y")
    assert result is not None
    return result


@pytest.mark.parametrize(
    ("task", "values", "expected"),
    [
        ("classification", [1.0, 2.0] * 2, [1, 2] * 2),
        ("regression", [1, 2] * 2, [1.0, 2.0] * 2),
        ("regression", pd.Categorical([1, 2] * 2), [1.0, 2.0] * 2),
        ("regression", pd.array([1, 2] * 2, dtype="Int64"), [1.0, 2.0] * 2),
        ("ordinal", [3.0, 1.0, 2.0], [3, 1, 2]),
        ("ordinal", pd.Categorical([3, 1, 2]), [3, 1, 2]),
        ("ordinal", [False, True], [False, True]),
        ("ordinal", pd.Categorical(TEXT, ["low", "high"], ordered=True), TEXT),
        ("ranking", TEXT, TEXT),
    ],
)
def test_target_is_converted_for_the_task(task: str, values: Any, expected: list[Any]) -> None:
    target = task_by_name(task).read_target(column(values), "y").tolist()
    assert target == expected
    assert [type(v) for v in target] == [type(v) for v in expected]


@pytest.mark.parametrize(
    ("task", "values", "fragments"),
    [
        ("regression", TEXT, ["'y'", "such as 'low'", "numeric", "--task classification"]),
        ("regression", [2.5] * 5, ["'y'", "single value, 2.5"]),
        ("regression", pd.to_datetime(["2020-01-01"] * 4), ["has non-numeric values"]),
        ("ordinal", TEXT, ["'y'", "words", "such as 'low'", "--order", "as numbers"]),
        ("ordinal", [0.5, 1.5, 2.5, 3.5], ["continuous", "--task regression"]),
        ("ordinal", [1] * 5, ["single class, '1'"]),
        ("ranking", [1, 2, 3] * 3, ["two classes", "'y' has 3", "--task ordinal"]),
        ("ranking", [1] * 5, ["single class, '1'"]),
        ("classification", ["a"] * 5, ["single class, 'a'"]),
    ],
)
def test_unsuitable_targets_raise(task: str, values: Any, fragments: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        task_by_name(task).read_target(column(values), "y")
    assert "\n" not in str(caught.value)
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_stated_order_of_classes() -> None:
    ordered = order_classes(column(TEXT), "y", ["low", "medium", "high"])
    assert (ordered.kind, ordered.levels) == ("ordered", ("low", "high"))
    assert order_classes(column([1, 2] * 5), "y", ["2", "1"]).levels == ("2", "1")
    with pytest.raises(InputError, match="does not contain 'low'"):
        order_classes(column(TEXT), "y", ["medium", "high"])
