"""How many rows are taken at a time where a whole table would be too much."""

from __future__ import annotations

from collections.abc import Iterator


def row_batches(
    n_rows: int, n_features: int, *, budget: int, least: int = 1, most: int | None = None
) -> Iterator[slice]:
    """Rows of a table, some at a time.

    Parameters
    ----------
    n_rows, n_features : int
    budget : int
        So many numbers at a time.
    least : int, default=1
        So many rows at least, even where that is above the budget.
    most : int or None, default=None
        So many rows at most.

    Examples
    --------
    >>> list(row_batches(5, 100, budget=250))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    size = rows_within(n_features, budget=budget, least=least, most=most)
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def rows_within(n_features: int, *, budget: int, least: int = 1, most: int | None = None) -> int:
    """Number of rows that stay within a budget of numbers; see :func:`row_batches`.

    Examples
    --------
    >>> rows_within(100, budget=250), rows_within(100, budget=250, least=7)
    (2, 7)
    """
    size = max(least, budget // max(n_features, 1))
    return size if most is None else min(size, most)
