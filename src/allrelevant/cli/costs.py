"""Costs of features, from a table of two columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ("feature", "cost")


def read_costs_of(path: str) -> dict[str, float]:
    """The cost of each feature that a file lists.

    Parameters
    ----------
    path : str
        A table, as :func:`allrelevant.tables.read_table` takes it, with the columns ``feature`` and
        ``cost``.
    """
    from ..tables import read_table

    frame = read_table(path)
    missing = [name for name in _COLUMNS if name not in frame.columns]
    if missing:
        raise InputError(
            f"{path!r} has no column {missing[0]!r}: costs are a table with the columns 'feature' "
            "and 'cost'."
        )
    _require_numbers(frame, path)
    names = frame["feature"].astype(str)
    twice = names[names.duplicated()]
    if len(twice):
        raise InputError(f"{path!r} has two costs of {twice.iloc[0]!r}.")
    return dict(zip(names, frame["cost"].astype(float), strict=True))


def _require_numbers(frame: pd.DataFrame, path: str) -> None:
    from ..extras import import_extra

    pandas = import_extra("pandas", "cli")
    costs = pandas.to_numeric(frame["cost"], errors="coerce")
    if costs.isna().any():
        bad = frame.loc[costs.isna(), "feature"].iloc[0]
        raise InputError(f"The cost of {str(bad)!r} in {path!r} is not a number.")
