"""Calls of the core on 290 small problems, and functions that run them in any of its builds.

An argument is an integer, a float, None (a null pointer), an array (which the call may modify), a
:class:`Structure` or :class:`WorkMemory`.
"""

from __future__ import annotations

import base64
import ctypes
import json
import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from allrelevant.bounds.solver.dictionary import dictionary_state, simplex_data
from allrelevant.native.library import RUNNING, pointer
from allrelevant.native.pairs import SideData
from allrelevant.native.simplex import initialize, minimize
from tests.bounds.nasty import KINDS, nasty_samples

RUN_WASM = Path(__file__).with_name("run_wasm.mjs")

# Small, so that calls have to be resumed.
MAX_WORK = 20_000.0


@dataclass
class Structure:
    """Structure of the given sizes and arrays."""

    fields: list[Any]


@dataclass
class WorkMemory:
    """Work memory, zero at first. ``size`` is the function that returns its size."""

    size: str
    arguments: list[Any]


@dataclass
class Call:
    """Function of the core and its arguments. ``modified`` are the arrays to compare."""

    function: str
    arguments: list[Any]
    modified: list[np.ndarray] = field(default_factory=list)


def small_calls() -> list[Call]:
    """Return 290 calls: 180 simplex problems, 30 losses, 40 sets of SVMs, 40 kernel criteria."""
    simplex = [call for kind in KINDS for seed in range(6) for call in simplex_calls(kind, seed)]
    svms = [call for seed in range(20) for call in svm_calls(seed)]
    losses = [pairs_call(seed) for seed in range(30)]
    return [*simplex, *losses, *svms, *[criterion_call(seed) for seed in range(40)]]


def simplex_calls(kind: str, seed: int) -> tuple[Call, Call, Call]:
    """Return the search for a baseline, and those for extremes of weights from there.

    The last call generates the columns of some weights.
    """
    samples, C = nasty_samples(kind, seed), (0.1, 1.0, 10.0)[seed % 3]
    n, d = samples.X.shape
    rows = _Rows(1, samples.weight)
    y = samples.y[:, None]
    data = simplex_data(rows, d + 1, (), np.zeros(2))  # type: ignore[arg-type]
    state = dictionary_state(
        data,
        T=np.hstack([y * samples.X, y, np.zeros((n, 1))]),
        value=np.ones(n),
        basis=d + 2 + np.arange(n),
        nonbasic=np.concatenate([np.arange(d), [d + 1, d]]),
    )
    arrays = list(vars(state).values())
    start = [array.copy() for array in arrays]
    outputs = [np.zeros(d + 1), np.zeros(1), np.zeros(n), np.zeros(1, dtype=np.int64)]
    first = Call(
        "ar_minimize",
        [
            _program(data),
            Structure([*state.T.shape, state.T.shape[1], *start]),
            1.0,
            C,
            3,
            *outputs,
            WorkMemory("ar_minimize_bytes", [*state.T.shape]),
        ],
        [*start, *outputs[:3]],
    )
    found = minimize(state, data, 1.0, C, 1000)
    slack = 1 - y[:, 0] * (samples.X @ found.coef[:-1] + found.offset)
    norm, loss = np.abs(found.coef).sum(), data.row_weight @ np.maximum(slack, 0)
    budgets = np.array([[1.0, 0.0, 1.1 * norm + 0.1], [0.0, 1.0, 1.05 * loss + 0.1]])
    data = replace(data, budgets=budgets, start_prices=np.array([1.0, C]))
    initialize(state, data)
    # Both signs of each weight, then the difference of each weight and the next.
    pairs = np.column_stack([np.arange(d), np.arange(1, d + 1)]).ravel()
    weights = np.concatenate([np.repeat(np.arange(d + 1), 2), pairs])
    starts = np.concatenate([np.arange(2 * d + 2), 2 * d + 2 + 2 * np.arange(d + 1)])
    m = len(starts) - 1
    columns = np.tile(y * samples.X[:, :1], m).T.copy()
    no_candidates = [0, np.zeros((0, n)), np.full(m, -1)]
    results = [np.zeros((m, size)) for size in (d + 1, 1, n)] + [np.zeros(m, dtype=np.int64)]
    pivots = np.zeros(1, dtype=np.int64)
    second = Call(
        "ar_solve_extremes",
        [
            _program(data),
            Structure([*state.T.shape, state.T.shape[1], *arrays]),
            Structure(
                [
                    m,
                    starts,
                    weights,
                    np.tile([1.0, -1.0], 2 * d + 1),
                    columns,
                    *no_candidates,
                    *results,
                ]
            ),
            1000,
            MAX_WORK,
            pivots,
            WorkMemory("ar_extremes_bytes", [_program(data), *state.T.shape, 0]),
        ],
        [*results, pivots],
    )
    return first, second, candidates_call(data, state, columns)


def candidates_call(data: Any, state: Any, columns: np.ndarray) -> Call:
    """Return the search for largest weights if the last nonbasic weights are candidates."""
    d, n = data.n_weights - 1, len(data.row_weight)
    first = max([-1, *state.basis[state.basis < d]]) + 1
    inside = (state.nonbasic < first) | (state.nonbasic >= d)
    order = np.argsort(state.nonbasic[~inside])
    candidates = np.ascontiguousarray(state.T[:, ~inside][:, order].T)
    by_column = [array[inside] for array in (state.nonbasic, state.norm, state.loss)]
    arrays = [
        np.ascontiguousarray(state.T[:, inside]),
        *[state.value, state.perturbed, state.side, state.basis],
        *by_column,
        state.edge_norm2[inside],
    ]
    shape = arrays[0].shape
    weights = np.repeat(np.r_[np.arange(first), d], 2)
    m = len(weights)
    results = [np.zeros((m, size)) for size in (d + 1, 1, n)] + [np.zeros(m, dtype=np.int64)]
    signs, excluded = np.tile([1.0, -1.0], m // 2), np.arange(m) % (d - first + 1) - 1
    columns = np.tile(columns[:1], (m, 1))
    generated = [len(candidates), candidates, excluded]
    pivots = np.zeros(1, dtype=np.int64)
    return Call(
        "ar_solve_extremes",
        [
            _program(data),
            Structure([*shape, shape[1], *arrays]),
            Structure([m, np.arange(m + 1), weights, signs, columns, *generated, *results]),
            1000,
            MAX_WORK,
            pivots,
            WorkMemory("ar_extremes_bytes", [_program(data), *shape, len(candidates)]),
        ],
        [*results, pivots],
    )


@dataclass
class _Rows:
    n_offsets: int
    weight: np.ndarray


def _program(data: Any) -> Structure:
    sizes = [data.n_weights, data.n_offsets, len(data.row_weight), len(data.budgets)]
    return Structure([*sizes, data.row_weight, data.budgets, data.start_prices])


def pairs_call(seed: int) -> Call:
    """Return the losses of two models over pairs in three blocks, some with second derivatives."""
    rng = np.random.RandomState(seed)
    n, d, n_models = 6 + seed, 1 + seed % 4, 2
    block, is_high = np.r_[0, 0, 1, 1, 2, 2, rng.randint(3, size=seed)], np.arange(n) % 2 == 0
    sides = [
        SideData.from_entries(np.flatnonzero(side), block[side], n, 3)
        for side in (is_high, ~is_high)
    ]
    table = rng.normal(size=(n, d))
    scores = rng.normal(size=(n_models, d)) @ table.T
    starts = [array for side in sides for array in (side.starts, side.blocks, side.begin)]
    pairs = Structure([n, 3, d, *starts, rng.uniform(1, 2, n), rng.uniform(1, 2, n), table])
    width, threshold = np.array([0.0, 0.5]), np.array([1e-6, 0.0])
    sums, slopes = np.zeros((n_models, 4)), np.zeros((n_models, n))
    curvature: list[Any] = []
    if seed % 3:
        curvature = [np.zeros((n_models, n)), np.zeros((n_models, n, d))]
    order = np.argsort(scores, axis=1, kind="stable")
    return Call(
        "ar_pair_losses",
        [
            *[pairs, n_models, scores, order, width, threshold, sums, slopes],
            *(curvature or [None, None]),
            WorkMemory("ar_pairs_bytes", [pairs]),
        ],
        [sums, slopes, *curvature],
    )


def svm_calls(seed: int) -> tuple[Call, Call]:
    """Return the training of SVMs for three classes at three costs, and their decision values."""
    rng = np.random.RandomState(seed)
    n = 12 + 3 * seed
    X, codes = rng.normal(size=(n, 3)), np.arange(n) % 3
    X[:, 0] += codes
    kernel = X @ X.T if seed % 2 else np.exp(-np.square(X[:, None] - X).sum(axis=2))
    pairs = [np.flatnonzero(codes != k) for k in range(3)]
    members, starts = np.concatenate(pairs), np.cumsum([0, *map(len, pairs)])
    positive = [codes[rows] == (k + 1) % 3 for k, rows in enumerate(pairs)]
    side = np.where(np.concatenate(positive), 1.0, -1.0)
    problems = Structure([len(members), 3, members, starts, side, rng.uniform(1, 2, len(members))])
    b, offsets = np.zeros((3, len(members))), np.zeros((3, 3))
    iterations = np.zeros(1, dtype=np.int64)
    solve = Call(
        "ar_solve_svms",
        [
            problems,
            n,
            kernel,
            3,
            np.array([0.1, 1.0, 10.0]),
            seed % 3,
            1e-6,
            100_000,
            MAX_WORK,
            b,
            offsets,
            iterations,
            WorkMemory("ar_svms_bytes", [problems]),
        ],
        [b, offsets, iterations],
    )
    rows, values = np.arange(0, n, 2), np.zeros((3, 3, (n + 1) // 2))
    given = [rng.normal(size=b.shape), rng.normal(size=offsets.shape)]
    decide = Call("ar_decide", [problems, n, kernel, 3, *given, len(rows), rows, values], [values])
    return solve, decide


def criterion_call(seed: int) -> Call:
    rng = np.random.RandomState(seed)
    n_features, n = 1 + seed % 5, 1 + seed
    columns = rng.normal(size=(n_features, n)) * (1 + 20 * (seed % 3 == 0))
    b, changes = rng.normal(size=(n, 2)), np.zeros(n_features)
    inner, products = columns.T @ columns, b @ b.T
    norms = np.diagonal(inner)
    distances = np.maximum(norms[:, None] + norms - 2 * inner, 0.0)
    shared = [n_features, n, columns]
    kinds = [
        ("ar_rbf_changes", [*shared, distances, products, 0.3, changes, np.zeros((2, n, n))]),
        ("ar_polynomial_changes", [*shared, inner, products, 0.1, 0.5, seed % 4, changes]),
        ("ar_sigmoid_changes", [*shared, inner, products, 0.1, 0.5, changes, np.zeros((n, n))]),
    ]
    function, arguments = kinds[seed % 3]
    return Call(function, arguments, [changes])


def malformed_calls() -> list[Call]:
    """Return calls with empty arrays, NaN, infinite and huge values, and useless limits."""
    with np.errstate(all="ignore"):
        calls = [
            spoiled
            for value in (np.nan, np.inf, -np.inf, 1e300, 0.0)
            for call in (
                *simplex_calls("plain", 1),
                *svm_calls(2),
                *map(pairs_call, range(3)),
                *map(criterion_call, range(3, 9)),
            )
            for spoiled in _spoiled(call, value)
        ]
    empty, index, nothing = np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    no_program = Structure([0, 0, 0, 0, empty, np.zeros((0, 3)), np.zeros(2)])
    no_dictionary = Structure([0, 0, 0, *[empty] * 4, index, index, *[empty] * 3])
    no_extremes = Structure(
        [0, nothing, index, empty, empty, 0, empty, index, empty, empty, empty, index]
    )
    no_problems = Structure([0, 0, index, nothing, empty, empty])
    no_pairs = Structure([0, 0, 0, *[nothing, index, nothing] * 2, empty, empty, empty])
    memory = WorkMemory("ar_extremes_bytes", [no_program, 0, 0, 0])
    two = np.ones(2)
    no_columns = Structure([2, 0, 0, empty, two, two, two, np.arange(2), index, *[empty] * 3])
    two_rows = Structure([0, 0, 2, 0, two, np.zeros((0, 3)), np.zeros(2)])
    sizes, results = WorkMemory("ar_minimize_bytes", [2, 0]), [empty, empty, np.zeros(2), nothing]
    return [
        *calls,
        Call("ar_initialize", [no_program, no_dictionary]),
        Call("ar_solve_extremes", [
            no_program, no_dictionary, no_extremes, 9, 1.0, nothing, memory,
        ]),
        Call("ar_minimize", [two_rows, no_columns, 1.0, 1.0, 9, *results, sizes]),
        Call("ar_pair_losses", [
            no_pairs, 0, empty, index, empty, empty, empty, empty, empty, empty,
            WorkMemory("ar_pairs_bytes", [no_pairs]),
        ]),
        Call("ar_solve_svms", [
            no_problems, 0, empty, 0, empty, 1, 1e-3, 9, 1.0, empty, empty, nothing,
            WorkMemory("ar_svms_bytes", [no_problems]),
        ]),
        Call("ar_decide", [no_problems, 0, empty, 0, empty, empty, 0, index, empty]),
        Call("ar_rbf_changes", [0, 0, empty, empty, empty, 1.0, empty, empty]),
        Call("ar_rbf_changes", [3, 0, empty, empty, empty, 1.0, np.zeros(3), empty]),
        Call("ar_polynomial_changes", [2, 0, empty, empty, empty, 1.0, 0.0, 3, np.zeros(2)]),
        Call("ar_sigmoid_changes", [2, 0, empty, empty, empty, 1.0, 0.0, np.zeros(2), empty]),
    ]  # fmt: skip


def _spoiled(call: Call, value: float) -> list[Call]:
    """Return copies of a call, each with the value in one of its arrays of doubles."""
    spoiled = []
    for array in _arrays(call.arguments):
        if array.dtype == np.float64 and array.size:
            other = array.copy()
            other.flat[:: max(1, array.size // 2)] = value
            spoiled.append(Call(call.function, _with_replaced(call.arguments, array, other)))
    return spoiled


def _arrays(argument: Any) -> list[np.ndarray]:
    """Return the arrays in an argument, or in a list of arguments."""
    if isinstance(argument, Structure):
        return _arrays(argument.fields)
    if isinstance(argument, list):
        return [array for each in argument for array in _arrays(each)]
    return [argument] if isinstance(argument, np.ndarray) else []


def _with_replaced(argument: Any, old: np.ndarray, new: np.ndarray) -> Any:
    """Return a copy of an argument, or of a list of arguments, with one array replaced."""
    if isinstance(argument, list):
        return [_with_replaced(each, old, new) for each in argument]
    if isinstance(argument, Structure):
        return Structure(_with_replaced(argument.fields, old, new))
    return new if argument is old else argument


def run_native(call: Call, library: ctypes.CDLL) -> tuple[int, list[np.ndarray]]:
    """Run a call on copies of its arrays. Return its status and the arrays it modified."""
    copies: dict[int, np.ndarray] = {}
    memory: list[np.ndarray] = []

    def value(argument: Any) -> Any:
        if isinstance(argument, np.ndarray):
            return pointer(copies.setdefault(id(argument), argument.copy()))
        if isinstance(argument, Structure):
            memory.append(np.array([value(each) for each in argument.fields], dtype=np.int64))
            return pointer(memory[-1])
        if isinstance(argument, WorkMemory):
            size = getattr(library, argument.size)(*map(value, argument.arguments))
            memory.append(np.zeros(size // 8))
            return pointer(memory[-1])
        return argument

    arguments, status = [value(argument) for argument in call.arguments], RUNNING
    while status == RUNNING:
        status = getattr(library, call.function)(*arguments)
    return status or 0, [copies[id(array)] for array in call.modified]


def run_wasm(calls: list[Call], path: Path) -> list[tuple[int, list[np.ndarray]]]:
    """Run calls in the WebAssembly build under node. Return the same as ``run_native``."""
    text = json.dumps([_encoded_call(call) for call in calls])
    done = subprocess.run(
        ["node", str(RUN_WASM), str(path)], input=text, capture_output=True, text=True, check=True
    )
    return [
        (
            result["status"],
            [
                np.frombuffer(base64.b64decode(text), dtype=array.dtype).reshape(array.shape)
                for text, array in zip(result["arrays"], call.modified, strict=True)
            ],
        )
        for result, call in zip(json.loads(done.stdout), calls, strict=True)
    ]


def _encoded_call(call: Call) -> dict[str, Any]:
    return {
        "function": call.function,
        "arguments": [_encoded(argument) for argument in call.arguments],
        "modified": [id(array) for array in call.modified],
    }


def _encoded(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        data = base64.b64encode(np.ascontiguousarray(argument).tobytes()).decode()
        return {"array": data, "id": id(argument)}
    if isinstance(argument, Structure):
        return {"structure": [_encoded(each) for each in argument.fields]}
    if isinstance(argument, WorkMemory):
        return {"size": argument.size, "arguments": [_encoded(a) for a in argument.arguments]}
    if argument is None:
        return {"pointer": 0}
    return {"real": argument} if isinstance(argument, float) else {"integer": int(argument)}
