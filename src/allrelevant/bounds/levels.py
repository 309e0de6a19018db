"""Effects of the levels of categories, of the bins of curves and of missing values.

The effect of a level is its contribution to the value of a linear model, compared with the mean
over all rows. The effect of a missing number is compared with a row whose number is the median.
Each effect is a linear function of the weights, so two LPs give its smallest and largest value over
the equivalent models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._optional import import_extra
from .._typing import Matrix, Vector
from ..terms.encoding import MISSING, FeatureEncoding, TableEncoding
from ..terms.scaling import Scaling
from .result import BoundsResult, SubproblemBounds
from .solver.interface import Extreme
from .solver.ranges import CheckedSolver

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class LevelEffects:
    """Effects of the levels of one feature on the value of a model.

    ``label`` is the target class of the one-vs-rest problem, None if there is a single problem.
    ``baseline`` has one effect per level; ``low`` and ``high`` are the smallest and largest effects
    over the equivalent models. ``is_curve`` is True if the levels are bins of a number.
    """

    feature: str
    label: Any
    levels: tuple[str, ...]
    baseline: Vector
    low: Vector
    high: Vector
    is_curve: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the effects as JSON-compatible values."""
        return {
            "feature": self.feature,
            "label": self.label,
            "is_curve": self.is_curve,
            "levels": [
                {"name": name, "baseline": baseline, "low": low, "high": high}
                for name, baseline, low, high in zip(
                    self.levels,
                    self.baseline.tolist(),
                    self.low.tolist(),
                    self.high.tolist(),
                    strict=True,
                )
            ],
        }


def level_effects(
    result: BoundsResult,
    encoding: TableEncoding | None,
    labels: Sequence[Any],
    features: Sequence[int] | None = None,
) -> list[LevelEffects]:
    """Return the effects of all levels of the given features, by default of all features."""
    if encoding is None:
        return []
    wanted = range(len(encoding.features)) if features is None else features
    varying = set(result.subproblems[0].baseline.varying.tolist())
    return [
        _effects(bounds, encoding.features[j], j, label)
        for j in wanted
        if j in varying and _names(encoding.features[j])
        for bounds, label in zip(result.subproblems, labels, strict=True)
    ]


def _names(feature: FeatureEncoding) -> tuple[str, ...]:
    """Return the names of a feature's levels; a number with missing values has one."""
    if feature.level_names:
        return feature.level_names
    has_missing = feature.block is not None and MISSING in feature.block.labels
    return (MISSING,) if has_missing else ()


def _effects(
    bounds: SubproblemBounds, feature: FeatureEncoding, index: int, label: Any
) -> LevelEffects:
    baseline = bounds.baseline
    weights = baseline.layout.weights_of(index)
    assert baseline.scaling is not None
    directions = _directions(feature, baseline.scaling, weights)
    extremes = [
        Extreme.of_direction(sign * direction, weights)
        for sign in (-1.0, 1.0)
        for direction in directions
    ]
    is_constant = np.array([not extreme.weights for extreme in extremes])
    values = np.zeros(len(extremes))
    solved = [extreme for extreme in extremes if extreme.weights]
    if solved:
        _, check = CheckedSolver(bounds.models).solve(solved)
        values[~is_constant] = check.attained
    low, high = -values[: len(directions)], values[len(directions) :]
    return LevelEffects(
        feature=feature.name,
        label=label,
        levels=_names(feature),
        baseline=directions @ baseline.model.weights[weights],
        low=low,
        high=high,
        is_curve=feature.is_curve,
    )


def _directions(feature: FeatureEncoding, scaling: Scaling, weights: Any) -> Matrix:
    """Return the effect of each level as a linear function of the weights, one per row."""
    mean, factor = scaling.mean[weights], scaling.factor[weights]
    if not feature.level_names:  # the indicator of missing values is the second column
        return np.array([[0.0, factor[1]]])
    if len(weights) == 1:  # two levels; the column is the indicator of the second
        return np.array([[-mean[0]], [1.0 - mean[0]]]) * factor
    return (np.eye(len(weights)) - mean) * factor


def levels_to_frame(effects: Sequence[LevelEffects]) -> pd.DataFrame:
    """Return the effects of levels as a data frame with one row per level."""
    pandas = import_extra("pandas", "pandas")
    rows = [
        (part.feature, *([] if part.label is None else [part.label]), *values)
        for part in effects
        for values in zip(part.levels, part.baseline, part.low, part.high, strict=True)
    ]
    has_labels = any(part.label is not None for part in effects)
    columns = ["feature", *(["class"] if has_labels else []), "level", "baseline", "low", "high"]
    return pandas.DataFrame(rows, columns=columns)
