"""What every set of equivalent models has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix, Vector
from .linear_program import LinearProgram


@dataclass(frozen=True)
class Cover:
    """Which budget row limits which columns.

    A budget is a row ``sum_k coefficient_k x_k <= limit`` over columns with ``x_k >= 0``: it is
    what makes the polytope bounded, and what lets any vector of duals be turned into a valid
    certificate (see :mod:`allrelevant.bounds.solver.proofs`).

    Attributes
    ----------
    row : int
        The budget's row in the program.
    columns : ndarray of shape (n_covered,)
        The columns it limits; over all covers, each column without an upper bound occurs once.
    coefficients : ndarray of shape (n_covered,)
        Their coefficients in that row, all positive.
    """

    row: int
    columns: NDArray[np.intp]
    coefficients: Vector


class EquivalentModels(ABC):
    """All linear models that are as good as a baseline: one polytope.

    A subclass is one task (classification, regression, ...). It says which program describes
    the set, how to read a model off a point of the polytope, and how to check a model against
    the data without any solver. The interval solver needs nothing else.
    """

    @property
    @abstractmethod
    def n_weights(self) -> int:
        """Number of weights whose range is asked for, one a feature."""

    @property
    @abstractmethod
    def program(self) -> LinearProgram:
        """The polytope, with the blocks ``"positive"`` and ``"negative"`` of the weights.

        Weight j is the difference of the j-th columns of the two blocks.
        """

    @property
    @abstractmethod
    def covers(self) -> tuple[Cover, ...]:
        """The budget rows, and the columns that each of them limits."""

    @abstractmethod
    def violation(self, coef: Matrix, offset: Matrix) -> Vector:
        """By how much each model oversteps the set; zero or less inside it.

        Parameters
        ----------
        coef : ndarray of shape (n_models, n_weights)
        offset : ndarray of shape (n_models, n_offsets)
        """

    def coef_of(self, point: Vector) -> Vector:
        """Weights of the model at a point of the polytope."""
        blocks = self.program.blocks
        return point[blocks["positive"]] - point[blocks["negative"]]

    def offset_of(self, point: Vector) -> Vector:
        """Offset (or offsets) of the model at a point of the polytope."""
        return point[self.program.blocks["offset"]]
