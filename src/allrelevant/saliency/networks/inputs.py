"""What a network is trained on: rows of a table as tensors, a mini-batch at a time.

A sparse table stays sparse; only the rows of a mini-batch are dense.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from ...arrays import Table


class Inputs(Protocol):
    """A table that hands out rows as tensors."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of features."""
        ...

    def rows(self, places: Tensor) -> Tensor:
        """The rows at some places; dense, shape (number of places, d)."""
        ...

    def varying(self) -> Tensor:
        """Which features do not hold one value in all rows; shape (d,)."""
        ...

    def largest(self) -> float:
        """The largest absolute value."""
        ...


class DenseInputs:
    """Rows of an array, moved to the device as a whole."""

    def __init__(self, X: Any, device: torch.device) -> None:
        self._X = torch.from_numpy(X).to(device)

    @property
    def shape(self) -> tuple[int, int]:
        return self._X.shape[0], self._X.shape[1]

    def rows(self, places: Tensor) -> Tensor:
        return self._X[places]

    def varying(self) -> Tensor:
        return self._X.amax(dim=0) > self._X.amin(dim=0)

    def largest(self) -> float:
        return self._X.abs().max().item()


class SparseInputs:
    """Rows of a sparse table; those that are asked for are made dense, then moved."""

    def __init__(self, X: Any, device: torch.device) -> None:
        self._X = sp.csr_array(X)
        self._device = device

    @property
    def shape(self) -> tuple[int, int]:
        return self._X.shape[0], self._X.shape[1]

    def rows(self, places: Tensor) -> Tensor:
        chosen = self._X[places.cpu().numpy()]
        # Memory of torch, not of numpy: products of matrices may differ in the last digit by where
        # in memory a matrix begins, and a sparse table must give what the dense one gives.
        dense = torch.empty(chosen.shape, dtype=torch.float32)
        chosen.toarray(out=dense.numpy())
        return dense.to(self._device)

    def varying(self) -> Tensor:
        high, low = self._X.max(axis=0).toarray(), self._X.min(axis=0).toarray()
        return torch.from_numpy(np.ravel(high > low)).to(self._device)

    def largest(self) -> float:
        return float(abs(self._X).max())


def inputs_of(X: Table, device: torch.device) -> Inputs:
    """The rows of an array or of a sparse table, in single precision."""
    return SparseInputs(X, device) if sp.issparse(X) else DenseInputs(X, device)
