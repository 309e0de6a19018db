"""Export of relevance bounds as proofs that :mod:`allrelevant.proof_checker` verifies.

A proof states how the columns of the user's table are scaled, the constraints and limits that
define each set of models, and for each column two models and two certificates. ``docs/proofs.md``
describes the format.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix, Vector
from .._version import __version__
from ..exceptions import InputError
from ..proof_checker import FORMAT, Problem, digest
from ..terms.encoding import TableEncoding
from .proof_table import ProofRequest, ProofTable, other_table
from .rational import RationalModels, round_up
from .result import BoundsResult, SubproblemBounds
from .solver.interface import Extreme
from .solver.ranges import CheckedSolver

# Weights per batch of LPs.
WEIGHTS_PER_BATCH = 100

# Largest difference between the scaled columns of the fit and those of the proof.
SAME_TABLE_TOL = 1e-6

_SIGNS = (-1, 1)


def export_proof(
    result: BoundsResult,
    encoding: TableEncoding | None,
    task: str,
    labels: Iterable[Any],
    request: ProofRequest,
) -> dict[str, Any]:
    """Return a proof of the bounds of all subproblems, which have the given labels."""
    _check_supported(result)
    baseline, layout = result.subproblems[0].baseline, result.layout
    assert baseline.scaling is not None
    table = ProofTable.from_request(request, layout.names)
    if len(table.rows) != baseline.data.n_samples:
        raise other_table()
    columns = table.columns(layout, baseline.scaling, encoding)
    weights = np.flatnonzero(baseline.scaling.factor)
    bounded = weights[layout.has_one_weight(layout.features_of_weights[weights])]
    features = layout.features_of_weights[bounded].tolist()
    content: dict[str, Any] = {
        "format": FORMAT,
        "created_by": f"allrelevant {__version__}",
        "task": task,
        **table.describe([columns[k] for k in weights]),
        "left_out": [name for j, name in enumerate(layout.names) if j not in set(features)],
    }
    problems = []
    for subproblem, label in zip(result.subproblems, labels, strict=True):
        problem = _describe_problem(subproblem, label, table)
        checked = Problem(content, problem, table.cells)
        _check_same_table(checked, subproblem.baseline.data.X[:, weights])
        rational = RationalModels(subproblem.models, weights, checked)
        solved = subproblem.solved.weights.features
        problems.append({**problem, **Prover(rational, columns).prove(bounded, solved)})
    content["problems"] = problems
    return {**content, "digest": digest(content)}


def _check_supported(result: BoundsResult) -> None:
    """Raise if proofs are not available for the result."""
    first = result.subproblems[0]
    reasons = {
        "for constrained models. Export it before what_if": result.constraints is not None,
        "with privileged features. Fit without them": result.layout.n_privileged > 0,
        "for formulation='joint'. Use formulation='separate'": len(first.models.budgets) == 1,
        "for a sparse table. Fit a dense table": not isinstance(first.baseline.data.X, np.ndarray),
    }
    for reason, applies in reasons.items():
        if applies:
            raise InputError(f"A proof cannot be exported {reason}.")


def _check_same_table(problem: Problem, X: Matrix) -> None:
    """Raise if the scaled columns of the proof are not those of the fit."""
    scaled = np.array([[x / problem.unit for x in column] for column in problem.columns])
    if not np.allclose(
        scaled.T.reshape(X.shape), X, rtol=0, atol=SAME_TABLE_TOL * (1 + abs(X).max(initial=0))
    ):
        raise other_table()


def _describe_problem(
    subproblem: SubproblemBounds, label: Any, table: ProofTable
) -> dict[str, Any]:
    """Return the constraints and limits of a subproblem, as in a proof."""
    data = subproblem.baseline.data
    norm, loss = (budget.limit for budget in subproblem.models.budgets)
    return {
        "label": "" if label is None else str(label),
        "coding": data.proof_coding(table.used(table.target)),
        "weights": data.weight.tolist(),
        "norm": norm,
        "loss": loss,
    }


class Prover:
    """Collects the models and certificates that prove the bounds of one subproblem.

    The first model is the center of the set, and the first certificate that of the baseline.
    """

    def __init__(self, rational: RationalModels, columns: Sequence[dict[str, Any]]) -> None:
        self._rational = rational
        self._problem = rational.problem
        self._columns = columns
        self._models: list[dict[str, Any]] = []
        self._certificates: list[list[list[Any]]] = []
        self._combined: list[Any] = []
        start = rational.models.start
        assert start is not None
        self._add(*rational.center, start.multipliers)

    def prove(self, weights: NDArray[np.intp], solved: NDArray[np.intp]) -> dict[str, Any]:
        """Return models, certificates and the bounds of some weights, as in a proof.

        ``solved`` are the weights for which LPs are solved. The certificates of these LPs also
        bound the other weights.
        """
        claims = self._solve(np.intersect1d(weights, solved))
        claims |= self._bound_others(np.setdiff1d(weights, solved))
        return {
            "models": self._models,
            "certificates": self._certificates,
            "bounds": [[self._columns[k]["name"], *claims[k]] for k in weights.tolist()],
        }

    def _solve(self, weights: NDArray[np.intp]) -> dict[int, list[dict[str, Any]]]:
        claims: dict[int, list[dict[str, Any]]] = {k: [] for k in weights.tolist()}
        checked = CheckedSolver(self._rational.models)
        for start in range(0, len(weights), WEIGHTS_PER_BATCH):
            batch = weights[start : start + WEIGHTS_PER_BATCH].tolist()
            ends = [(k, sign) for sign in _SIGNS for k in batch]
            solutions, _ = checked.solve([Extreme.of_weight(*end) for end in ends])
            for i, (k, sign) in enumerate(ends):
                place = self._add(
                    *self._rational.move_inside(solutions.coef[i], solutions.offset[i]),
                    solutions.multipliers[i],
                )
                claims[k].append(self._claim(k, sign, place, place, 1.0))
        return claims

    def _bound_others(self, weights: NDArray[np.intp]) -> dict[int, list[dict[str, Any]]]:
        """Bound weights by the certificates of other weights, multiplied by the best factor.

        Let p be the largest absolute entry of v. If the certificate is multiplied by a factor t of
        at least ``1 / (p - sign v_j)``, the limit on ``sign w_j`` is ``t (p norm + rest)``.
        """
        if len(weights) == 0:
            return {}
        v = np.array([[float(x) for x in entries] for entries, *_ in self._combined])
        rest = np.array([float(rest) for *_, rest in self._combined])
        price = np.abs(v).max(axis=1)
        gap = price * float(self._problem.norm) + rest
        claims: dict[int, list[dict[str, Any]]] = {}
        for k in weights.tolist():
            claims[k] = []
            for sign in _SIGNS:
                room = price - sign * v[:, self._place(k)]
                limits = np.divide(gap, room, out=np.full(len(gap), np.inf), where=room > 0)
                best = int(np.argmin(limits))
                times = 1.0 / float(room[best]) if np.isfinite(limits[best]) else 0.0
                claims[k].append(self._claim(k, sign, best, 0, times))
        return claims

    def _add(self, coef: Vector, offset: Vector, multipliers: Vector) -> int:
        """Add a model and a certificate, and return their common index."""
        factors = self._rational.factors(multipliers)
        self._models.append(self._rational.describe(coef, offset))
        self._certificates.append(factors)
        self._combined.append(self._problem.combine(factors))
        return len(self._models) - 1

    def _claim(
        self, weight: int, sign: int, certificate: int, model: int, times: float
    ) -> dict[str, Any]:
        """Return an end of the range of a weight; without a useful certificate, the norm."""
        place = self._place(weight)
        limit = self._limit(certificate, place, sign, times)
        if limit > self._problem.norm:
            times, limit = 0.0, self._problem.norm
        return {
            "proven": sign * round_up(limit),
            "attained": dict(self._models[model]["weights"]).get(place, 0.0),
            "certificate": certificate,
            "times": times,
            "model": model,
        }

    def _limit(self, certificate: int, place: int, sign: int, times: float) -> Fraction:
        limit: Fraction = self._problem.limit(
            self._combined[certificate], place, sign, Fraction(times)
        )
        return limit

    def _place(self, weight: int) -> int:
        """Return the index of a weight among the columns of the proof."""
        return int(np.searchsorted(self._rational.weights, weight))
