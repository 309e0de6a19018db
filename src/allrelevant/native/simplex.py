"""Simplex method for piecewise-linear objectives, and largest weights within budgets.

``core/simplex.c`` and ``core/budgets.c`` explain and implement the method, and ``core/core.h``
describes the arrays. :mod:`allrelevant.bounds.solver.simplex` computes the dictionaries.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix, Vector
from .library import (
    OPTIMAL,
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

__all__ = [
    "OPTIMAL",
    "DictionaryState",
    "ExtremeVertices",
    "OptimalVertex",
    "SimplexData",
    "initialize",
    "minimize",
    "solve_extremes",
]


def _continue() -> None:
    """Continue a long computation."""


# Floating-point operations per cell of the dictionary in one iteration.
WORK_PER_CELL = 4


class _Program(Struct):
    _fields_ = (
        *((name, SIZE) for name in ("n_weights", "n_offsets", "n_rows", "n_budgets")),
        *((name, POINTER) for name in ("row_weight", "budgets", "start_prices")),
    )


class _Dictionary(Struct):
    _fields_ = (
        ("m", SIZE),
        ("n", SIZE),
        ("stride", SIZE),
        *((name, POINTER) for name in ("T", "value", "perturbed", "side", "basis", "nonbasic")),
        *((name, POINTER) for name in ("norm", "loss", "edge_norm2")),
    )


class _Extremes(Struct):
    _fields_ = (
        ("n_extremes", SIZE),
        *((name, POINTER) for name in ("starts", "weights", "coefficients", "columns")),
        ("n_candidates", SIZE),
        *((name, POINTER) for name in ("candidates", "excluded")),
        *((name, POINTER) for name in ("coef", "offset", "multipliers", "status")),
    )


@dataclass(frozen=True)
class SimplexData:
    """Sizes, constraint weights, budgets and start prices, constant over all iterations."""

    n_weights: int
    n_offsets: int
    row_weight: Vector  # (n_rows,): weight of each slack in the loss; infinite: hard constraint
    budgets: Matrix  # (n_budgets, 3): coefficient of the norm, coefficient of the loss, limit
    start_prices: Vector  # (2,): prices of norm and loss at which the start is optimal

    def struct(self) -> _Program:
        return _Program(
            self.n_weights,
            self.n_offsets,
            len(self.row_weight),
            len(self.budgets),
            real(self.row_weight),
            real(self.budgets),
            real(self.start_prices),
        )


@dataclass(frozen=True)
class DictionaryState:
    """Dictionary ``x[basis] = value - T x[nonbasic]``, with reduced costs and edge norms.

    All arrays are C-contiguous, ``float64`` or ``int64``. :func:`minimize` modifies them.
    """

    T: Matrix  # (m, n)
    value: Vector  # (m,): values of the basic variables
    perturbed: Vector  # (m,): values with perturbed breakpoints
    side: Vector  # (m,): +1 or -1, the side of its breakpoint on which a basic variable lies
    basis: NDArray[np.int64]  # (m,): numbers of the basic variables
    nonbasic: NDArray[np.int64]  # (n,): numbers of the nonbasic variables
    norm: Vector  # (n,): decrease of the basic variables' norm per unit of a nonbasic variable
    loss: Vector  # (n,): decrease of the basic variables' loss per unit of a nonbasic variable
    edge_norm2: Vector  # (n,): squared norm of each edge direction

    def struct(self) -> _Dictionary:
        return _Dictionary(
            *self.T.shape,
            self.T.shape[1],
            self.T,
            self.value,
            self.perturbed,
            self.side,
            self.basis,
            self.nonbasic,
            self.norm,
            self.loss,
            self.edge_norm2,
        )


class ExtremeVertices(NamedTuple):
    """Solutions of :func:`solve_extremes`; zero unless the status is OPTIMAL."""

    coef: Matrix  # (n_extremes, n_weights)
    offset: Matrix  # (n_extremes, n_offsets)
    multipliers: Matrix  # (n_extremes, n_rows): dual variables of the constraints
    status: NDArray[np.int64]  # (n_extremes,)
    pivots: int  # number of iterations for all extremes


class OptimalVertex(NamedTuple):
    """Solution of :func:`minimize`, optimal if the status is OPTIMAL."""

    coef: Vector  # (n_weights,)
    offset: Vector  # (n_offsets,)
    multipliers: Vector  # (n_rows,): dual variables of the constraints
    status: int


def initialize(state: DictionaryState, data: SimplexData) -> None:
    """Compute the perturbed values, reduced costs and edge norms of a dictionary."""
    program, dictionary = data.struct(), state.struct()
    load().ar_initialize(program.address, dictionary.address)


def solve_extremes(
    start: DictionaryState,
    data: SimplexData,
    starts: NDArray[np.int64],
    weights: NDArray[np.int64],
    coefficients: Vector,
    columns: Matrix,
    candidates: Matrix,
    excluded: NDArray[np.int64],
    max_pivots: int,
    on_pause: Callable[[], None] = _continue,
) -> ExtremeVertices:
    """Maximize linear functions of the weights within the budgets, each from the same start.

    Function e is the sum of ``coefficients * w[weights]`` over the entries from ``starts[e]`` to
    ``starts[e + 1] - 1``. The start is the dictionary of the baseline and is not modified. The last
    weight of the dictionary is a placeholder: if function e refers to it, ``columns[e]`` becomes
    the last column of ``T``. The weights before it are candidates, which enter the dictionary when
    they are needed; the rows of ``candidates`` are their columns at the start. ``excluded[e]`` is
    the number of a candidate whose weight remains zero, or -1. ``on_pause`` is called regularly and
    may raise an error.
    """
    core, program, dictionary = load(), data.struct(), start.struct()
    n, n_rows = len(starts) - 1, len(data.row_weight)
    coef, offset = np.zeros((n, data.n_weights)), np.zeros((n, data.n_offsets))
    multipliers, status = np.zeros((n, n_rows)), np.zeros(n, dtype=np.int64)
    extremes = _Extremes(
        n,
        integer(starts),
        integer(weights),
        real(coefficients),
        real(columns),
        len(candidates),
        real(candidates),
        integer(excluded),
        coef,
        offset,
        multipliers,
        status,
    )
    work = work_memory(core.ar_extremes_bytes(program.address, *start.T.shape, len(candidates)))
    pivots = ctypes.c_int64()
    while (
        core.ar_solve_extremes(
            program.address,
            dictionary.address,
            extremes.address,
            max_pivots,
            WORK_PER_CALL,
            ctypes.addressof(pivots),
            pointer(work),
        )
        == RUNNING
    ):
        on_pause()  # Python also handles signals here
    return ExtremeVertices(coef, offset, multipliers, status, pivots.value)


def minimize(
    state: DictionaryState,
    data: SimplexData,
    norm_price: float,
    loss_price: float,
    max_pivots: int,
    on_pause: Callable[[], None] = _continue,
) -> OptimalVertex:
    """Minimize ``norm_price * norm + loss_price * loss``, starting from a dictionary.

    The dictionary is modified. The status is RUNNING if ``max_pivots`` was reached. ``on_pause`` is
    called regularly and may raise an error.
    """
    core, program, dictionary = load(), data.struct(), state.struct()
    coef, offset = np.zeros(data.n_weights), np.zeros(data.n_offsets)
    multipliers = np.zeros(len(data.row_weight))
    work = work_memory(core.ar_minimize_bytes(*state.T.shape))
    pivots_per_call = max(1, int(WORK_PER_CALL / (WORK_PER_CELL * max(1, state.T.size))))
    pivots, status = ctypes.c_int64(), RUNNING
    while status == RUNNING and max_pivots > 0:
        status = core.ar_minimize(
            program.address,
            dictionary.address,
            norm_price,
            loss_price,
            min(max_pivots, pivots_per_call),
            pointer(coef),
            pointer(offset),
            pointer(multipliers),
            ctypes.addressof(pivots),
            pointer(work),
        )
        max_pivots -= pivots.value
        on_pause()
    return OptimalVertex(coef, offset, multipliers, status)
