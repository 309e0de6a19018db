"""Which features are alive, and how a model that needs all its inputs is kept from the others."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import Table, Vector

Features = NDArray[np.int64]


class Shape(Protocol):
    """How the table looks to a model when only some features are alive."""

    def reduced(self, X: Table, alive: Features) -> Table:
        """The table with these features; the order of its columns is kept."""
        ...

    def of_alive(self, values: Vector, alive: Features) -> Vector:
        """From one number a column of that table to one a feature, in the order given."""
        ...

    def expanded(self, values: Any, alive: Features, n_features: int) -> Any:
        """Rows over the columns of that table, as rows over all features; zero for the others."""
        ...


class Dropping:
    """Dead features are dropped."""

    def reduced(self, X: Table, alive: Features) -> Table:
        """The columns that are alive."""
        return X[:, np.sort(alive)]

    def of_alive(self, values: Vector, alive: Features) -> Vector:
        """In the order given."""
        return values[np.searchsorted(np.sort(alive), alive)]

    def expanded(self, values: Any, alive: Features, n_features: int) -> Any:
        """In their places."""
        full = np.zeros((len(values), n_features))
        full[:, np.sort(alive)] = values
        return full


class Zeroing:
    """Dead features are set to zero: the model keeps its shape, as of pictures."""

    def reduced(self, X: Table, alive: Features) -> Table:
        """All columns, those that are dead without content."""
        kept = np.zeros(X.shape[1], dtype=X.dtype)
        kept[alive] = 1
        return sp.csr_array(X.multiply(kept)) if sp.issparse(X) else X * kept

    def of_alive(self, values: Vector, alive: Features) -> Vector:
        """In the order given."""
        return values[alive]

    def expanded(self, values: Any, alive: Features, n_features: int) -> Any:
        """What the model says of features that it never saw is left out."""
        full = np.zeros((len(values), n_features))
        full[:, alive] = values[:, alive]
        return full


def deviations(X: Table) -> Vector:
    """Standard deviation of each column.

    Examples
    --------
    >>> import numpy as np
    >>> deviations(np.array([[1.0, 2.0], [1.0, 4.0]])).tolist()
    [0.0, 1.0]
    """
    if not sp.issparse(X):
        return np.asarray(X.std(axis=0), dtype=np.float64)
    means = np.asarray(X.mean(axis=0)).ravel()
    squares = np.asarray(X.multiply(X).mean(axis=0)).ravel()
    return np.sqrt(np.maximum(squares - means**2, 0.0))


def constant_features(X: Table) -> list[int]:
    """Columns that hold one value in all rows.

    Examples
    --------
    >>> import numpy as np
    >>> constant_features(np.array([[1.0, 2.0, 0.0], [1.0, 3.0, 0.0]]))
    [0, 2]
    """
    low, high = X.min(axis=0), X.max(axis=0)
    if sp.issparse(X):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    constant: list[int] = np.flatnonzero(low == high).tolist()
    return constant
