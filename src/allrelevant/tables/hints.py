"""Columns whose contents suggest a different role: identifiers, row groups, codes of categories."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._text import join_names
from ..exceptions import InputError, warn_caller
from ..terms.columns import Column
from ..terms.encoding import MAX_LEVELS
from .inference import is_number

# Numbers of distinct integers that may be codes of categories, and of rows per integer.
_CODES = range(3, 11)
_ROWS_PER_CODE = 5

# Row groups have at least this many distinct values.
_MIN_GROUPS = 8

_GROUP_NAMES = re.compile(
    r"(^|[\W_])(id|patient|subject|person|participant|respondent|animal|donor|user|customer|"
    r"household|family|batch|plate)s?($|[\W_])",
    re.IGNORECASE,
)


def is_identifier(column: Column) -> bool:
    """Return whether a column has a different word in every row.

    Columns in which most, but not all, words are numbers are numbers with typing errors.
    """
    n_present = len(column) - column.n_missing
    is_distinct = column.has_levels and len(np.unique(column.values[~column.missing])) == n_present
    has_errors = _is_mostly_numbers(column) and not all(map(is_number, column.levels))
    return is_distinct and n_present > 2 and not has_errors


def _is_mostly_numbers(column: Column) -> bool:
    return sum(map(is_number, column.levels)) > len(column.levels) / 2


def check_levels(columns: Iterable[Column]) -> None:
    """Raise if a category has too many levels; the message states what to do."""
    for column in columns:
        n_levels = len(column.levels)
        if n_levels <= MAX_LEVELS:
            continue
        others = [level for level in column.levels if not is_number(level)]
        if _is_mostly_numbers(column) and others:
            raise InputError(
                f"Column {column.name!r} contains numbers, but also text, such as "
                f"{others[0][:30]!r}. Correct these cells or leave them empty, or drop the column "
                "(--drop on the command line)."
            )
        raise InputError(
            f"Column {column.name!r} has {n_levels:,} different texts, more than {MAX_LEVELS}. "
            "Combine them into fewer categories, or drop the column (--drop on the command line). "
            "If it identifies rows that belong together, use it as row groups (--groups)."
        )


def hint_at_kinds(columns: Iterable[Column], known: Collection[str]) -> None:
    """Warn about columns that may be row groups or codes of categories, except the known ones."""
    unknown = [column for column in columns if column.name not in known]
    groups = [column for column in unknown if _looks_like_groups(column)]
    for column in groups:
        sizes = _counts(column)
        warn_caller(
            f"Column {column.name!r} may identify rows that belong together ({len(sizes)} values, "
            f"about {np.median(sizes):.0f} rows each). If so, pass it as row groups (--groups "
            f"{column.name!r} on the command line); otherwise results may be too optimistic."
        )
    codes = [c.name for c in unknown if c not in groups and _looks_like_codes(c)]
    if codes:
        warn_caller(
            f"{join_names(codes, 5)} {'has' if len(codes) == 1 else 'have'} only a few distinct "
            "integers. If they are codes of categories, declare them as categorical "
            f"(--categorical {codes[0]!r} on the command line)."
        )


def _counts(column: Column) -> NDArray[Any]:
    return np.unique(column.values[~column.missing], return_counts=True)[1]


def _is_integer(column: Column) -> bool:
    present = column.values[~column.missing]
    return column.kind == "number" and bool((present == np.round(present)).all())


def _looks_like_groups(column: Column) -> bool:
    """Return whether the same words or integers are repeated, as for several rows per patient."""
    sizes = _counts(column)
    is_repeated = len(sizes) >= _MIN_GROUPS and sizes.min() > 1 and sizes.max() < len(column) / 4
    if not is_repeated or not (column.has_levels or _is_integer(column)):
        return False
    is_numbered = column.has_levels and all(re.search(r"\d", level) for level in column.levels)
    return is_numbered or _GROUP_NAMES.search(column.name) is not None


def _looks_like_codes(column: Column) -> bool:
    if not _is_integer(column):
        return False
    n_codes = len(_counts(column))
    return n_codes in _CODES and len(column) >= _ROWS_PER_CODE * n_codes
