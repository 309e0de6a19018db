"""Roles of the columns of a table: target, features, privileged features, row groups, dropped ones.

Features must be numbers, none missing. Costs of features come from a table of their own.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._optional import import_extra
from .._text import count_noun, join_names
from ..exceptions import InputError, RelevanceWarning
from .inference import holds_numbers, holds_times, text_example
from .reading import read_table

if TYPE_CHECKING:
    import pandas as pd

_MIN_ROWS = 4


@dataclass(frozen=True)
class ColumnRoles:
    """Names of the columns that are not features, and of the features that are privileged."""

    target: str
    drop: Sequence[str] = ()
    privileged: Sequence[str] = ()
    row_groups: str | None = None


@dataclass(frozen=True)
class SplitTable:
    """A table taken apart.

    All features are finite float64, booleans 0 and 1. The target is as it is, without missing
    values; the group of each row is text.
    """

    X: pd.DataFrame
    y: pd.Series
    privileged: pd.DataFrame | None = None
    row_groups: pd.Series | None = None


def split_features(frame: pd.DataFrame, roles: ColumnRoles) -> SplitTable:
    """Take a table apart by the roles of its columns."""
    row_groups = None
    if roles.row_groups is not None:
        row_groups = _row_groups(frame, roles.row_groups, roles.target)
        frame = frame.drop(columns=roles.row_groups)
    X, y = _split_target(frame, roles.target, roles.drop)
    X, privileged = _split_privileged(X, roles)
    return SplitTable(X, y, privileged, row_groups)


def _row_groups(frame: pd.DataFrame, groups: str, target: str) -> pd.Series:
    require_column(groups, [str(name) for name in frame.columns])
    if groups == target:
        raise InputError(f"{groups!r} is the target: it cannot be the groups as well.")
    if frame[groups].isna().any():
        raise InputError(f"The groups {groups!r} are missing in some rows: fill them in.")
    return frame[groups].astype(str)


def _split_target(
    frame: pd.DataFrame, target: str, drop: Sequence[str]
) -> tuple[pd.DataFrame, pd.Series]:
    names = [str(name) for name in frame.columns]
    for name in (target, *drop):
        require_column(name, names)
    if target in drop:
        raise InputError(f"{target!r} is the target: it cannot be dropped.")
    if len(frame) < _MIN_ROWS:
        raise InputError(f"At least {_MIN_ROWS} rows are needed, and the table has {len(frame)}.")
    _require_no_missing(target, frame[target])
    _require_finite_target(target, frame[target])
    features = [name for name in names if name != target and name not in set(drop)]
    if not features:
        raise InputError(f"There is no column besides the target {target!r}: nothing to analyse.")
    return _as_numbers(frame[features]), frame[target]


def _split_privileged(
    X: pd.DataFrame, roles: ColumnRoles
) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    if not roles.privileged:
        return X, None
    for name in roles.privileged:
        if name == roles.target:
            raise InputError(f"{name!r} is the target: it cannot be privileged.")
        if name in roles.drop:
            raise InputError(f"{name!r} is dropped: it cannot be privileged as well.")
        require_column(name, X.columns.tolist())
    rest = [name for name in X.columns if name not in set(roles.privileged)]
    if not rest:
        raise InputError(
            f"All features are privileged ({join_names(X.columns.tolist())}): at least one that is "
            "not is needed, to predict from."
        )
    return X[rest], X[[name for name in X.columns if name in set(roles.privileged)]]


def require_column(name: str, names: Sequence[str]) -> None:
    """Refuse a name that no column has, or several; close names are suggested."""
    if names.count(name) > 1:
        raise InputError(f"Several columns are called {name!r}. Rename them.")
    if name in names:
        return
    close = difflib.get_close_matches(name.lower(), [n.lower() for n in names], n=3)
    likely = [n for n in names if n.lower() in close][:3]
    hint = f" Did you mean {join_names(likely, 3, 'or')}?" if likely else ""
    if len(names) == 1:
        hint = " Perhaps its cells are not separated by what was expected (--sep, or separator=)?"
    raise InputError(f"No column is called {name!r}.{hint} The columns are {join_names(names)}.")


def _require_no_missing(target: str, column: pd.Series) -> None:
    missing = int(column.isna().sum())
    if missing:
        raise InputError(
            f"The target {target!r} is missing in {missing} of {len(column)} rows. Remove those "
            "rows, or fill them in. (Empty cells and words such as NA, None and null are missing.)"
        )


def _require_finite_target(target: str, column: pd.Series) -> None:
    if not holds_numbers(column):
        return
    infinite = int(np.isinf(column.to_numpy(dtype="float64")).sum())
    if infinite:
        raise InputError(
            f"The target {target!r} is infinite in {infinite} of {len(column)} rows. Remove those "
            "rows, or correct them."
        )


def _as_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    pandas = import_extra("pandas", "cli")
    _require_numbers(frame)
    values = frame.to_numpy(dtype="float64", na_value=float("nan"))
    numbers = pandas.DataFrame(values, columns=frame.columns, index=frame.index)
    _require_finite(numbers)
    _warn_of_row_numbers(numbers)
    return numbers


def _require_numbers(frame: pd.DataFrame) -> None:
    dates, others = [], []
    for position, name in enumerate(frame.columns):
        column = frame.iloc[:, position]
        if holds_times(column):
            dates.append(name)
        elif not holds_numbers(column):
            others.append(f"{name!r}{text_example(column)}")
    advice = "or leave them out (--drop on the command line)."
    if others:
        raise InputError(
            f"{count_noun(len(others), 'column holds', 'columns hold')} text or categories, not "
            f"numbers: {join_names(others, quote=False)}. Encode them as numbers, for example with "
            f"pandas.get_dummies, {advice}"
        )
    if dates:
        raise InputError(
            f"{count_noun(len(dates), 'column holds', 'columns hold')} dates or times: "
            f"{join_names(dates)}. Turn them into numbers, such as days since a day, {advice}"
        )


def _require_finite(numbers: pd.DataFrame) -> None:
    missing = np.isnan(numbers.to_numpy()).sum(axis=0)
    infinite = np.isinf(numbers.to_numpy()).sum(axis=0)
    counts = [
        f"{name!r} ({_missing_and_infinite(int(gone), int(endless))})"
        for name, gone, endless in zip(numbers.columns, missing, infinite, strict=True)
        if gone or endless
    ]
    if counts:
        raise InputError(
            f"{count_noun(len(counts), 'column has', 'columns have')} values that are missing or "
            f"infinite: {join_names(counts, quote=False)}. Fill them in, remove those rows, or "
            "leave the columns out (--drop on the command line)."
        )


def _missing_and_infinite(missing: int, infinite: int) -> str:
    parts = [f"{missing} missing"] if missing else []
    return ", ".join([*parts, f"{infinite} infinite"] if infinite else parts)


def _warn_of_row_numbers(numbers: pd.DataFrame) -> None:
    """A column without a name that counts the rows is an index some program wrote down."""
    first = str(numbers.columns[0])
    steps = numbers.iloc[:, 0].diff().iloc[1:]
    if (first == "" or first.startswith(("Unnamed: ", "__index_level_"))) and (steps == 1).all():
        warnings.warn(
            f"The column {first!r} has no name in the file and counts the rows. It is analysed as "
            f"a feature; leave it out (--drop {first!r}) if it is not one.",
            RelevanceWarning,
            stacklevel=5,
        )


def read_feature_costs(path: str) -> dict[str, float]:
    """The cost of each feature, from a table with the columns ``feature`` and ``cost``."""
    frame = read_table(path)
    for column in ("feature", "cost"):
        if column not in frame.columns:
            raise InputError(
                f"{path!r} has no column {column!r}: costs are a table with the columns 'feature' "
                "and 'cost'."
            )
    costs = import_extra("pandas", "cli").to_numeric(frame["cost"], errors="coerce")
    if costs.isna().any():
        feature = frame.loc[costs.isna(), "feature"].iloc[0]
        raise InputError(f"The cost of {str(feature)!r} in {path!r} is not a number.")
    names = frame["feature"].astype(str)
    twice = names[names.duplicated()]
    if len(twice):
        raise InputError(f"{path!r} has two costs of {twice.iloc[0]!r}.")
    return dict(zip(names, frame["cost"].astype(float), strict=True))
