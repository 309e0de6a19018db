"""The one place that talks to HiGHS.

The reference: every extreme as a linear program of its own, on one HiGHS model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Vector
from ...exceptions import SolverError
from ..programs.equivalent_models import EquivalentModels, LinearProgram
from .interface import Extreme, ExtremeSolutions, SolverStats

# HiGHS stops at residuals of 1e-7 by default: too coarse for bounds proven to 1e-6.
_TOLERANCE = 1e-9


# After a change of the objective the last basis is still primal feasible: the primal simplex goes
# on from it. (The dual simplex, HiGHS's default, gains nothing from such a start.) Features are
# standardised as a rule, so scaling the matrix once more costs more than it brings.
_WARM: Mapping[str, str | int] = {
    "solver": "simplex",
    "simplex_strategy": 4,
    "presolve": "off",
    "simplex_scale_strategy": 0,
}


_COLD: Mapping[str, str | int] = {
    "solver": "choose",
    "simplex_strategy": 1,
    "presolve": "choose",
    "simplex_scale_strategy": 2,
}


# An integer solution this close to the best one is the best one.
_INTEGER_GAP = 1e-7


@dataclass(frozen=True)
class Solution:
    """An optimal vertex and the duals of its rows."""

    point: Vector
    row_dual: Vector
    value: float


@dataclass(frozen=True)
class IntegerSolution:
    """The best point found of a program with integer columns, and what none can go below.

    Attributes
    ----------
    point : ndarray of shape (n_columns,)
    value : float
        Of the objective there.
    bound : float
        That no point has a smaller value than this is proven.
    proven : bool
        Whether the point is as good as any.
    """

    point: Vector
    value: float
    bound: float
    proven: bool


@dataclass(frozen=True)
class NoPoint:
    """No point of a program with integer columns: there is none, or none was found in time."""

    timed_out: bool


class HighsModel:
    """One program in HiGHS, solved again and again under changing objectives.

    Keep one to a thread, and all with the same number of threads: HiGHS asks for that.
    """

    def __init__(self, program: LinearProgram) -> None:
        # Imported here: it takes a quarter of a second, which `allrelevant --help` need not pay.
        import highspy

        self._api = highspy
        self.program = program
        self._highs = highspy.Highs()
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            ("primal_feasibility_tolerance", _TOLERANCE),
            ("dual_feasibility_tolerance", _TOLERANCE),
        ):
            self._highs.setOptionValue(option, value)
        self._highs.passModel(self._as_highs(program))

    def change_cost(self, columns: NDArray[np.int32], cost: Vector) -> None:
        """Set the objective's coefficients of some columns; the others keep theirs."""
        self._highs.changeColsCost(len(columns), columns, cost)

    def add_columns(self, matrix: sp.csc_array, cost: Vector) -> None:
        """Add nonnegative columns behind those that are there; the basis stays as it is."""
        n_columns = matrix.shape[1]
        self._highs.addCols(
            n_columns,
            cost,
            np.zeros(n_columns),
            np.full(n_columns, np.inf),
            matrix.nnz,
            matrix.indptr[:-1].astype(np.int32),
            matrix.indices.astype(np.int32),
            matrix.data,
        )

    def add_rows(self, matrix: sp.csr_array, lower: Vector) -> None:
        """Add rows with lower bounds behind those that are there; the basis stays as it is."""
        n_rows = matrix.shape[0]
        self._highs.addRows(
            n_rows,
            lower,
            np.full(n_rows, np.inf),
            matrix.nnz,
            matrix.indptr[:-1].astype(np.int32),
            matrix.indices.astype(np.int32),
            matrix.data,
        )

    def solve(self, what: str) -> Solution:
        """Optimise from the last basis, the one of HiGHS's choice at first.

        If that should end anywhere but at an optimum, the program is solved once more from
        scratch, by the method HiGHS prefers.

        Parameters
        ----------
        what : str
            What is being asked, for the error message.
        """
        try:
            return self._run(what, _WARM)
        except SolverError:
            self._highs.clearSolver()
            return self._run(what, _COLD)

    def solve_integer(
        self, columns: NDArray[np.int32], what: str, seconds: float | None = None
    ) -> IntegerSolution | NoPoint:
        """Optimise with some columns integer.

        Parameters
        ----------
        columns : ndarray of int
        what : str
            What is being asked, for the error message.
        seconds : float, default=None
            After which the best point found so far will do.
        """
        highs, status = self._highs, self._api.HighsModelStatus
        whole = np.full(len(columns), int(self._api.HighsVarType.kInteger), dtype=np.uint8)
        highs.changeColsIntegrality(len(columns), columns, whole)
        options: dict[str, Any] = {**_COLD, "mip_rel_gap": 0.0, "mip_abs_gap": _INTEGER_GAP}
        options["mip_feasibility_tolerance"] = _TOLERANCE
        options["time_limit"] = np.inf if seconds is None else max(float(seconds), 0.0)
        for option, value in options.items():
            highs.setOptionValue(option, value)
        highs.run()
        answer, info = highs.getModelStatus(), highs.getInfo()
        if answer == status.kInfeasible:
            return NoPoint(timed_out=False)
        if answer not in (status.kOptimal, status.kTimeLimit):
            raise SolverError(
                f"HiGHS did not solve the program for {what}: it answered "
                f"{highs.modelStatusToString(answer)!r}."
            )
        if info.primal_solution_status != self._api.SolutionStatus.kSolutionStatusFeasible:
            return NoPoint(timed_out=True)
        point = np.array(highs.getSolution().col_value)
        return IntegerSolution(
            point=point,
            value=float(info.objective_function_value),
            bound=float(info.mip_dual_bound),
            proven=bool(answer == status.kOptimal),
        )

    def _run(self, what: str, method: Mapping[str, str | int]) -> Solution:
        for option, value in method.items():
            self._highs.setOptionValue(option, value)
        self._highs.run()
        status = self._highs.getModelStatus()
        if status != self._api.HighsModelStatus.kOptimal:
            answer = self._highs.modelStatusToString(status)
            raise SolverError(
                f"HiGHS did not solve the program for {what}: it answered {answer!r}. Badly scaled "
                "columns are the usual cause: try standardize=True, or a smaller C."
            )
        solution = self._highs.getSolution()
        return Solution(
            point=np.array(solution.col_value),
            row_dual=np.array(solution.row_dual),
            value=float(self._highs.getInfo().objective_function_value),
        )

    def _as_highs(self, program: LinearProgram) -> Any:
        lp = self._api.HighsLp()
        lp.num_row_, lp.num_col_ = program.n_rows, program.n_columns
        lp.col_cost_ = program.cost
        lp.col_lower_, lp.col_upper_ = program.column_lower, program.column_upper
        lp.row_lower_, lp.row_upper_ = program.row_lower, program.row_upper
        lp.a_matrix_.format_ = self._api.MatrixFormat.kColwise
        lp.a_matrix_.start_ = program.matrix.indptr
        lp.a_matrix_.index_ = program.matrix.indices
        lp.a_matrix_.value_ = program.matrix.data
        return lp


class HighsSolver:
    """Solves the extremes one after the other, each from the last one's basis."""

    def __init__(self, models: EquivalentModels) -> None:
        self._models = self.models = models
        self._highs = HighsModel(models.program)
        self.effort = SolverStats()

    def __call__(self, extremes: Sequence[Extreme]) -> ExtremeSolutions:
        solutions = [self._solve(extreme) for extreme in extremes]
        self.effort.programs += len(extremes)
        points = np.array([solution.point for solution in solutions])
        blocks = self._models.program.blocks
        n_rows = self._models.rows.n_rows
        return ExtremeSolutions(
            coef=points[:, blocks["positive"]] - points[:, blocks["negative"]],
            offset=points[:, blocks["offset"]],
            multipliers=np.array([solution.row_dual[:n_rows] for solution in solutions]),
        )

    def _solve(self, extreme: Extreme) -> Solution:
        # HiGHS minimises: the largest weight is the smallest of its negative.
        blocks = self._models.program.blocks
        starts = np.array([blocks["positive"].start, blocks["negative"].start], dtype=np.int32)
        columns = starts + np.int32(extreme.feature)
        self._highs.change_cost(columns, np.array([-extreme.sign, extreme.sign], dtype=float))
        solution = self._highs.solve(str(extreme))
        self._highs.change_cost(columns, np.zeros(2))
        return solution
