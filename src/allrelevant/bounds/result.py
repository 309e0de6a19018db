"""Bounds and relevance classes of one subproblem, and of all subproblems combined."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._params import FDR
from .._typing import Matrix, Vector
from ..exceptions import InputError
from ..relevance import CLASSES, STRONG, UNCONFIRMED, WEAK
from ..terms.layout import WeightLayout, largest_weights
from ..terms.scaling import deviations
from .baseline import FittedBaseline
from .calibration import FittedCalibration
from .models import LinearModel, LinearModels, stack_models
from .programs.equivalent_models import EquivalentModels
from .solver.blocks import FeatureRanges
from .solver.proofs import largest_norm

if TYPE_CHECKING:
    from .constraints import ConstraintSpec


# Relative gap up to which bounds always count as exact; smaller gaps are rounding errors.
LARGE_GAP = 1e-6


def reference_weights(baseline: FittedBaseline, models: EquivalentModels) -> Vector:
    """Return, for each feature, a large weight to which the gaps of its bounds are compared.

    This is the limit on the norm or, if smaller, the weight with which the feature alone would
    contribute as much to the predictions as all features of the baseline. It changes with the unit
    of the feature, so the comparison also makes sense without standardization.
    """
    weights = np.abs(baseline.model.weights)
    unit = np.concatenate([deviations(table) for table in baseline.data.tables])
    total = float(weights @ unit)
    norm = largest_norm(models)
    if not total > 0:
        return np.full(baseline.layout.n_all_features, norm)
    with np.errstate(divide="ignore"):  # constant columns
        reference = np.minimum(norm, total / unit)
    return np.minimum.reduceat(reference, baseline.layout.starts[:-1])


@dataclass(frozen=True)
class SubproblemBounds:
    """Bounds of one subproblem: ranges of all weights over the models equivalent to the baseline.

    Privileged features follow those of ``X``. ``solved`` covers the solved features. It excludes
    constant features, features that screening certified as irrelevant, and features not solved in
    time. The last two have outer bounds and no witnesses (``has_witness``). A feature is ``exact``
    if it has witnesses and its gaps are small (see :func:`reference_weights`). Intervals and gaps,
    shape (d, 2), are zero for constant and dropped features. ``signed_interval`` is NaN for
    features with several weights. ``weight_bounds``, of shape (n_weights, 2), bounds every single
    weight. If ``is_union`` is True, the bounds cover several sets of models, because constraints
    allow both signs of a weight; ``models`` is one of these sets.
    """

    baseline: FittedBaseline
    models: EquivalentModels
    solved: FeatureRanges
    exact: NDArray[np.bool_]
    has_witness: NDArray[np.bool_]
    signed_interval: Matrix
    weight_bounds: Matrix
    interval: Matrix
    gap: Matrix
    calibration: FittedCalibration
    relevance: NDArray[np.str_]
    tol: float = LARGE_GAP
    is_union: bool = False
    notes: tuple[str, ...] = ()

    @classmethod
    def from_ranges(
        cls,
        baseline: FittedBaseline,
        models: EquivalentModels,
        solved: FeatureRanges,
        outer: Matrix,
        calibration: FittedCalibration,
        *,
        tol: float = LARGE_GAP,
        is_union: bool = False,
        notes: tuple[str, ...] = (),
    ) -> SubproblemBounds:
        """Combine exact ranges of some features with outer bounds on all weights.

        ``tol`` is the relative gap up to which bounds count as exact.
        """
        layout, ranges, blocks = baseline.layout, solved.weights, solved.blocks
        d = layout.n_all_features
        features = layout.features_of_weights[ranges.features]
        signed, interval, gap = np.zeros((3, d, 2))
        signed[features], interval[features] = ranges.attained, ranges.interval
        gap[features] = ranges.gap
        has_witness = np.ones(d, dtype=bool)
        for feature, part in blocks.items():
            signed[feature] = np.nan
            interval[feature], gap[feature] = part.attained, part.gap
            has_witness[feature] = part.exact
        # The upper bound of an unsolved feature is at least the baseline's weight and at most the
        # outer bound.
        others = np.setdiff1d(baseline.varying, [*features, *blocks])
        unsolved = layout.starts[others]
        weight = np.abs(baseline.model.weights[unsolved])
        upper = np.abs(outer[unsolved]).max(axis=1)
        signed[others] = outer[unsolved]
        interval[others] = np.column_stack([np.zeros(len(others)), upper])
        gap[others] = np.column_stack([weight, upper - weight])
        has_witness[others] = (outer[unsolved] == 0).all(axis=1)  # dropped features
        known = interval.copy()
        known[others, 1] = weight
        allowed = max(tol, LARGE_GAP) * reference_weights(baseline, models)
        weight_bounds = np.zeros((layout.n_weights, 2))
        single = np.setdiff1d(np.arange(d), list(layout.blocks))
        weight_bounds[layout.starts[single]] = signed[single]
        several = layout.weights_of(list(blocks))
        weight_bounds[several] = outer[several]
        return cls(
            baseline=baseline,
            models=models,
            solved=solved,
            exact=has_witness & (gap <= allowed[:, None]).all(axis=1),
            has_witness=has_witness,
            signed_interval=signed,
            weight_bounds=weight_bounds,
            interval=interval,
            gap=gap,
            calibration=calibration,
            relevance=calibration.classify_range(known, interval),
            tol=tol,
            is_union=is_union,
            notes=notes,
        )

    def model(self, coef: Vector, offset: Vector) -> LinearModel:
        """Return the model with the given weights and offsets, for scaled tables."""
        C = self.baseline.model.C_
        return self.baseline.data.model(coef, offset, C, self.models.rows)

    def witness(self, feature: int, side: int) -> LinearModel:
        """Return an equivalent model that attains a bound of a feature, for unscaled tables."""
        if not self.has_witness[feature]:
            raise InputError(
                "No witness was computed for this feature, because of screening or the time limit. "
                "To compute it, fit with screen=False and without max_seconds."
            )
        found = self.solved.witness(feature, int(self.baseline.layout.starts[feature]), side)
        # No model uses a constant or dropped feature.
        model = self.baseline.model if found is None else self.model(*found)
        return model.with_scaling(self.baseline.scaling)


@dataclass(frozen=True)
class FeatureBounds:
    """Bounds and relevance classes of the d features of one table, combined and per subproblem.

    ``baseline`` has the baseline's weight of each feature; with several subproblems, the weight
    with the largest absolute value. Arrays per class, such as ``class_interval``, have a leading
    axis for the classes; ``cutoff`` has this axis only if there are several subproblems.
    ``lists_classes`` is True for the features of ``X`` if there are several subproblems.
    """

    names: list[str]
    interval: Matrix
    signed_interval: Matrix
    gap: Matrix
    exact: NDArray[np.bool_]
    has_witness: NDArray[np.bool_]
    relevance: NDArray[np.str_]
    baseline: Vector
    class_interval: NDArray[np.float64]
    class_relevance: NDArray[np.str_]
    pvalue: Vector
    qvalue: Vector
    rule: str
    cutoff: NDArray[np.float64]
    lists_classes: bool

    def per_class(self) -> list[list[dict[str, Any]]] | None:
        """Return the interval and the relevance class of each feature for each target class.

        Return None if there is only one subproblem, and for privileged features.
        """
        if not self.lists_classes:
            return None
        return [
            [
                {"relevance": relevance, "lower": lower, "upper": upper}
                for relevance, (lower, upper) in zip(relevances, intervals, strict=True)
            ]
            for relevances, intervals in zip(
                self.class_relevance.T.tolist(),
                self.class_interval.transpose(1, 0, 2).tolist(),
                strict=True,
            )
        ]


@dataclass(frozen=True)
class BoundsResult:
    """Bounds and relevance classes of all subproblems of a fit.

    ``constraints`` maps feature indices to user constraints, or is None without constraints.
    ``unconstrained`` is the result before any constraints were applied.
    """

    layout: WeightLayout
    subproblems: tuple[SubproblemBounds, ...]
    evidence: Vector
    constraints: Mapping[int, ConstraintSpec] | None = None
    unconstrained: BoundsResult | None = None

    @cached_property
    def features(self) -> FeatureBounds:
        """Bounds of the features of ``X``."""
        return combine_subproblems(self.subproblems, self.layout)

    @cached_property
    def privileged(self) -> FeatureBounds | None:
        """Bounds of the privileged features, if any."""
        if not self.layout.n_privileged:
            return None
        return combine_subproblems(self.subproblems, self.layout, table=1)

    @property
    def baseline(self) -> LinearModel | LinearModels:
        """Baseline model of each subproblem, for unscaled tables."""
        fitted = [subproblem.baseline for subproblem in self.subproblems]
        models = [baseline.model.with_scaling(baseline.scaling) for baseline in fitted]
        return models[0] if len(models) == 1 else stack_models(models)

    @property
    def score(self) -> float | Vector | None:
        """Cross-validated score of each baseline; None without cross-validation."""
        scores = [subproblem.baseline.score for subproblem in self.subproblems]
        if scores[0] is None:
            return None
        return scores[0] if len(scores) == 1 else np.array(scores)

    def records(self, labels: Iterable[Any]) -> list[dict[str, Any]]:
        """Return the cutoffs and the baseline of each subproblem as JSON-compatible values."""
        records = []
        for label, subproblem in zip(labels, self.subproblems, strict=True):
            model = subproblem.baseline.model
            cutoff, *privileged = map(cutoff_record, subproblem.calibration.cutoff)
            record = {
                "label": label,
                "cutoff": cutoff,
                "baseline": {"C": model.C_, "norm": model.norm_, "loss": model.loss_},
                "cv_accuracy": None,
            }
            if privileged:
                record["privileged_cutoff"] = privileged[0]
            records.append(record)
        return records

    def with_models(self, models: Sequence[LinearModel]) -> BoundsResult:
        """Return a copy of the result with the baselines replaced by the given models."""
        subproblems = tuple(
            replace(sub, baseline=replace(sub.baseline, model=model, start=None))
            for sub, model in zip(self.subproblems, models, strict=True)
        )
        return replace(self, subproblems=subproblems)

    def check_single_set(self) -> None:
        """Raise if constraints allow both signs of a weight, which splits the set of models."""
        if any(subproblem.is_union for subproblem in self.subproblems):
            raise InputError(
                "This analysis requires a single set of models, but the constraints allow both "
                "signs of a weight. Fix the sign with what_if(..., signed=True)."
            )


def combine_subproblems(
    subproblems: Sequence[SubproblemBounds], layout: WeightLayout, table: int = 0
) -> FeatureBounds:
    """Combine the bounds of the features of one table over all subproblems.

    The combined bounds are the largest over the subproblems. A feature is strong if it is strong in
    any subproblem, and at least weak if it is relevant in any.
    """
    features = layout.table_features(table)
    intervals = np.array([sub.interval[features] for sub in subproblems])
    relevances = np.array([sub.relevance[features] for sub in subproblems])
    signed = np.array([sub.signed_interval[features] for sub in subproblems])
    cutoffs = np.array([sub.calibration.cutoff[table] for sub in subproblems])
    calibrations = [sub.calibration for sub in subproblems]
    pvalues = np.array([calibration.pvalue[features] for calibration in calibrations])
    return FeatureBounds(
        names=layout.table_names(table),
        interval=intervals.max(axis=0),
        signed_interval=np.column_stack([signed[:, :, 0].min(axis=0), signed[:, :, 1].max(axis=0)]),
        gap=np.max([sub.gap[features] for sub in subproblems], axis=0),
        exact=np.all([sub.exact[features] for sub in subproblems], axis=0),
        has_witness=np.all([sub.has_witness[features] for sub in subproblems], axis=0),
        relevance=_combine_classes(relevances, calibrations[0].rule[table] == FDR),
        baseline=largest_weights(
            np.array(
                [
                    layout.feature_weights(sub.baseline.model.weights)[features]
                    for sub in subproblems
                ]
            )
        ),
        class_interval=intervals,
        class_relevance=relevances,
        pvalue=pvalues.min(axis=0),
        qvalue=np.min([calibration.qvalue[features] for calibration in calibrations], axis=0),
        rule=calibrations[0].rule[table],
        cutoff=cutoffs[0] if len(cutoffs) == 1 else cutoffs,
        lists_classes=table == 0 and len(subproblems) > 1,
    )


def _combine_classes(relevances: NDArray[np.str_], is_tested: bool) -> NDArray[np.str_]:
    """Return the relevance class of each feature, combined over all subproblems.

    It is the strongest one. If relevance was tested, a feature that is relevant in one subproblem
    and needed in another is strong, because the test covers all subproblems together.
    """
    ranks = np.array([[CLASSES.index(name) for name in row] for row in relevances.tolist()])
    combined = np.array(CLASSES)[ranks.min(axis=0)]
    is_needed = np.isin(relevances, (STRONG, UNCONFIRMED)).any(axis=0)
    return np.where(is_tested & is_needed & (combined == WEAK), STRONG, combined)


@dataclass(frozen=True)
class Column:
    """Column of a result in data frames, documents, reports and terminal output.

    ``values`` extracts the column from a table of features, or returns None if the table has no
    such column. Reports show the columns that have a ``heading``.
    """

    name: str
    heading: str | None
    values: Callable[[Any], Any]
    in_frame: bool = True
    on_terminal: bool = False


FEATURE_COLUMNS: tuple[Column, ...] = (
    Column("relevance", "Relevance", lambda table: table.relevance, on_terminal=True),
    Column("qvalue", "q-value", lambda table: table.qvalue, on_terminal=True),
    Column("pvalue", "p-value", lambda table: table.pvalue),
    Column("lower", "Lower", lambda table: table.interval[:, 0], on_terminal=True),
    Column("upper", "Upper", lambda table: table.interval[:, 1], on_terminal=True),
    Column("signed_min", "Signed from", lambda table: table.signed_interval[:, 0]),
    Column("signed_max", "Signed to", lambda table: table.signed_interval[:, 1]),
    Column("baseline", "Baseline", lambda table: table.baseline),
    Column("exact", None, lambda table: table.exact),
    Column("gap_lower", None, lambda table: table.gap[:, 0]),
    Column("gap_upper", None, lambda table: table.gap[:, 1]),
    Column("per_class", None, lambda table: table.per_class(), in_frame=False),
)


def feature_records(columns: Iterable[Column], table: Any) -> list[dict[str, Any]]:
    """Return the results of all features as JSON-compatible dicts, one per feature."""
    values = {"name": table.names}
    for column in columns:
        entries = column.values(table)
        if entries is not None:
            values[column.name] = entries if isinstance(entries, list) else entries.tolist()
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]


def cutoff_record(cutoff: Sequence[float] | NDArray[np.float64]) -> dict[str, float]:
    """Return the cutoffs of the lower and the upper bound as JSON-compatible values."""
    lower, upper = cutoff
    return {"lower": float(lower), "upper": float(upper)}
