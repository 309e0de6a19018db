"""Interface to HiGHS, a solver for LPs and MILPs. No other file imports ``highspy``.

:class:`HighsModel` is one LP or MILP in HiGHS, solved under changing objectives.
:class:`HighsSolver` is the reference solver, which finds each largest or smallest weight by an LP.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._typing import Vector
from ...deadline import NO_DEADLINE, Deadline
from ...exceptions import SolverError, TimeLimitError
from ..programs.equivalent_models import EquivalentModels, LinearProgram
from .interface import Extreme, ExtremeSolutions, SolverStats

# The default of HiGHS, 1e-7, is too coarse for bounds certified to 1e-6.
FEASIBILITY_TOL = 1e-9

# Absolute MIP gap up to which an integer solution counts as optimal.
INTEGER_GAP_TOL = 1e-7

# For MILPs with few integer columns, HiGHS is two to three times as fast with a plain branch and
# bound: without presolve, without most heuristics, with cuts at the root only, and with few LPs to
# estimate pseudocosts. For many columns, the heuristics find better solutions.
# Versions of HiGHS without one of these options ignore it.
MAX_COLUMNS_OF_PLAIN_SEARCH = 50
PLAIN_SEARCH: Mapping[str, str | bool | int] = {
    "presolve": "off",
    "mip_heuristic_run_rins": False,
    "mip_heuristic_run_rens": False,
    "mip_heuristic_run_root_reduced_cost": False,
    "mip_heuristic_run_feasibility_jump": False,
    "mip_allow_cut_separation_at_nodes": False,
    "mip_pscost_minreliable": 0,
}

# After a change of the objective, the last basis is still primal feasible, so the primal simplex
# method continues from it. (The dual simplex method, the default of HiGHS, does not benefit from
# such a start.) Features are usually standardized, so scaling the matrix again does not pay off.
WARM_START: Mapping[str, str | int] = {
    "solver": "simplex",
    "simplex_strategy": 4,
    "presolve": "off",
    "simplex_scale_strategy": 0,
}
COLD_START: Mapping[str, str | int] = {
    "solver": "choose",
    "simplex_strategy": 1,
    "presolve": "choose",
    "simplex_scale_strategy": 2,
}


@dataclass(frozen=True)
class Solution:
    """Optimal solution of an LP, dual variables of its constraints, and objective value."""

    point: Vector
    row_dual: Vector
    value: float


@dataclass(frozen=True)
class IntegerSolution:
    """Best solution found for a MILP, and a lower bound on the optimum.

    ``point`` is None if the MILP is infeasible, or if no point was found within the time limit.
    """

    point: Vector | None
    bound: float
    timed_out: bool


class HighsModel:
    """LP or MILP in HiGHS, solved repeatedly with changing objectives.

    HiGHS requires one model per thread, and the same number of threads for all models. ``deadline``
    limits the time of LPs.
    """

    def __init__(self, program: LinearProgram, deadline: Deadline = NO_DEADLINE) -> None:
        # The import takes a quarter of a second, which would slow down `allrelevant --help`.
        import highspy

        self._api = highspy
        self.program, self._deadline = program, deadline
        self._highs = highspy.Highs()
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            ("primal_feasibility_tolerance", FEASIBILITY_TOL),
            ("dual_feasibility_tolerance", FEASIBILITY_TOL),
        ):
            self._highs.setOptionValue(option, value)
        self._highs.passModel(self._as_highs(program))

    def change_cost(self, columns: NDArray[np.int32], cost: Vector) -> None:
        """Set the objective coefficients of the given columns."""
        self._highs.changeColsCost(len(columns), columns, cost)

    def add_columns(self, matrix: sp.csc_array, cost: Vector) -> None:
        """Append nonnegative variables to the LP and keep the current basis."""
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
        """Append constraints ``matrix x >= lower`` to the LP and keep the current basis."""
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
        """Return the optimal solution of the LP, warm-started from the last basis if there is one.

        If this fails, solve the LP again with a cold start and the default method of HiGHS.
        ``what`` describes the solution in error messages.
        """
        try:
            return self._run(what, WARM_START)
        except SolverError:
            self._highs.clearSolver()
            return self._run(what, COLD_START)

    def solve_integer(
        self, columns: NDArray[np.int32], what: str, seconds: float | None = None
    ) -> IntegerSolution:
        """Return the best solution found for the MILP with the given integer columns.

        ``seconds`` is the time limit; None means no limit.
        """
        highs, status = self._highs, self._api.HighsModelStatus
        integer = np.full(len(columns), int(self._api.HighsVarType.kInteger), dtype=np.uint8)
        highs.changeColsIntegrality(len(columns), columns, integer)
        options: dict[str, Any] = {**COLD_START, "mip_rel_gap": 0.0, "mip_abs_gap": INTEGER_GAP_TOL}
        options["mip_feasibility_tolerance"] = FEASIBILITY_TOL
        options["time_limit"] = np.inf if seconds is None else max(float(seconds), 0.0)
        if len(columns) <= MAX_COLUMNS_OF_PLAIN_SEARCH:
            options |= PLAIN_SEARCH
        for option, value in options.items():
            highs.setOptionValue(option, value)
        highs.run()
        answer, info = highs.getModelStatus(), highs.getInfo()
        if answer == status.kInfeasible:
            return IntegerSolution(None, np.inf, timed_out=False)
        if answer not in (status.kOptimal, status.kTimeLimit):
            raise SolverError(
                f"HiGHS failed to compute {what}: its status is "
                f"{highs.modelStatusToString(answer)!r}. The usual cause is badly scaled "
                "columns: set standardize=True, or use a smaller C."
            )
        has_point = info.primal_solution_status == self._api.SolutionStatus.kSolutionStatusFeasible
        return IntegerSolution(
            point=np.array(highs.getSolution().col_value) if has_point else None,
            bound=float(info.mip_dual_bound),
            timed_out=bool(answer == status.kTimeLimit) or not has_point,
        )

    def _run(self, what: str, method: Mapping[str, str | int]) -> Solution:
        self._deadline.check()
        for option, value in method.items():
            self._highs.setOptionValue(option, value)
        seconds = self._deadline.seconds_left
        if seconds is not None:  # HiGHS counts the time of all runs of a model
            self._highs.setOptionValue("time_limit", self._highs.getRunTime() + seconds)
        self._highs.run()
        status = self._highs.getModelStatus()
        if status == self._api.HighsModelStatus.kTimeLimit:
            raise TimeLimitError(f"The time limit was reached during {what}. Increase max_seconds.")
        if status != self._api.HighsModelStatus.kOptimal:
            answer = self._highs.modelStatusToString(status)
            raise SolverError(
                f"HiGHS failed to compute {what}: its status is {answer!r}. The usual cause is "
                "badly scaled columns: set standardize=True, or use a smaller C."
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
    """Reference solver for largest and smallest weights. Each LP starts from the previous basis."""

    is_reference = True

    def __init__(self, models: EquivalentModels, deadline: Deadline = NO_DEADLINE) -> None:
        self.models = models
        self._highs = HighsModel(models.program, deadline)
        self.effort = SolverStats()

    def __call__(self, extremes: Sequence[Extreme]) -> ExtremeSolutions:
        solutions = [self._solve(extreme) for extreme in extremes]
        self.effort.programs += len(extremes)
        coef, offset = self.models.program.model(np.array([each.point for each in solutions]))
        n_rows = self.models.rows.n_rows
        multipliers = np.array([each.row_dual[:n_rows] for each in solutions])
        return ExtremeSolutions(coef, offset, multipliers)

    def _solve(self, extreme: Extreme) -> Solution:
        # HiGHS minimizes, so the cost is minus the gain.
        columns = self.models.program.weight_columns(np.array(extreme.weights)).astype(np.int32)
        gain = extreme.sign * np.array(extreme.coefficients)
        self._highs.change_cost(columns.ravel(), np.r_[-gain, gain])
        solution = self._highs.solve(str(extreme))
        self._highs.change_cost(columns.ravel(), np.zeros(columns.size))
        return solution
