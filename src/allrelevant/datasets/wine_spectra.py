"""The wine spectra of Prof. Meurens: infrared spectra and the content of alcohol."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Matrix
from ..exceptions import InputError
from .r_data import read_r_data
from .spectra import Spectra

_NAMES = ("x.learning", "y.learning", "x.test", "y.test")

# Rows 34, 35 and 84 of the learning set, counted from 1.
_OUTLIERS = (33, 34, 83)


def load_wine_spectra(path: str | Path, *, drop_outliers: bool = False) -> Spectra:
    """Read the wine spectra from the data file of the R package cggd.

    Infrared spectra of 124 wines at 256 points, and their content of alcohol. The file
    (``data/Wine.RData`` in https://cran.r-project.org/package=cggd) is not part of this package.
    The data were provided by Prof. Marc Meurens, Université catholique de Louvain, BNUT unit, who
    asks to be acknowledged.

    Parameters
    ----------
    path : str or Path
        A data file of R with the matrices ``x.learning``, ``y.learning``, ``x.test`` and
        ``y.test``, or a list of them.
    drop_outliers : bool, default=False
        Leave out samples 34, 35 and 84 of the learning set, as is usual.

    Returns
    -------
    Spectra
        94 rows of the part ``"train"`` (91 without outliers), then 30 of ``"test"``.
    """
    x_learning, y_learning, x_test, y_test = _matrices(path)
    _require_fit(path, x_learning, y_learning, x_test, y_test)
    X, y = np.vstack([x_learning, x_test]), np.vstack([y_learning, y_test]).ravel()
    part = np.repeat(["train", "test"], [len(x_learning), len(x_test)])
    kept = np.ones(len(X), dtype=bool)
    if drop_outliers:
        if len(x_learning) <= max(_OUTLIERS):
            raise InputError(
                f"{str(path)!r} has {len(x_learning)} learning rows: it has no sample "
                f"{max(_OUTLIERS) + 1} to leave out. Use drop_outliers=False."
            )
        kept[list(_OUTLIERS)] = False
    return Spectra(X[kept], y[kept], part[kept])


def _matrices(path: str | Path) -> list[Matrix]:
    found = read_r_data(path)
    if len(found) == 1:
        (only,) = found.values()
        found = only if isinstance(only, dict) else found
    missing = [name for name in _NAMES if name not in found]
    if missing:
        raise InputError(
            f"{str(path)!r} has no {missing[0]}; the file of the wine spectra has "
            f"{', '.join(_NAMES)}."
        )
    return [_matrix(found[name], name, path) for name in _NAMES]


def _matrix(values: Any, name: str, path: str | Path) -> Matrix:
    """A matrix, a vector or a data frame as a matrix; vectors are columns."""
    if isinstance(values, dict):
        values = np.column_stack(list(values.values()))
    matrix = np.asarray(values)
    if matrix.ndim not in (1, 2) or not np.issubdtype(matrix.dtype, np.number):
        raise InputError(f"{str(path)!r} has a {name} that is no matrix of numbers.")
    return matrix.reshape(len(matrix), -1).astype(np.float64)


def _require_fit(path: str | Path, *matrices: Matrix) -> None:
    x_learning, y_learning, x_test, y_test = (matrix.shape for matrix in matrices)
    if (x_learning[0], 1) != y_learning or (x_test[0], 1) != y_test or x_learning[1] != x_test[1]:
        shapes = ", ".join(
            f"{name} {' x '.join(map(str, matrix.shape))}"
            for name, matrix in zip(_NAMES, matrices, strict=True)
        )
        raise InputError(f"{str(path)!r} has matrices that do not fit each other: {shapes}.")
