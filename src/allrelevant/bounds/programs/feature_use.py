"""Which features a model uses, as columns of 0 and 1 beside those of its weights.

A weight can differ from zero only if its feature is used, and then it keeps within the bounds that
are known of it anyway: ``positive <= high use``, ``negative <= -low use``. These bounds are as
tight as any, which is what such programs need. Problems of several classes are put side by side,
and have the columns of use in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...arrays import Matrix, Vector
from .linear_program import LinearProgram


@dataclass(frozen=True)
class UseProgram:
    """Models of each problem, and the features they use.

    Attributes
    ----------
    program : LinearProgram
        Its columns are those of the problems, one problem after the other, then those of use.
    parts : list of LinearProgram
        The problems by themselves.
    n_features : int
        Number of columns of use.
    """

    program: LinearProgram
    parts: list[LinearProgram]
    n_features: int

    @property
    def use(self) -> NDArray[np.int32]:
        """The columns of use."""
        n_columns = self.program.n_columns
        return np.arange(n_columns - self.n_features, n_columns, dtype=np.int32)

    def models(self, point: Vector) -> list[tuple[Vector, Vector]]:
        """Weights and offsets of the model of each problem."""
        starts = np.cumsum([0, *(part.n_columns for part in self.parts)])
        return [
            (
                own[part.blocks["positive"]] - own[part.blocks["negative"]],
                own[part.blocks["offset"]],
            )
            for part, start in zip(self.parts, starts[:-1], strict=True)
            for own in [point[start : start + part.n_columns]]
        ]

    def without(self, sets: Sequence[NDArray[np.intp]]) -> LinearProgram:
        """The program without models that use all features of any of these sets."""
        rows = np.zeros((len(sets), self.program.n_columns))
        for row, members in zip(rows, sets, strict=True):
            row[self.use[members]] = 1.0
        program = self.program
        return replace(
            program,
            matrix=sp.vstack([program.matrix, sp.csc_array(rows)], format="csc"),
            row_lower=np.r_[program.row_lower, np.full(len(sets), -np.inf)],
            row_upper=np.r_[program.row_upper, [len(members) - 1.0 for members in sets]],
        )


def use_program(
    parts: Sequence[LinearProgram], signed: Sequence[Matrix], costs: Vector, fixed: Matrix
) -> UseProgram:
    """Models of the least total cost of the features that they use.

    Parameters
    ----------
    parts : sequence of LinearProgram
        The set of models of each problem.
    signed : sequence of ndarray of shape (n_weights, 2)
        What the weights of each problem cannot go beyond.
    costs : ndarray of shape (n_features,)
        Of the first weights of each problem; the others cost nothing.
    fixed : ndarray of shape (n_features, 2)
        Bounds of use: (0, 1), or (1, 1) and (0, 0) for features with no choice.
    """
    n = len(costs)
    blocks = [_use_rows(part, ends[:n]) for part, ends in zip(parts, signed, strict=True)]
    matrix = sp.vstack(
        [
            sp.hstack(
                [sp.block_diag([part.matrix for part in parts]), _nothing(parts, n)], format="csc"
            ),
            sp.hstack(
                [
                    sp.block_diag([weights for weights, _ in blocks]),
                    sp.vstack([use for _, use in blocks]),
                ],
                format="csc",
            ),
        ],
        format="csc",
    )
    n_use_rows = 2 * n * len(blocks)
    program = LinearProgram(
        matrix=sp.csc_array(matrix),
        cost=np.r_[np.concatenate([part.cost for part in parts]), costs],
        row_lower=np.r_[*[part.row_lower for part in parts], np.full(n_use_rows, -np.inf)],
        row_upper=np.r_[*[part.row_upper for part in parts], np.zeros(n_use_rows)],
        column_lower=np.r_[*[part.column_lower for part in parts], fixed[:, 0]],
        column_upper=np.r_[*[part.column_upper for part in parts], fixed[:, 1]],
        blocks={},
    )
    return UseProgram(program, list(parts), n)


def _use_rows(part: LinearProgram, signed: Matrix) -> tuple[sp.csc_array, sp.csc_array]:
    """What the rows ``positive <= high use`` and ``negative <= -low use`` have of each block."""
    n, each = len(signed), np.arange(len(signed))
    low, high = np.minimum(signed[:, 0], 0.0), np.maximum(signed[:, 1], 0.0)
    columns = np.r_[part.blocks["positive"].start + each, part.blocks["negative"].start + each]
    places = (np.arange(2 * n), columns)
    weights = sp.csc_array((np.ones(2 * n), places), shape=(2 * n, part.n_columns))
    use = sp.vstack([sp.diags_array(-high), sp.diags_array(low)], format="csc")
    return weights, sp.csc_array(use)


def _nothing(parts: Sequence[LinearProgram], n: int) -> sp.csc_array:
    return sp.csc_array((sum(part.n_rows for part in parts), n))
