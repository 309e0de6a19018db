"""Tests of column roles, invalid features and feature costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from allrelevant import InputError, RelevanceWarning
from allrelevant.tables.features import (
    ColumnRoles,
    read_feature_costs,
    split_features,
)
from allrelevant.terms.scaling import standardize_frame

SICK = ColumnRoles("sick")


def refused(frame: pd.DataFrame, roles: ColumnRoles, *fragments: str) -> None:
    """Check that splitting a table raises a one-line error with the given text fragments."""
    with pytest.raises(InputError) as caught:
        split_features(frame, roles)
    assert "\n" not in str(caught.value)
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_every_column_has_one_role(frame: pd.DataFrame) -> None:
    table = frame.assign(patient=np.arange(80) // 4)
    roles = ColumnRoles("sick", ["beta"], ["epsilon", "alpha"], "patient")
    parts = split_features(table, roles)
    assert parts.X.columns.tolist() == ["gamma", "delta"]
    assert parts.privileged is not None
    assert parts.privileged.columns.tolist() == ["alpha", "epsilon"]
    assert parts.row_groups is not None
    assert parts.row_groups.tolist() == [str(row // 4) for row in range(80)]
    assert parts.y.tolist() == table["sick"].tolist()


def test_columns_of_many_kinds_are_numbers(frame: pd.DataFrame) -> None:
    kinds = frame.assign(
        flag=[True, False] * 40,
        small=np.arange(80, dtype="int8") % 5,
        nullable=pd.array(np.arange(80) % 7, dtype="Int64"),
    )
    X = split_features(kinds, SICK).X
    assert X.dtypes.eq("float64").all()
    assert X["flag"].tolist() == [1.0, 0.0] * 40


def test_unknown_column_names(frame: pd.DataFrame) -> None:
    refused(frame, ColumnRoles("Sik"), "'Sik'", "Did you mean 'sick'?", "'alpha'", "'epsilon'")
    refused(frame, ColumnRoles("sick", ["alhpa"]), "'alpha'")
    refused(frame, ColumnRoles("sick", row_groups="alhpa"), "'alpha'")
    wide = pd.DataFrame(np.zeros((5, 300)), columns=[f"f{j}" for j in range(300)])
    refused(wide, ColumnRoles("class"), "'f0'", "290 more")
    refused(pd.DataFrame({"alpha;sick": ["1;yes"] * 5}), SICK, "--sep")


def test_conflicting_roles(frame: pd.DataFrame) -> None:
    refused(frame, ColumnRoles("sick", ["sick"]), "'sick'", "target")
    refused(frame, ColumnRoles("sick", row_groups="sick"), "'sick' is the target")
    refused(frame, ColumnRoles("sick", (), ["sick"]), "cannot be privileged")
    refused(frame, ColumnRoles("sick", ["beta"], ["beta"]), "'beta' is both dropped and privileged")
    refused(frame, ColumnRoles("sick", (), list(frame.columns[:-1])), "All features are privileged")


def test_too_small_tables(frame: pd.DataFrame) -> None:
    refused(frame.iloc[:3], SICK, "has 3 rows", "at least 4")
    refused(frame[["sick"]], SICK, "besides the target 'sick'")


def test_missing_targets_and_groups(frame: pd.DataFrame) -> None:
    refused(frame.assign(sick=frame["sick"].where(frame.index > 2)), SICK, "'sick'", "3 of 80 rows")
    refused(frame.assign(sick=[np.inf, *range(79)]), SICK, "infinite in 1 of 80")
    groups = frame.assign(patient=[np.nan, *range(79)])
    refused(groups, ColumnRoles("sick", row_groups="patient"), "no value in 1 of 80 rows")


def test_missing_and_infinite_values(frame: pd.DataFrame) -> None:
    bad = frame.copy()
    bad.loc[:1, "alpha"] = np.nan
    bad.loc[5, "beta"] = -np.inf
    refused(bad, SICK, "'alpha' (2 missing)", "'beta' (1 infinite)", "--drop")


@pytest.mark.parametrize(
    "column", [pd.array([None, *range(79)], dtype="Int64"), [None, *[True, False] * 39, True]]
)
def test_missing_values_in_columns_that_are_not_floats(frame: pd.DataFrame, column: Any) -> None:
    refused(frame.assign(n=column), SICK, "'n' (1 missing)")


def test_columns_that_are_not_numbers(frame: pd.DataFrame) -> None:
    text = frame.assign(sex="male", age=["41"] * 79 + ["?"])
    refused(text, SICK, "'sex' (such as 'male')", "'age' (such as '?')", "get_dummies", "--drop")
    categories = frame.assign(sex=pd.Categorical(["m", "f"] * 40))
    refused(categories, SICK, "'sex'", "get_dummies")
    refused(frame.assign(born=pd.Timestamp("2020-01-01")), SICK, "'born'", "dates")


def test_unnamed_row_numbers_raise_a_warning(frame: pd.DataFrame) -> None:
    table = frame.reset_index(names="Unnamed: 0")
    with pytest.warns(RelevanceWarning, match="Unnamed: 0.*--drop") as caught:
        split_features(table, SICK)
    assert caught[0].filename == __file__


def test_standardized_columns(frame: pd.DataFrame) -> None:
    X = standardize_frame(frame.drop(columns="sick").assign(flat=3.0))
    np.testing.assert_allclose(X.mean(), 0.0, atol=1e-12)
    np.testing.assert_allclose(X.std(ddof=0), [1.0] * 5 + [0.0])


def test_costs(frame: pd.DataFrame) -> None:
    Path("costs.csv").write_text("feature,cost,unit\nalpha,1,euro\nbeta,2.5,euro\n")
    assert read_feature_costs("costs.csv") == {"alpha": 1.0, "beta": 2.5}
