"""Signs that rows are repeated, as in a table with several rows per patient but no patient ID.

Two signs are recognized. Numbers that are constant within patients determine each other: each pair
of values occurs as often as the single values. Numbers that vary a little within patients make the
rows of a patient similar: small groups of rows are close to each other and far from all others.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from scipy.special import ndtri
from scipy.stats import rankdata

from .._typing import Matrix, Vector
from ..exceptions import warn_caller
from ..terms.columns import Column

# Numbers that identify repeated rows have at least this many distinct values, each in two or more
# rows on average. Together, two such columns have at most this many times as many distinct values.
_MIN_UNITS, _MIN_ROWS_PER_UNIT, _MAX_UNITS_RATIO = 20, 2, 1.05

# Distances are computed from numbers with at least this many distinct values, at least one per ten
# rows, and with few missing values.
_MIN_DISTINCT, _MAX_ROWS_PER_VALUE, _MAX_MISSING = 20, 10, 0.2
_MIN_COLUMNS = 3

# Limits of the computation of distances. Larger tables are not examined.
_MIN_ROWS, _MAX_ROWS = 40, 200_000
_MAX_COLUMNS, _MAX_CELLS = 200, 2_000_000
_MAX_NEIGHBORHOOD, _START_QUANTILE = 1_000, 0.75

# Counts of close pairs grow by this factor from one point of the curve to the next, from a first
# count up to a fraction of all pairs. A slope is that over a doubling of the count.
_GROWTH, _DOUBLING = 2**0.25, 4
_FIRST_COUNT, _LAST_FRACTION = 16, 1 / 6

# Standard errors by which the slope must be smaller than at smaller and at larger distances. In
# tables of independent rows, this number rarely exceeds 3.
_MIN_DROP = 4.0

_ADVICE = (
    "If several rows belong to one patient or object, add a column that identifies it and pass it "
    "as row groups (--groups on the command line); otherwise results may be too optimistic."
)


def hint_at_repeated_rows(columns: Iterable[Column]) -> None:
    """Warn if rows look repeated, as if the table had several rows per patient but no patient ID.

    Numbers of which one increases with the other also determine each other, for example
    measurements in two units; they are not a sign of repeated rows.
    """
    numbers = [column for column in columns if column.kind == "number"]
    if (pair := _pair_that_determines_each_other(numbers)) is not None:
        first, second, n_pairs = pair
        warn_caller(
            f"Rows look repeated: {first.name!r} and {second.name!r} have only {n_pairs} different "
            f"pairs of values in {len(first):,} rows. {_ADVICE}"
        )
        return
    n_similar = _group_size(numbers)
    if n_similar is not None:
        warn_caller(
            f"Rows look repeated: a typical row resembles about {n_similar} other "
            f"{'rows' if n_similar > 1 else 'row'} much more than the rest. {_ADVICE}"
        )


def _pair_that_determines_each_other(numbers: list[Column]) -> tuple[Column, Column, int] | None:
    """Return two columns of repeated values that determine each other, and their distinct pairs."""
    codes: list[tuple[Column, NDArray[np.intp]]] = []
    for column in numbers:
        if not column.n_missing:
            n_values = len(distinct := np.unique(column.values))
            if _MIN_UNITS <= n_values <= len(column) / _MIN_ROWS_PER_UNIT:
                codes.append((column, np.searchsorted(distinct, column.values)))
    if len(codes) < 2:
        return None
    first, first_codes = max(codes, key=lambda item: int(item[1].max()))
    for column, own_codes in codes:
        n_values = int(own_codes.max()) + 1
        pairs = np.unique(first_codes * n_values + own_codes)
        n_units = int(first_codes.max()) + 1
        if len(pairs) <= _MAX_UNITS_RATIO * n_units and not _is_monotone(pairs % n_values):
            return first, column, len(pairs)
    return None


def _is_monotone(values: NDArray[np.intp]) -> bool:
    steps = np.diff(values)
    return bool((steps >= 0).all() or (steps <= 0).all())


def _group_size(numbers: list[Column]) -> int | None:
    """Return how many other rows a typical row resembles, None if there are no groups of rows.

    The number of pairs of rows within a distance grows with that distance. In a table of
    independent rows, its slope on logarithmic axes, the correlation dimension of Grassberger and
    Procaccia (1983), decreases. With small groups of similar rows, there are many pairs at small
    distances, and then few until the distance between groups: the slope drops and rises again.
    """
    scores = _normal_scores(numbers)
    if scores is None:
        return None
    distances = pdist(scores)
    distances = np.sort(distances[distances > 0])
    counts = _FIRST_COUNT * _GROWTH ** np.arange(200)
    counts = counts[counts < _LAST_FRACTION * len(distances)]
    if len(counts) < 4 * _DOUBLING:
        return None
    log_distance = np.log(distances[counts.astype(int) - 1])
    step = np.maximum(log_distance[_DOUBLING:] - log_distance[:-_DOUBLING], 1e-6)
    log_slope = np.log(np.log(2.0) / step)
    variance = 1.0 / (counts[_DOUBLING:] - counts[:-_DOUBLING])
    drops = (log_slope[:, None] - log_slope) / np.sqrt(variance[:, None] + variance)
    inner = range(_DOUBLING, len(step) - _DOUBLING)
    drop = [
        min(drops[: i - _DOUBLING + 1, i].max(), drops[i + _DOUBLING :, i].max()) for i in inner
    ]
    lowest = int(np.argmax(drop))
    if drop[lowest] < _MIN_DROP:
        return None
    n_close = counts[inner[lowest] + _DOUBLING // 2]
    return max(1, round(2.0 * n_close / len(scores)))


def _normal_scores(numbers: list[Column]) -> Matrix | None:
    """Return the normal scores of the numbers, without copies of rows, None if there are too few.

    In a long table, rows that are close to each other are returned, which include whole groups.
    """
    n_rows = len(numbers[0]) if numbers else 0
    if not _MIN_ROWS <= n_rows <= _MAX_ROWS:
        return None
    n_columns = min(_MAX_COLUMNS, max(_MIN_COLUMNS, _MAX_CELLS // n_rows))
    varied = [column for column in _evenly_spaced(numbers, 2 * n_columns) if _is_varied(column)]
    if len(varied) < _MIN_COLUMNS:
        return None
    chosen = _evenly_spaced(varied, n_columns)
    scores = np.unique(np.column_stack([_scores(column) for column in chosen]), axis=0)
    if len(scores) < _MIN_ROWS:
        return None
    return _neighborhood(np.asarray(scores, dtype=np.float64))


def _neighborhood(scores: Matrix) -> Matrix:
    """Return the rows closest to one that is far from the center, where groups are far apart."""
    if len(scores) <= _MAX_NEIGHBORHOOD:
        return scores
    from_center = (scores**2).sum(axis=1)
    start = np.argsort(from_center, kind="stable")[int(_START_QUANTILE * len(scores))]
    from_start = ((scores - scores[start]) ** 2).sum(axis=1)
    return scores[np.argsort(from_start, kind="stable")[:_MAX_NEIGHBORHOOD]]


def _evenly_spaced(columns: list[Column], n_columns: int) -> list[Column]:
    """Return all columns, or as many as asked for, at equal distances in the table."""
    places = np.linspace(0, len(columns) - 1, min(n_columns, len(columns)))
    return [columns[place] for place in places.astype(int)]


def _is_varied(column: Column) -> bool:
    if column.n_missing > _MAX_MISSING * len(column) or np.isinf(column.values).any():
        return False
    n_values = len(np.unique(column.values[~column.missing]))
    return n_values >= max(_MIN_DISTINCT, len(column) / _MAX_ROWS_PER_VALUE)


def _scores(column: Column) -> Vector:
    """Return the normal scores of a column; those of missing values are zero."""
    scores = np.zeros(len(column))
    present = ~column.missing
    ranks = rankdata(column.values[present])
    scores[present] = ndtri((ranks - 0.5) / len(ranks))
    return np.asarray(scores / scores.std(), dtype=np.float64)
