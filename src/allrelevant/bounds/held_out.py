"""How well the features of a set do on rows that were held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .equivalence import Standard, fit_baseline
from .models import LinearModel
from .programs.samples import Fold, Samples
from .programs.stratified import stratified_folds
from .tuning import N_FOLDS, FitScaling


@dataclass(frozen=True)
class HeldOutScore:
    """Mean score over the folds, and the standard error of that mean."""

    mean: float
    error: float


def held_out_score(
    standards: Sequence[Standard],
    members: NDArray[np.intp],
    scale: FitScaling,
    seed: int,
) -> HeldOutScore:
    """Score of baselines that see some of the features only, each trained without a fold.

    With several classes the score is the share of rows whose class has the largest value.

    Parameters
    ----------
    standards : sequence of Standard
        One for each problem; their C is used.
    members : ndarray of int
        Columns of the table.
    scale : callable
        Takes a table and the weights of its rows, gives its scaling.
    seed : int
        Of the split into folds: the same for sets that are to be compared.
    """
    problems = [_with_columns(standard.samples, members) for standard in standards]
    scores = np.array([_score(standards, problems, fold, scale) for fold in _folds(problems, seed)])
    return HeldOutScore(
        float(scores.mean()), float(scores.std(ddof=1) / np.sqrt(max(len(scores), 1)))
    )


def _with_columns(samples: Samples, members: NDArray[np.intp]) -> Samples:
    X, *privileged = samples.tables
    return samples.with_tables((X[:, members], *privileged))


def _folds(problems: Sequence[Samples], seed: int) -> list[Fold]:
    if len(problems) == 1:
        return problems[0].folds(N_FOLDS, seed)
    return stratified_folds(_class_of_row(problems).astype(float), N_FOLDS, seed)


def _class_of_row(problems: Sequence[Samples]) -> NDArray[np.intp]:
    return np.argmax([samples.y for samples in problems], axis=0)


def _score(
    standards: Sequence[Standard], problems: Sequence[Samples], fold: Fold, scale: FitScaling
) -> float:
    train, test = fold
    models = [
        _trained(standard, samples.take(train), scale)
        for standard, samples in zip(standards, problems, strict=True)
    ]
    held_out = problems[0].take(test)
    if len(models) == 1:
        return held_out.score(models[0])
    values = np.array([model.decision_function(held_out.X) for model in models])
    right = values.argmax(axis=0) == _class_of_row(problems)[test]
    return float(np.average(right, weights=held_out.weight))


def _trained(standard: Standard, samples: Samples, scale: FitScaling) -> LinearModel:
    scalings = [scale(table, samples.weight) for table in samples.tables]
    tables = tuple(s.apply(table) for s, table in zip(scalings, samples.tables, strict=True))
    model = fit_baseline(standard.formulation, samples.with_tables(tables), standard.baseline.C_)
    return model.on_tables(scalings[0])
