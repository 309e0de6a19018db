"""Genuine proofs of small random tables of all tasks, and changes that make a proof false."""

import copy
import json
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from allrelevant import (
    ClassificationBounds,
    OrdinalBounds,
    RankingBounds,
    RegressionBounds,
    RelevanceWarning,
)
from allrelevant.proof_checker import digest, verify

# Errors by which the checker rejects a proof that does not have the right form.
REJECTIONS = (LookupError, TypeError, ValueError, ArithmeticError)


@dataclass
class ProofCase:
    """Fitted estimator, its proof as read from a file, and the cells of its table."""

    est: Any
    proof: dict[str, Any]
    frame: pd.DataFrame
    cells: dict[str, list[Any]]


def _noisy(X, rng):
    return X


def _clean(X, rng):
    X[:, 0] *= 10
    return X


def _duplicates(X, rng):
    X = np.hstack([X, X[:, :2]])
    X[len(X) // 2 :] = X[: len(X) - len(X) // 2]
    return X


def _constant(X, rng):
    return np.hstack([X, np.full((len(X), 1), 0.1)])


def _integers(X, rng):
    return np.round(2 * X)


def _badly_scaled(X, rng):
    return X * 10.0 ** rng.randint(-6, 7, size=X.shape[1]) + 10.0 ** rng.randint(-3, 4)


TABLES = (_noisy, _clean, _duplicates, _constant, _integers, _badly_scaled)


def _binary(score, rng):
    return ClassificationBounds, np.where(score > np.median(score), "yes", "no")


def _one_vs_rest(score, rng):
    ranks = score.argsort().argsort()
    return ClassificationBounds, 3 * ranks // len(score)


def _regression(score, rng):
    return RegressionBounds, 100 + 7 * score


def _ordinal(score, rng):
    ranks = score.argsort().argsort()
    return OrdinalBounds, rng.randint(2, 5) * ranks // len(score)


def _ranking(score, rng):
    return RankingBounds, score > np.quantile(score, 0.7)


TASKS = (_binary, _one_vs_rest, _regression, _ordinal, _ranking)


def make_case(seed):
    """Return a case; successive seeds have different tasks and kinds of tables."""
    rng = np.random.RandomState(seed)
    make_table, make_target = TABLES[seed % len(TABLES)], TASKS[seed % len(TASKS)]
    X = rng.normal(size=(rng.randint(12, 40), rng.randint(2, 6)))
    score = X[:, 0] - 0.5 * X[:, 1] + 0.5 * rng.normal(size=len(X)) * (make_table is not _clean)
    X = make_table(X, rng)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    if seed % 4 == 1:
        frame["sex"] = rng.choice(["female", "male"], len(frame))
        frame["site"] = rng.choice(["u", "v", "w"], len(frame))
        frame.loc[frame.index[::5], "x1"] = np.nan
    estimator, y = make_target(score, rng)
    weight = rng.randint(0, 3, len(y)) + 0.5 * (rng.uniform(size=len(y)) < 0.9)
    sample_weight = weight if seed % 3 == 1 else None
    C = 10.0 ** rng.uniform(-1, 1)
    est = estimator(C=C, cutoff=0.1, standardize=seed % 7 != 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelevanceWarning)
        est.fit(frame, y, sample_weight)
    proof = json.loads(json.dumps(est.export_proof(frame, y, sample_weight, target="y")))
    frame = frame.assign(y=y)
    return ProofCase(est, proof, frame, _cells(frame, proof))


def _cells(frame, proof):
    cells = {}
    for name in proof["kinds"]:
        values = frame[name].tolist()
        missing = frame[name].isna().tolist()
        cells[name] = [
            None if absent else value if isinstance(value, str) else float(value)
            for value, absent in zip(values, missing, strict=True)
        ]
    return cells


def rejects(proof, cells):
    try:
        _, failures = verify(proof, cells)
    except REJECTIONS:
        return True
    return bool(failures)


def with_digest(proof):
    """Return a proof with a correct digest, as someone would write who forges a proof."""
    content = {key: value for key, value in proof.items() if key != "digest"}
    return {**content, "digest": digest(content)}


def forged(case, rng):
    """Yield the names and the proofs of changes that make a claim false, with correct digests.

    The changed claim is that of a weight that can differ from zero.
    """
    for name, forge in FORGERIES.items():
        proof = copy.deepcopy(case.proof)
        problem = proof["problems"][rng.randint(len(proof["problems"]))]
        able = [bound for bound in problem["bounds"] if _width(bound) > 1e-3 * problem["norm"]]
        if able and problem["norm"] > 0 and forge(proof, problem, able[rng.randint(len(able))]):
            yield name, with_digest(proof)


def _width(bound):
    return bound[2]["attained"] - bound[1]["attained"]


def _tighter_limit(proof, problem, bound):
    bound[2]["proven"] = bound[2]["attained"] - 1e-6 * problem["norm"]
    return True


def _limit_of_other_sign(proof, problem, bound):
    bound[1]["proven"] = -bound[1]["proven"]
    return bound[1]["proven"] > bound[1]["attained"]


def _larger_attained_weight(proof, problem, bound):
    bound[2]["attained"] = bound[2]["proven"] + 1e-6 * problem["norm"]
    return True


def _larger_weight_in_model(proof, problem, bound):
    """Change the model together with the claim: it leaves the set."""
    weight = bound[2]["proven"] + 1e-3 * problem["norm"]
    place = [column["name"] for column in proof["columns"]].index(bound[0])
    model = problem["models"][bound[2]["model"]]
    model["weights"] = [*(pair for pair in model["weights"] if pair[0] != place), [place, weight]]
    bound[2]["attained"] = weight
    return True


def _other_model(proof, problem, bound):
    bound[2]["model"] = bound[1]["model"]
    return True


def _negative_factor(proof, problem, bound):
    factors = problem["certificates"][bound[2]["certificate"]]
    if factors:
        factors[0][1] = -factors[0][1]
    return bool(factors)


def _unbalanced_factors(proof, problem, bound):
    factors = problem["certificates"][bound[2]["certificate"]]
    if proof["task"] == "ranking" or not factors:
        return False
    factors[0][1] *= 1.5
    return True


def _negative_times(proof, problem, bound):
    bound[2]["times"] = -1.0
    return True


def _negative_index(proof, problem, bound):
    """Add the opposite weight to the column of number -1, which Python reads as the last one."""
    last = len(proof["columns"]) - 1
    problem["models"][bound[2]["model"]]["weights"].append([-1 - last, 1.0])
    return True


def _no_certificate(proof, problem, bound):
    problem["certificates"][bound[2]["certificate"]] = []
    return bound[2]["proven"] < problem["norm"]


def _other_feature(proof, problem, bound):
    names = [other[0] for other in problem["bounds"]]
    other = names[(names.index(bound[0]) + 1) % len(names)]
    bound[0] = other
    weights = dict(problem["models"][bound[2]["model"]]["weights"])
    place = [column["name"] for column in proof["columns"]].index(other)
    return weights.get(place, 0.0) != bound[2]["attained"]


def _more_norm(proof, problem, bound):
    """The limits do not hold for a larger set."""
    problem["norm"] *= 10
    problem["loss"] *= 10
    return True


def _less_loss(proof, problem, bound):
    problem["loss"] = -1.0
    return True


def _negative_weight(proof, problem, bound):
    problem["weights"][0] = -problem["weights"][0]
    return True


FORGERIES = {
    forge.__name__.strip("_"): forge
    for forge in (
        _tighter_limit,
        _limit_of_other_sign,
        _larger_attained_weight,
        _larger_weight_in_model,
        _other_model,
        _negative_factor,
        _unbalanced_factors,
        _negative_times,
        _negative_index,
        _no_certificate,
        _other_feature,
        _more_norm,
        _less_loss,
        _negative_weight,
    )
}


def damaged(case, rng, n):
    """Yield n pairs of a changed proof and cells: one number, sign, name or cell is different."""
    for _ in range(n):
        proof, cells = copy.deepcopy(case.proof), case.cells
        kind = rng.randint(5)
        if kind == 0:
            cells = _with_other_cell(case, rng)
        elif kind == 1:
            proof["fingerprint"] = _with_other_digit(proof["fingerprint"])
        elif kind == 2:
            column = proof["columns"][rng.randint(len(proof["columns"]))]
            column["name"] += "'"
        else:
            place = _numbers(proof)
            holder, key = place[rng.randint(len(place))]
            negate = kind == 3 and holder[key] != 0
            holder[key] = -holder[key] if negate else holder[key] * 1.0000001 + 1e-9
        yield proof, cells


def _with_other_digit(text):
    return text[:-1] + ("0" if text[-1] != "0" else "1")


def _with_other_cell(case, rng):
    cells = copy.deepcopy(case.cells)
    names = sorted(cells)
    column = cells[names[rng.randint(len(names))]]
    row = case.proof["rows"][rng.randint(len(case.proof["rows"]))]
    value = column[row]
    column[row] = value + "'" if isinstance(value, str) else (value or 0.0) + 0.001
    return cells


def _numbers(value):
    """Return the places of all numbers in a JSON value, as pairs of a container and a key."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    places = []
    for key, entry in items:
        if isinstance(entry, dict | list):
            places += _numbers(entry)
        elif isinstance(entry, int | float):
            places.append((value, key))
    return places
