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
    SplitTable,
    read_feature_costs,
    require_numbers,
)
from allrelevant.tables.features import split_features as split_table
from allrelevant.terms.columns import Frame, columns_from_frame

SICK = ColumnRoles("sick")


def split_features(frame: pd.DataFrame, roles: ColumnRoles) -> SplitTable:
    """Split a data frame into columns of numbers."""
    columns = columns_from_frame(frame)
    assert columns is not None
    parts = split_table(Frame(tuple(columns)), roles)
    require_numbers([*parts.X, *(parts.privileged or ())])
    return parts


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
    assert parts.X.columns == ["gamma", "delta"]
    assert parts.privileged is not None
    assert parts.privileged.columns == ["alpha", "epsilon"]
    assert parts.row_groups is not None
    assert parts.row_groups.tolist() == [str(row // 4) for row in range(80)]
    assert parts.y.words() == table["sick"].tolist()


def test_columns_of_many_kinds_are_numbers(frame: pd.DataFrame) -> None:
    kinds = frame.assign(
        flag=[True, False] * 40,
        small=np.arange(80, dtype="int8"),
        nullable=pd.array(np.arange(80), dtype="Int64"),
    )
    X = split_features(kinds, SICK).X
    assert X.to_numpy().dtype == np.float64
    assert X["flag"].values.tolist() == [1.0, 0.0] * 40


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
    refused(frame.assign(sick=[np.inf, *range(79)]), SICK, "infinite in 1 of 80")
    groups = frame.assign(patient=[np.nan, *range(79)])
    refused(groups, ColumnRoles("sick", row_groups="patient"), "no value in 1 of 80 rows")


def test_missing_and_infinite_values(frame: pd.DataFrame) -> None:
    bad = frame.copy()
    bad.loc[:1, "alpha"] = np.nan
    bad.loc[5, "beta"] = -np.inf
    refused(bad, SICK, "'beta' (1 infinite)", "--drop")
    refused(bad.assign(beta=1.0), SICK, "'alpha' (2 missing)", "--drop")


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


def test_unnamed_row_numbers_raise_a_warning(frame: pd.DataFrame) -> None:
    table = frame.reset_index(names="Unnamed: 0")
    with pytest.warns(RelevanceWarning, match="Unnamed: 0.*--drop") as caught:
        split_features(table, SICK)
    assert caught[0].filename == __file__


def test_rows_without_a_target_are_left_out(frame: pd.DataFrame) -> None:
    table = frame.assign(
        sick=frame["sick"].where(frame.index > 2), patient=np.arange(80), weight=np.arange(80) + 1.0
    )
    roles = ColumnRoles("sick", row_groups="patient", weights="weight")
    with pytest.warns(
        RelevanceWarning, match="3 rows of 80 left out, without a value of the target 'sick'"
    ):
        parts = split_features(table, roles)
    assert parts.rows == list(range(3, 80))
    np.testing.assert_array_equal(parts.X["alpha"].values, frame["alpha"][3:])
    assert parts.y.words() == frame["sick"][3:].tolist()
    assert parts.row_groups is not None
    assert parts.row_groups.tolist() == [str(row) for row in range(3, 80)]
    assert parts.weights is not None
    assert parts.weights.tolist() == list(range(4, 81))


def test_unsuitable_weights(frame: pd.DataFrame) -> None:
    roles = ColumnRoles("sick", weights="w")
    refused(frame.assign(w=[-1.0, *[1.0] * 79]), roles, "'w'", "in 1 of 80 rows")
    refused(frame.assign(w=[None, *[1.0] * 79]), roles, "'w'", "in 1 of 80 rows")
    refused(frame.assign(w=0.0), roles, "'w'", "all zero")
    refused(frame.assign(w=["a", "b"] * 40), roles, "'w'", "such as 'a'")
    refused(frame, ColumnRoles("sick", weights="sick"), "'sick' is the target")


def test_long_numbers_cannot_be_groups(frame: pd.DataFrame) -> None:
    table = frame.assign(patient=2**60 + np.arange(80))
    refused(table, ColumnRoles("sick", row_groups="patient"), "'patient'", "too many digits")


def test_identifiers_are_left_out(frame: pd.DataFrame) -> None:
    table = frame.assign(label=[f"row {i}" for i in range(80)])
    with pytest.warns(RelevanceWarning, match="'label' has a different text in every row"):
        parts = split_features(table, SICK)
    assert parts.X.columns == frame.columns[:-1].tolist()


def test_numbers_with_typing_errors_are_no_identifiers(frame: pd.DataFrame) -> None:
    words = [f"{i}.5" for i in range(79)]
    refused(frame.assign(age=[*words, "7l.5"]), SICK, "'age' contains numbers", "'7l.5'")


def test_too_many_levels(frame: pd.DataFrame) -> None:
    cities = [f"city {'x' * (i // 2)}" for i in range(80)]
    refused(frame.assign(city=cities), SICK, "'city' has 40 different texts", "--groups", "--drop")


def test_dates(frame: pd.DataFrame) -> None:
    table = frame.assign(day=pd.date_range("2020-02-28", periods=80))
    refused(table, SICK, "'day' contains dates", "--dates days")
    parts = split_features(table, ColumnRoles("sick", dates="days"))
    assert parts.X["day"].values.tolist() == list(range(80))


def test_codes_of_categories(frame: pd.DataFrame) -> None:
    table = frame.assign(site=np.arange(80) % 4, flag=np.arange(80) % 2)
    with pytest.warns(RelevanceWarning, match="'site' has only a few.*--categorical 'site'"):
        split_features(table, SICK)
    columns = columns_from_frame(table)
    assert columns is not None
    parts = split_table(Frame(tuple(columns)), ColumnRoles("sick", categorical=["site"]))
    assert parts.X["site"].levels == ("0", "1", "2", "3")
    assert parts.X["flag"].kind == "number"


@pytest.mark.parametrize(
    "patients", [[f"P{i // 4:02}" for i in range(80)], [i // 4 for i in range(80)]]
)
def test_repeated_rows_are_pointed_out(frame: pd.DataFrame, patients: list[Any]) -> None:
    columns = columns_from_frame(frame.assign(patient=patients))
    assert columns is not None
    with pytest.warns(RelevanceWarning, match="20 values, about 4 rows each.*--groups 'patient'"):
        split_table(Frame(tuple(columns)), SICK)


def test_costs(frame: pd.DataFrame) -> None:
    Path("costs.csv").write_text("feature,cost,unit\nalpha,1,euro\nbeta,2.5,euro\n")
    assert read_feature_costs("costs.csv") == {"alpha": 1.0, "beta": 2.5}
