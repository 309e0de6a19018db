"""Column roles: target, features, privileged features, row groups and dropped columns.

Features must be numeric, without missing values. Feature costs are read from a separate table.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._text import count_noun, join_names
from ..exceptions import InputError, warn_caller
from .inference import is_datetime, is_numeric, text_example
from .reading import read_table

if TYPE_CHECKING:
    import pandas as pd

_MIN_ROWS = 4


@dataclass(frozen=True)
class ColumnRoles:
    """Names of the target, the dropped columns, the privileged features and other columns.

    ``event`` is the column that tells whether the time of a survival target is an event.
    """

    target: str
    drop: Sequence[str] = ()
    privileged: Sequence[str] = ()
    row_groups: str | None = None
    event: str | None = None


@dataclass(frozen=True)
class SplitTable:
    """Features, target, privileged features, row groups and events of a table.

    Features are finite float64 values, with booleans converted to 0 and 1. The target is unchanged
    and has no missing values. Row groups are strings.
    """

    X: pd.DataFrame
    y: pd.Series
    privileged: pd.DataFrame | None = None
    row_groups: pd.Series | None = None
    event: pd.Series | None = None


def split_features(frame: pd.DataFrame, roles: ColumnRoles) -> SplitTable:
    """Split a table into features, target, privileged features and row groups."""
    row_groups = None
    if roles.row_groups is not None:
        row_groups = _row_groups(frame, roles.row_groups, roles.target)
        frame = frame.drop(columns=roles.row_groups)
    event = None
    if roles.event is not None:
        event = _event_column(frame, roles)
        frame = frame.drop(columns=roles.event)
    X, y = _split_target(frame, roles.target, roles.drop)
    X, privileged = _split_privileged(X, roles)
    return SplitTable(X, y, privileged, row_groups, event)


def _row_groups(frame: pd.DataFrame, groups: str, target: str) -> pd.Series:
    check_column(groups, [str(name) for name in frame.columns])
    if groups == target:
        raise InputError(f"{groups!r} is the target. Choose a different column for the row groups.")
    missing = int(frame[groups].isna().sum())
    if missing:
        raise InputError(
            f"The group column {groups!r} has no value in {missing} of {len(frame)} rows. Remove "
            "these rows, or fill in the values."
        )
    return frame[groups].astype(str)


def _event_column(frame: pd.DataFrame, roles: ColumnRoles) -> pd.Series:
    name = str(roles.event)
    check_column(name, [str(column) for column in frame.columns])
    if name == roles.target:
        raise InputError(
            f"{name!r} is both the target and the event. Choose the column of the time as the "
            "target."
        )
    if name in (*roles.drop, *roles.privileged):
        raise InputError(
            f"{name!r} is the event, so it cannot be dropped or privileged. Remove it from these "
            "columns."
        )
    return frame[name]


def _split_target(
    frame: pd.DataFrame, target: str, drop: Sequence[str]
) -> tuple[pd.DataFrame, pd.Series]:
    names = [str(name) for name in frame.columns]
    for name in (target, *drop):
        check_column(name, names)
    if target in drop:
        raise InputError(
            f"{target!r} is the target and cannot be dropped. Remove it from the dropped columns."
        )
    if len(frame) < _MIN_ROWS:
        raise InputError(
            f"The table has {count_noun(len(frame), 'row', 'rows')}. Pass a table with at least "
            f"{_MIN_ROWS} rows."
        )
    _check_target_complete(target, frame[target])
    _check_target_finite(target, frame[target])
    features = [name for name in names if name != target and name not in set(drop)]
    if not features:
        raise InputError(
            f"No columns remain besides the target {target!r}. Keep at least one feature."
        )
    return _as_numbers(frame[features]), frame[target]


def _split_privileged(
    X: pd.DataFrame, roles: ColumnRoles
) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    if not roles.privileged:
        return X, None
    for name in roles.privileged:
        if name == roles.target:
            raise InputError(
                f"{name!r} is the target and cannot be privileged. Remove it from the privileged "
                "features."
            )
        if name in roles.drop:
            raise InputError(
                f"{name!r} is both dropped and privileged. Remove it from one of the two lists."
            )
        check_column(name, X.columns.tolist())
    rest = [name for name in X.columns if name not in set(roles.privileged)]
    if not rest:
        raise InputError(
            f"All features are privileged ({join_names(X.columns.tolist())}), but predictions "
            "require at least one other feature. Mark fewer features as privileged."
        )
    return X[rest], X[[name for name in X.columns if name in set(roles.privileged)]]


def check_column(name: str, names: Sequence[str]) -> None:
    """Raise unless exactly one column has this name; the message suggests similar names."""
    if names.count(name) > 1:
        raise InputError(f"Several columns are named {name!r}. Rename all but one.")
    if name in names:
        return
    close = difflib.get_close_matches(name.lower(), [n.lower() for n in names], n=3)
    likely = [n for n in names if n.lower() in close][:3]
    hint = f" Did you mean {join_names(likely, 3, 'or')}?" if likely else ""
    if len(names) == 1:
        hint = " The table has a single column: check the separator (--sep on the command line)."
    raise InputError(f"No column is named {name!r}.{hint} The columns are {join_names(names)}.")


def _check_target_complete(target: str, column: pd.Series) -> None:
    missing = int(column.isna().sum())
    if missing:
        raise InputError(
            f"The target {target!r} is missing in {missing} of {len(column)} rows. Remove these "
            "rows, or fill in the values. (Empty cells, NA, None and null count as missing.)"
        )


def _check_target_finite(target: str, column: pd.Series) -> None:
    if not is_numeric(column):
        return
    infinite = int(np.isinf(column.to_numpy(dtype="float64")).sum())
    if infinite:
        raise InputError(
            f"The target {target!r} is infinite in {infinite} of {len(column)} rows. Remove or "
            "correct these rows."
        )


def _as_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    import pandas

    _check_numeric(frame)
    values = frame.to_numpy(dtype="float64", na_value=float("nan"))
    numbers = pandas.DataFrame(values, columns=frame.columns, index=frame.index)
    _check_finite(numbers)
    _warn_about_row_numbers(numbers)
    return numbers


def _check_numeric(frame: pd.DataFrame) -> None:
    dates, others = [], []
    for position, name in enumerate(frame.columns):
        column = frame.iloc[:, position]
        if is_datetime(column):
            dates.append(name)
        elif not is_numeric(column):
            others.append(f"{name!r}{text_example(column)}")
    advice = "or drop them (--drop on the command line)."
    if others:
        raise InputError(
            f"{count_noun(len(others), 'column contains', 'columns contain')} text or categories "
            f"instead of numbers: {join_names(others, quote=False)}. Encode them as numbers, for "
            f"example with pandas.get_dummies, {advice}"
        )
    if dates:
        raise InputError(
            f"{count_noun(len(dates), 'column contains', 'columns contain')} dates or times: "
            f"{join_names(dates)}. Convert them to numbers, such as days since a fixed date, "
            f"{advice}"
        )


def _check_finite(numbers: pd.DataFrame) -> None:
    missing = np.isnan(numbers.to_numpy()).sum(axis=0)
    infinite = np.isinf(numbers.to_numpy()).sum(axis=0)
    counts = [
        f"{name!r} ({_format_counts(int(n_missing), int(n_infinite))})"
        for name, n_missing, n_infinite in zip(numbers.columns, missing, infinite, strict=True)
        if n_missing or n_infinite
    ]
    if counts:
        raise InputError(
            f"{count_noun(len(counts), 'column has', 'columns have')} missing or infinite values: "
            f"{join_names(counts, quote=False)}. Impute these values, remove the affected rows, "
            "or drop the columns (--drop on the command line)."
        )


def _format_counts(missing: int, infinite: int) -> str:
    parts = [f"{missing} missing"] if missing else []
    return ", ".join([*parts, f"{infinite} infinite"] if infinite else parts)


def _warn_about_row_numbers(numbers: pd.DataFrame) -> None:
    """Warn if the first column is unnamed and contains row numbers, like an exported index."""
    first = str(numbers.columns[0])
    steps = numbers.iloc[:, 0].diff().iloc[1:]
    if (first == "" or first.startswith(("Unnamed: ", "__index_level_"))) and (steps == 1).all():
        warn_caller(
            f"Column {first!r} is unnamed in the file and contains row numbers. It is treated as a "
            f"feature. If it is an index, drop it (--drop {first!r})."
        )


def read_feature_costs(path: str) -> dict[str, float]:
    """Read the cost of each feature from a table with the columns ``feature`` and ``cost``."""
    import pandas

    frame = read_table(path)
    for column in ("feature", "cost"):
        if column not in frame.columns:
            raise InputError(
                f"{path!r} has no column {column!r}. Pass a table with the columns 'feature' and "
                "'cost'."
            )
    costs = pandas.to_numeric(frame["cost"], errors="coerce")
    if costs.isna().any():
        feature, cost = (frame.loc[costs.isna(), name].iloc[0] for name in ("feature", "cost"))
        raise InputError(
            f"The cost of {str(feature)!r} in {path!r} is not a number (got {str(cost)!r}). "
            "Correct this cell."
        )
    names = frame["feature"].astype(str)
    duplicates = names[names.duplicated()]
    if len(duplicates):
        raise InputError(
            f"{path!r} has more than one cost for {duplicates.iloc[0]!r}. Keep only one."
        )
    return dict(zip(names, frame["cost"].astype(float), strict=True))
