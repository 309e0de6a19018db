"""Binary SVMs on a precomputed kernel matrix.

``core/smo.c`` explains and implements the method, and ``core/core.h`` describes the arrays.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix, Rows, Vector
from .library import (
    FAILED,
    POINTER,
    RUNNING,
    SIZE,
    WORK_PER_CALL,
    Struct,
    integer,
    load,
    pointer,
    real,
    work_memory,
)

__all__ = ["SVMProblems"]


class _Problems(Struct):
    _fields_ = (
        ("n_members", SIZE),
        ("n_problems", SIZE),
        *((name, POINTER) for name in ("members", "starts", "side", "weight")),
    )


class SVMProblems:
    """Samples of several binary SVMs, one problem after another.

    ``members[starts[p]:starts[p + 1]]`` are the samples of problem p; ``side`` (the labels, +1 or
    -1) and ``weight`` have the same layout. The object can be used by several threads.
    """

    def __init__(self, members: Rows, starts: Rows, side: Vector, weight: Vector) -> None:
        self._arrays = integer(members), integer(starts), real(side), real(weight)
        self._n_members, self._n_problems = len(members), len(starts) - 1
        self._struct = _Problems(self._n_members, self._n_problems, *self._arrays)
        self._n_bytes = load().ar_svms_bytes(self._struct.address)

    def __reduce__(self) -> Any:
        return type(self), self._arrays

    def solve(
        self,
        kernel: Matrix,
        costs: Vector,
        b: Matrix,
        *,
        chain_costs: bool,
        tol: float,
        max_iterations: int,
    ) -> tuple[Matrix, int]:
        """Solve all problems at all costs; the solutions are written to ``b``.

        ``b``, of shape (n_costs, n_members), holds the starting points on entry and the solutions
        on return. Costs are in ascending order. If ``chain_costs``, each cost starts from the
        solution of the previous cost.

        Return the offsets, of shape (n_costs, n_problems), and the largest number of iterations,
        which is ``max_iterations`` if a problem was not solved.
        """
        kernel, costs = real(kernel), real(costs)
        offsets = np.empty((len(costs), self._n_problems))
        work, iterations = work_memory(self._n_bytes), ctypes.c_int64()
        arguments = (
            self._struct.address,
            len(kernel),
            pointer(kernel),
            len(costs),
            pointer(costs),
            chain_costs,
            tol,
            max_iterations,
            WORK_PER_CALL,
            pointer(b),
            pointer(offsets),
            ctypes.addressof(iterations),
            pointer(work),
        )
        core, status = load(), RUNNING
        while status == RUNNING:  # Python handles signals between calls
            status = core.ar_solve_svms(*arguments)
        return offsets, max_iterations if status == FAILED else iterations.value

    def decide(self, kernel: Matrix, b: Matrix, offsets: Matrix, rows: Rows) -> NDArray[np.float64]:
        """Return the decision values of all SVMs for the given rows.

        The shape is (n_costs, n_problems, n_rows).
        """
        kernel, b, offsets, rows = real(kernel), real(b), real(offsets), integer(rows)
        values = np.empty((*offsets.shape, len(rows)))
        load().ar_decide(
            self._struct.address,
            len(kernel),
            pointer(kernel),
            len(b),
            pointer(b),
            pointer(offsets),
            len(rows),
            pointer(rows),
            pointer(values),
        )
        return values
