"""Spectra, and what was measured of the same samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix, Vector


class Spectra(NamedTuple):
    """Spectra of samples, the content to predict from them, and the part each row belongs to.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_channels)
    y : ndarray of shape (n_samples,)
        Content of each sample, in percent.
    part : ndarray of shape (n_samples,)
        ``"train"`` or ``"test"``, and ``"extrapolation"`` in the whole Tecator table, as its
        publishers divided it.
    """

    X: Matrix
    y: Vector
    part: NDArray[np.str_]
