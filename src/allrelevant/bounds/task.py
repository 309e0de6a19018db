"""Interface of a prediction task: constraints on linear models, scores and wording.

A task implements :class:`TaskData`, and an estimator splits its data into one
:class:`Subproblem` or several. :class:`Task` describes the task to the code that reads targets and
writes documents and reports. The module of each task defines its data class, its estimator and its
:class:`Task`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array, check_consistent_length

from .._params import TASKS
from .._text import number, percent
from .._typing import Rows, Table, Vector
from .._validation import check_column_sizes
from ..exceptions import InputError, warn_caller
from ..resampling import Fold, make_folds, permute_rows
from ..terms.blocks import Block
from ..terms.columns import Column, columns_from_frame
from ..terms.encoding import (
    EncodedScaling,
    EncodingOptions,
    TableEncoding,
    fit_encoding,
    needs_encoding,
)
from ..terms.layout import WeightLayout
from ..terms.scaling import Blocks, Scaling
from ..terms.validation import check_finite_columns, check_sparse_indices
from .models import LinearModel
from .programs.hinge import HingeRows, Requirements, privileged_rows

FitScaling = Callable[[Table, Vector, Blocks], Scaling]


@dataclass(frozen=True)
class TaskData(ABC):
    """Validated data of one subproblem: ``y`` encoded for the task, all weights positive.

    Privileged features are available for training samples only. The slack variable of each
    sample is a linear function of them; see :mod:`allrelevant.bounds.programs.hinge`. Rows of the
    same group, such as the visits of one patient, are never separated. ``terms`` assigns the
    columns of the tables to features; by default, each column is a feature. ``score_weight`` are
    the sample weights of scikit-learn scorers, without class weights; None if all are equal.
    """

    X: Table
    y: Vector
    weight: Vector
    privileged: Table | None = None
    row_groups: NDArray[Any] | None = field(default=None, kw_only=True)
    terms: WeightLayout | None = field(default=None, kw_only=True)
    score_weight: Vector | None = field(default=None, kw_only=True)

    @property
    def n_samples(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_loss_terms(self) -> int:
        """Number of terms of the loss: one per sample, unless the task compares samples."""
        return self.n_samples

    @property
    def n_features(self) -> int:
        """Number of columns of ``X``."""
        return int(self.X.shape[1])

    @property
    def total_weight(self) -> float:
        """Sum of the sample weights: the loss of a model whose slack variables are all 1."""
        return float(self.weight.sum())

    @property
    def tables(self) -> tuple[Table, ...]:
        """``X``, followed by the table of privileged features if there is one."""
        return (self.X,) if self.privileged is None else (self.X, self.privileged)

    @property
    def layout(self) -> WeightLayout:
        """Assignment of model weights to features."""
        return WeightLayout.from_tables(self.tables) if self.terms is None else self.terms

    @cached_property
    def rows(self) -> HingeRows:
        """Hinge constraints on a model of the data, including any privileged features."""
        if self.privileged is None:
            return self._free_slack_rows()
        return privileged_rows(self.requirements(), self.privileged, self._slack_weights())

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Return a copy that contains only the given samples."""
        return replace(
            self,
            X=self.X[rows],
            y=self.y[rows],
            weight=self.weight[rows],
            privileged=None if self.privileged is None else self.privileged[rows],
            row_groups=None if self.row_groups is None else self.row_groups[rows],
            score_weight=None if self.score_weight is None else self.score_weight[rows],
        )

    def with_tables(self, tables: Sequence[Table]) -> Self:
        """Return a copy with the given tables: ``X``, then the privileged features if any."""
        X, *privileged = tables
        return replace(self, X=X, privileged=privileged[0] if privileged else None)

    def without_features(self) -> tuple[Self, LinearModel]:
        """Return a copy without features, and a model of it that is zero everywhere."""
        data = self.take_features(np.empty(0, dtype=np.intp))
        offset = np.zeros(self.n_samples)
        thresholds = self._thresholds(offset)
        return data, LinearModel(np.empty(0), 0.0, 0.0, 0.0, 1.0, thresholds_=thresholds)

    def take_features(self, features: NDArray[np.intp]) -> Self:
        """Return a copy that contains only the given features of ``X``."""
        part = replace(self, terms=None if self.terms is None else self.terms.take(features))
        columns = self.layout.table_columns(features, 0)
        return part.with_tables((self.X[:, columns], *self.tables[1:]))

    def append_copies(self, features: NDArray[np.intp], columns: Table, table: int = 0) -> Self:
        """Return a copy with permuted copies of features appended to their table.

        ``columns`` are the permuted columns of the features.
        """
        terms = None if self.terms is None else self.terms.extended(features, table)
        return replace(self, terms=terms)._append_columns(columns, table)

    def _append_columns(self, columns: Table, table: int) -> Self:
        tables = list(self.tables)
        if sp.issparse(tables[table]):
            tables[table] = sp.hstack([tables[table], sp.csr_array(columns)], format="csr")
        else:
            tables[table] = np.hstack([tables[table], columns])
        return self.with_tables(tables)

    def scale(self, fit_scaling: FitScaling) -> ScaledTables:
        """Fit a scaling to each table; return the scaled tables and the scalings."""
        scalings = tuple(
            fit_scaling(values, self.weight, self.layout.table_blocks(table))
            for table, values in enumerate(self.tables)
        )
        tables = tuple(s.apply(table) for s, table in zip(scalings, self.tables, strict=True))
        return ScaledTables(tables, scalings)

    def model(
        self, coef: Vector, offset: Vector, C: float, rows: HingeRows | None = None
    ) -> LinearModel:
        """Return the model with the given weights and offsets, including its norm and loss.

        ``rows`` are the constraints that define the offsets, by default ``self.rows``.
        """
        loss = (rows or self.rows).loss(coef[None], offset[None])[0]
        explained = self.privileged is not None
        return LinearModel(
            coef_=coef[: self.n_features],
            intercept_=self._intercept(offset),
            norm_=float(np.abs(coef).sum()),
            loss_=float(loss),
            C_=float(C),
            thresholds_=self._thresholds(offset),
            privileged_coef_=coef[self.n_features :] if explained else None,
            privileged_intercept_=float(offset[-1]) if explained else None,
        )

    @abstractmethod
    def requirements(self) -> Requirements:
        """Return the constraints, and the sample to which each constraint belongs."""

    @abstractmethod
    def score(self, model: LinearModel) -> float:
        """Return the score of a model on these samples; higher is better."""

    def selection_score(self, model: LinearModel) -> float:
        """Return the score by which cross-validation chooses C; higher is better."""
        return self.score(model)

    def predictor(self, model: LinearModel) -> Any:
        """Return a model as a scikit-learn estimator; raise if scorers do not suit the task."""
        raise InputError("scoring is not available for this task. Set scoring=None.")

    def observed(self) -> NDArray[Any]:
        """Return the target as the user passed it, for scikit-learn scorers."""
        return self.y

    def association_target(self) -> Vector:
        """Return the target as numbers, for a test of linear association."""
        return self.y

    def strata(self) -> Vector | None:
        """Return the class of each sample, by which folds are stratified; None without classes."""
        return self.y

    def folds(self, n_folds: int, seed: int) -> list[Fold]:
        """Return the cross-validation folds; fewer than ``n_folds`` if there are few samples."""
        return make_folds(self.n_samples, n_folds, seed, self.strata(), self.row_groups)

    def usable_folds(self, folds: Iterable[Fold]) -> list[Fold]:
        """Return the folds on which models can be fitted and scored."""
        return list(folds)

    def draw_orders(self, n_permutations: int, seed: int) -> list[Rows]:
        """Draw random permutations of the samples; row groups move as a whole."""
        rng = np.random.RandomState(seed)
        return [permute_rows(self.n_samples, rng, self.row_groups) for _ in range(n_permutations)]

    def proof_coding(self, cells: Sequence[Any]) -> dict[str, Any]:
        """Return how a proof codes the target, given its cells; raise if this is not possible."""
        raise InputError(
            "A proof cannot be exported for this task. Proofs are available for classification, "
            "regression, ordinal regression and ranking."
        )

    def _free_slack_rows(self) -> HingeRows:
        return self.requirements().rows

    def _slack_weights(self) -> Vector:
        """Return the weight of each slack variable in the loss; used with privileged features."""
        return self.weight

    def _intercept(self, offset: Vector) -> float:
        return float(offset[0])

    def _thresholds(self, offset: Vector) -> Vector | None:
        return None


@dataclass(frozen=True)
class PrivilegedTable:
    """Privileged features as numbers; ``names`` is None without column names.

    ``blocks`` are the features with several columns, such as categories.
    """

    values: Table
    n_features: int
    names: NDArray[Any] | None
    blocks: Mapping[int, Block]


def read_privileged(privileged: Any, X: Table) -> PrivilegedTable:
    """Validate privileged features; encode categories and missing values as in ``X``."""
    names = getattr(privileged, "columns", None)
    if names is not None:
        names = np.asarray([str(name) for name in names], dtype=object)
    columns = columns_from_frame(privileged)
    if columns is not None and needs_encoding(columns):
        check_finite_columns(columns)
        encoding = fit_encoding(columns, EncodingOptions())
        for note in encoding.notes:
            warn_caller(note)
        values = encoding.encode(privileged)
        check_consistent_length(X, values)
        return PrivilegedTable(values, len(encoding.features), names, encoding.blocks)
    check_sparse_indices(privileged)
    table = check_array(privileged, accept_sparse="csr", dtype=np.float64, input_name="privileged")
    check_consistent_length(X, table)
    shown = [f"privileged {j}" for j in range(table.shape[1])] if names is None else names.tolist()
    check_column_sizes(table, shown)
    values = sp.csr_array(table) if sp.issparse(table) else table
    return PrivilegedTable(values, int(values.shape[1]), names, {})


@dataclass(frozen=True)
class ScaledTables:
    """Scaled feature tables, and the scaling of each table."""

    tables: tuple[Table, ...]
    scalings: tuple[Scaling, ...]

    def with_encoding(self, encoding: TableEncoding) -> ScaledTables:
        """Return a copy whose first scaling also encodes the table."""
        first, *others = self.scalings
        encoded = EncodedScaling(first.mean, first.factor, first.fill, encoding=encoding)
        return replace(self, scalings=(encoded, *others))

    @property
    def varying(self) -> NDArray[np.bool_]:
        """Mask of the weights whose columns are not constant."""
        return ~np.concatenate([scaling.constant for scaling in self.scalings])


@dataclass(frozen=True)
class Subproblem:
    """One learning problem: the whole task, or one class of a one-vs-rest classification.

    ``name`` identifies it in messages and progress bars. The variants hold the same samples, one
    variant for each value of a cross-validated setting.
    """

    name: str
    variants: Sequence[TaskData]

    def with_structure(
        self,
        row_groups: NDArray[Any] | None,
        terms: WeightLayout | None,
        score_weight: Vector | None,
    ) -> Subproblem:
        """Return a copy with row groups, features of several columns and weights for scorers."""
        variants = [
            replace(v, row_groups=row_groups, terms=terms, score_weight=score_weight)
            for v in self.variants
        ]
        return replace(self, variants=variants)


@dataclass(frozen=True)
class TaskWording:
    """Phrases of the report that depend on the task."""

    aim: str  # purpose of the model, with placeholders for the class labels if it names them
    classes: str  # label of the list of classes; empty for a numeric target
    score: str
    score_heading: str  # heading of a column of cross-validated scores
    unseen: str  # score on held-out rows, with a placeholder for the number
    training: str  # score on the training rows, in a sentence that begins with ``unseen``
    training_alone: str  # the same, in a sentence without ``unseen``
    without_features: str  # score of a model without features
    scaled: str = "features scaled to variance 1"
    loss: str = ""  # definition of the loss; empty if the report does not state it
    model: str = "baseline model"  # the model that is scored

    def achievement(self, score: Mapping[str, Any]) -> str | None:
        """Return a sentence on the baseline's score, or None if there is no score."""
        unseen, training = score["cross_validated"], score["training"]
        if score["name"] != self.score:
            return self._other_achievement(score["name"], unseen, training)
        parts = []
        if unseen is not None:
            parts.append(self.unseen.format(percent(unseen)))
        if training is not None:
            phrase = self.training if parts else self.training_alone
            parts.append(phrase.format(percent(training)))
        if not parts:
            return None
        chance = score["without_features"]
        contrast = "" if chance is None else f"; {self.without_features.format(percent(chance))}"
        return f"The {self.model} {', and '.join(parts)}{contrast}."

    def _other_achievement(
        self, name: str, unseen: float | None, training: float | None
    ) -> str | None:
        """Return a sentence on a score that is not the usual one of the task."""
        parts = []
        if unseen is not None:
            parts.append(f"{number(unseen)} on held-out rows (cross-validation)")
        if training is not None:
            parts.append(f"{number(training)} on the training rows")
        if not parts:
            return None
        return f"The score of the {self.model} ({name}) is {' and '.join(parts)}."


# Wording of classification tasks.
CLASS_WORDING = TaskWording(
    aim="separate the classes",
    classes="classes",
    score="accuracy",
    score_heading="Accuracy (cross-validated)",
    unseen="classifies {} of held-out rows correctly (cross-validation)",
    training="{} of the training rows",
    training_alone="classifies {} of the training rows correctly",
    without_features="always predicting the most frequent class would be correct for {}",
)


def majority_fraction(class_sizes: Sequence[int]) -> float | None:
    """Return the accuracy of always predicting the largest class; None if sizes are unknown."""
    return max(class_sizes) / sum(class_sizes) if class_sizes else None


@dataclass(frozen=True)
class Task:
    """Prediction task: its name, the conversion of its target, its scores and its wording.

    ``name`` is the value of ``--task``. ``read_target`` converts a column and its name to the
    target of ``fit``, or raises ``InputError``. ``chance`` returns the score of a model without
    features, or None if it is unknown; its argument is the number of samples of each class, empty
    if unknown. ``training_score`` returns the score of the baseline, given the fitted estimator and
    its training data. ``target_numbers`` returns the numbers that describe a numeric target.
    """

    name: str
    read_target: Callable[[Column, str], NDArray[Any]]
    chance: Callable[[Sequence[int]], float | None]
    wording: TaskWording
    training_score: Callable[[Any, Any, Any], float] = lambda est, X, y: float(est.score(X, y))
    target_numbers: Callable[[Any], NDArray[Any]] = np.asarray


def task_by_name(name: str) -> Task:
    """Return the task with the given name; its estimator is imported on demand."""
    task: Task = getattr(import_module("allrelevant"), TASKS[name]).task
    return task
