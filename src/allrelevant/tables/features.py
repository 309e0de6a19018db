"""Column roles: target, features, privileged features, row groups, weights and dropped columns."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._text import count_noun, join_names
from .._typing import Vector
from ..exceptions import InputError, warn_caller
from ..terms.columns import Column, Frame, word_column
from .hints import check_levels, hint_at_kinds, is_identifier
from .inference import as_numbers, text_example
from .reading import read_table
from .repeated_rows import hint_at_repeated_rows

_MIN_ROWS = 4

# Integers above this limit are not distinct as float64 numbers.
_MAX_INTEGER = 2.0**53


@dataclass(frozen=True)
class ColumnRoles:
    """Names of the columns with a role other than feature, and kinds of features.

    ``categorical`` names columns of numbers that are codes of categories. With ``dates="days"``,
    dates are converted to days since the first date of their column. ``event`` is the column that
    tells whether the time of a survival target is an event.
    """

    target: str
    drop: Sequence[str] = ()
    privileged: Sequence[str] = ()
    row_groups: str | None = None
    weights: str | None = None
    categorical: Sequence[str] = ()
    dates: str | None = None
    event: str | None = None


@dataclass(frozen=True)
class SplitTable:
    """Features, target, privileged features, row groups, weights and events of a table.

    Rows without a target are left out; ``rows`` are the indices of the others. Row groups are
    strings.
    """

    X: Frame
    y: Column
    privileged: Frame | None = None
    row_groups: NDArray[Any] | None = None
    weights: Vector | None = None
    rows: Sequence[int] = ()
    event: Column | None = None


def split_features(frame: Frame, roles: ColumnRoles) -> SplitTable:
    """Split a table into features, target, privileged features, row groups and weights."""
    _check_roles(frame, roles)
    present = np.flatnonzero(~frame[roles.target].missing)
    if len(present) < len(frame):
        warn_caller(
            f"{count_noun(len(frame) - len(present), 'row', 'rows')} of {len(frame):,} left out, "
            f"without a value of the target {roles.target!r}."
        )
        frame = frame.take_rows(present)
    _check_size(frame)
    _check_target_finite(frame[roles.target])
    row_groups = None if roles.row_groups is None else _row_groups(frame[roles.row_groups])
    weights = None if roles.weights is None else _weights(frame[roles.weights])
    others = [roles.target, roles.row_groups, roles.weights, roles.event, *roles.drop]
    X = frame.drop(*(name for name in others if name is not None))
    if not X.data:
        raise InputError(
            f"No columns remain besides the target {roles.target!r}. Keep at least one feature."
        )
    features, privileged = _split_privileged(_prepare_features(X, roles), roles)
    return SplitTable(
        X=features,
        y=frame[roles.target],
        privileged=privileged,
        row_groups=row_groups,
        weights=weights,
        rows=present.tolist(),
        event=None if roles.event is None else frame[roles.event],
    )


def _check_roles(frame: Frame, roles: ColumnRoles) -> None:
    """Raise if a name is unknown, or if a column has two roles."""
    single = {"row groups": roles.row_groups, "weights": roles.weights, "event": roles.event}
    given = [name for name in single.values() if name is not None]
    names = frame.columns
    for name in (roles.target, *given, *roles.drop, *roles.categorical, *roles.privileged):
        check_column(name, names)
    for role, other in single.items():
        if other == roles.target:
            raise InputError(f"{other!r} is the target. Choose a different column for the {role}.")
    reserved = {roles.target: "target", roles.event: "event"}
    for name in (*roles.drop, *roles.privileged):
        if name in reserved:
            role, listed = _listed_as(name, roles)
            raise InputError(
                f"{name!r} is the {reserved[name]} and cannot be {role}. Remove it from the "
                f"{listed}."
            )
    for name in roles.privileged:
        if name in roles.drop:
            raise InputError(
                f"{name!r} is both dropped and privileged. Remove it from one of the two lists."
            )


def _listed_as(name: str, roles: ColumnRoles) -> tuple[str, str]:
    if name in roles.drop:
        return "dropped", "dropped columns"
    return "privileged", "privileged features"


def _check_size(frame: Frame) -> None:
    if len(frame) < _MIN_ROWS:
        raise InputError(
            f"The table has {count_noun(len(frame), 'row', 'rows')}. Pass a table with at least "
            f"{_MIN_ROWS} rows that have a target."
        )


def _check_target_finite(y: Column) -> None:
    infinite = int(np.isinf(y.values).sum())
    if infinite:
        raise InputError(
            f"The target {y.name!r} is infinite in {infinite} of {len(y)} rows. Remove or correct "
            "these rows."
        )


def _row_groups(column: Column) -> NDArray[Any]:
    if column.n_missing:
        raise InputError(
            f"The group column {column.name!r} has no value in {column.n_missing} of {len(column)} "
            "rows. Remove these rows, or fill in the values."
        )
    if column.has_levels:
        return np.array(column.words(), dtype=object)
    if np.abs(column.values).max() >= _MAX_INTEGER:
        raise InputError(
            f"The numbers in the group column {column.name!r} have too many digits to tell them "
            "apart. Store them as text, for example with a letter in front."
        )
    return np.array([_number_word(value) for value in column.values.tolist()], dtype=object)


def _number_word(value: float) -> str:
    return str(int(value)) if value.is_integer() else str(value)


def _weights(column: Column) -> Vector:
    numbers = as_numbers(column)
    if numbers is None:
        raise InputError(
            f"The weights {column.name!r} have non-numeric values{text_example(column)}. Choose a "
            "column of numbers."
        )
    values: Vector = numbers.values
    invalid = int((~np.isfinite(values) | (values < 0)).sum())
    if invalid or not (values > 0).any():
        raise InputError(
            f"The weights {column.name!r} are missing, infinite or negative in {invalid} of "
            f"{len(values)} rows, or all zero. Use weights of at least 0, some of them positive."
        )
    return values


def _split_privileged(X: Frame, roles: ColumnRoles) -> tuple[Frame, Frame | None]:
    if not roles.privileged:
        return X, None
    rest = X.drop(*roles.privileged)
    if not rest.data:
        raise InputError(
            f"All features are privileged ({join_names(X.columns)}), but predictions require at "
            "least one other feature. Mark fewer features as privileged."
        )
    return rest, X.select(roles.privileged)


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


def _prepare_features(X: Frame, roles: ColumnRoles) -> Frame:
    """Return the features with their final kinds, without identifiers."""
    _warn_about_row_numbers(X)
    hint_at_kinds(X, [*roles.categorical, *([roles.row_groups] if roles.row_groups else [])])
    if roles.row_groups is None:
        hint_at_repeated_rows(X)
    columns = [
        _as_categories(column) if column.name in roles.categorical else column for column in X
    ]
    kept = [
        column
        for column in columns
        if column.name in roles.categorical or not is_identifier(column)
    ]
    left_out = [column.name for column in columns if column not in kept]
    if left_out:
        warn_caller(
            f"{join_names(left_out)} {'has' if len(left_out) == 1 else 'have'} a different text in "
            "every row and cannot be used as a feature. Left out."
        )
    if not kept:
        raise InputError("No features remain. Keep at least one column that is not an identifier.")
    kept = [_convert_date(column, roles.dates) for column in kept]
    check_levels(kept)
    _check_infinite(kept)
    return Frame(tuple(kept))


def _as_categories(column: Column) -> Column:
    if column.has_levels:
        return column
    words = [None if np.isnan(v) else _number_word(v) for v in column.values.tolist()]
    return word_column(column.name, words)


def _convert_date(column: Column, dates: str | None) -> Column:
    """Return dates as days since the first date; raise unless this was requested."""
    if column.kind != "date":
        return column
    if dates is None:
        raise InputError(
            f"Column {column.name!r} contains dates or times. Convert dates to days since the "
            "first date (--dates days on the command line), or drop the column (--drop)."
        )
    first = np.nanmin(column.values, initial=np.inf)
    return replace(column, kind="number", values=column.values - first)


def _check_infinite(columns: Sequence[Column]) -> None:
    counts = [
        f"{column.name!r} ({int(np.isinf(column.values).sum())} infinite)"
        for column in columns
        if column.is_numeric and np.isinf(column.values).any()
    ]
    if counts:
        raise InputError(
            f"{count_noun(len(counts), 'column has', 'columns have')} infinite values: "
            f"{join_names(counts, quote=False)}. Correct these values, or drop the columns (--drop "
            "on the command line)."
        )


def require_numbers(columns: Sequence[Column]) -> None:
    """Raise if columns are not numbers or have missing values."""
    advice = "or drop them (--drop on the command line)."
    others = [f"{c.name!r}{text_example(c)}" for c in columns if not c.is_numeric]
    if others:
        raise InputError(
            f"{count_noun(len(others), 'column contains', 'columns contain')} text or categories "
            f"instead of numbers: {join_names(others, quote=False)}. Encode them as numbers, for "
            f"example with pandas.get_dummies, {advice}"
        )
    counts = [f"{c.name!r} ({c.n_missing} missing)" for c in columns if c.n_missing]
    if counts:
        raise InputError(
            f"{count_noun(len(counts), 'column has', 'columns have')} missing values: "
            f"{join_names(counts, quote=False)}. Impute these values, remove the affected rows, "
            "or drop the columns (--drop on the command line)."
        )


def _warn_about_row_numbers(X: Frame) -> None:
    """Warn if the first column is unnamed and contains row numbers, like an exported index."""
    first = X.data[0]
    is_unnamed = first.name == "" or first.name.startswith(("Unnamed: ", "__index_level_"))
    if is_unnamed and first.kind == "number" and (np.diff(first.values) == 1).all():
        warn_caller(
            f"Column {first.name!r} is unnamed in the file and contains row numbers. It is treated "
            f"as a feature. If it is an index, drop it (--drop {first.name!r})."
        )


def read_feature_costs(path: str) -> dict[str, float]:
    """Read the cost of each feature from a table with the columns ``feature`` and ``cost``."""
    frame = read_table(path)
    for column in ("feature", "cost"):
        if column not in frame.columns:
            raise InputError(
                f"{path!r} has no column {column!r}. Pass a table with the columns 'feature' and "
                "'cost'."
            )
    names = _as_categories(frame["feature"]).words()
    costs = frame["cost"]
    texts = costs.words() if costs.has_levels else costs.values.tolist()
    for feature, cost in zip(names, texts, strict=True):
        if not isinstance(cost, float) or np.isnan(cost):
            raise InputError(
                f"The cost of {str(feature)!r} in {path!r} is not a number (got {str(cost)!r}). "
                "Correct this cell."
            )
    named = [str(name) for name in names]
    duplicates = [name for name in named if named.count(name) > 1]
    if duplicates:
        raise InputError(f"{path!r} has more than one cost for {duplicates[0]!r}. Keep only one.")
    return dict(zip(named, costs.values.tolist(), strict=True))
