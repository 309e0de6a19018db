"""A task: what its data ask of a linear model, how models are scored, and how pages word it.

:class:`TaskData` is what a task implements, :class:`Subproblem` what is solved, and :class:`Task`
what readers of tables, documents and pages need to know of it. Each task's own file holds its data
class, its estimator and its :class:`Task`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array, check_consistent_length

from .._params import TASKS
from .._text import percent
from .._typing import Matrix, Table, Vector
from ..resampling import Fold
from ..terms.layout import WeightLayout
from ..terms.scaling import Scaling
from .models import LinearModel
from .programs.hinge import HingeRows, Requirements, explained_rows

if TYPE_CHECKING:
    import pandas as pd

FitScaling = Callable[[Table, Vector], Scaling]


@dataclass(frozen=True)
class TaskData(ABC):
    """Validated data of one subproblem: ``y`` as the task codes it, all weights positive.

    Privileged features are known of the samples to learn from and of no others. They explain the
    slack of each sample; see :mod:`allrelevant.bounds.programs.hinge`.
    """

    X: Table
    y: Vector
    weight: Vector
    privileged: Table | None = None

    @property
    def n_samples(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def total_weight(self) -> float:
        """Loss of a model that misses every sample by 1."""
        return float(self.weight.sum())

    @property
    def tables(self) -> tuple[Table, ...]:
        """The table, and the one of the privileged features if there is one."""
        return (self.X,) if self.privileged is None else (self.X, self.privileged)

    @property
    def layout(self) -> WeightLayout:
        """Which weights of a model belong to which column."""
        return WeightLayout.from_tables(self.tables)

    @cached_property
    def rows(self) -> HingeRows:
        """What a model has to live up to."""
        if self.privileged is None:
            return self._free_rows()
        return explained_rows(self.requirements(), self.privileged, self._weight_of_slack())

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Some of the samples."""
        part = replace(self, X=self.X[rows], y=self.y[rows], weight=self.weight[rows])
        return part if self.privileged is None else replace(part, privileged=self.privileged[rows])

    def with_tables(self, tables: Sequence[Table]) -> Self:
        """The same targets and weights with other features."""
        X, *privileged = tables
        return replace(self, X=X, privileged=privileged[0] if privileged else None)

    def append_columns(self, columns: Matrix, table: int = 0) -> Self:
        """The same samples with more features in one of the tables, behind those it has."""
        tables = list(self.tables)
        if sp.issparse(tables[table]):
            tables[table] = sp.hstack([tables[table], sp.csr_array(columns)], format="csr")
        else:
            tables[table] = np.hstack([tables[table], columns])
        return self.with_tables(tables)

    def scale(self, fit_scaling: FitScaling) -> ScaledTables:
        """Its tables on the scale to solve on."""
        scalings = tuple(fit_scaling(table, self.weight) for table in self.tables)
        tables = tuple(s.apply(table) for s, table in zip(scalings, self.tables, strict=True))
        return ScaledTables(tables, scalings)

    def model(
        self, coef: Vector, offset: Vector, C: float, rows: HingeRows | None = None
    ) -> LinearModel:
        """Weights and offsets as a model, norm and loss taken from the data.

        ``rows`` are those that the offsets belong to, if they are not ``self.rows``.
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
        """What is asked of the samples one by one, and by whom."""

    @abstractmethod
    def score(self, model: LinearModel) -> float:
        """How well a model does on these samples; more is better."""

    def selection_score(self, model: LinearModel) -> float:
        """What cross-validation chooses C by; more is better."""
        return self.score(model)

    @abstractmethod
    def chance_score(self) -> float:
        """What a model without features scores."""

    @abstractmethod
    def folds(self, n_folds: int, seed: int) -> list[Fold]:
        """Splits for cross-validation, with no more folds than the samples allow."""

    def _free_rows(self) -> HingeRows:
        return self.requirements().rows

    def _weight_of_slack(self) -> Vector:
        """Weight of each sample's slack in the loss, where privileged features explain it."""
        return self.weight

    def _intercept(self, offset: Vector) -> float:
        return float(offset[0])

    def _thresholds(self, offset: Vector) -> Vector | None:
        return None


def check_privileged(privileged: Any, X: Table) -> tuple[Table, NDArray[Any] | None]:
    """Privileged features of the rows of ``X`` as a table, and their names if they have any."""
    names = getattr(privileged, "columns", None)
    table = check_array(privileged, accept_sparse="csr", dtype=np.float64, input_name="privileged")
    check_consistent_length(X, table)
    if names is not None:
        names = np.asarray([str(name) for name in names], dtype=object)
    return (sp.csr_array(table) if sp.issparse(table) else table), names


@dataclass(frozen=True)
class ScaledTables:
    """Tables on the scale to solve on, and how they got there."""

    tables: tuple[Table, ...]
    scalings: tuple[Scaling, ...]

    @property
    def varying(self) -> NDArray[np.intp]:
        """The weights whose columns are not constant."""
        return np.flatnonzero(~np.concatenate([scaling.constant for scaling in self.scalings]))


@dataclass(frozen=True)
class Subproblem:
    """One learning problem: the only one, or one class against the rest.

    ``name`` is what messages and progress bars call it. The variants are the same samples under
    each value of a setting that is cross-validated.
    """

    name: str
    variants: Sequence[TaskData]


@dataclass(frozen=True)
class TaskWording:
    """The words that differ from task to task."""

    aim: str  # what the model was trained to do, with places for the classes if need be
    classes: str  # what the list of classes is called; empty where there are none
    score: str
    score_heading: str  # the score above a column of cross-validated ones
    unseen: str  # what the baseline achieves on new rows, with a place for the number
    training: str  # the same of the rows it was trained on, after the other
    training_alone: str
    without_features: str  # what a model without features achieves
    scaled: str = "features scaled to variance 1"
    loss: str = ""  # what the loss of a model is; empty where the page says nothing about it
    model: str = "baseline model"  # whose score it is

    def achievement(self, score: Mapping[str, Any]) -> str | None:
        """How good the baseline is, from the score of a document; None if it is not known."""
        unseen, training = score["cross_validated"], score["training"]
        parts = []
        if unseen is not None:
            parts.append(self.unseen.format(percent(unseen)))
        if training is not None:
            phrase = self.training if parts else self.training_alone
            parts.append(phrase.format(percent(training)))
        if not parts:
            return None
        guess = score["without_features"]
        contrast = "" if guess is None else f"; {self.without_features.format(percent(guess))}"
        return f"The {self.model} {', and '.join(parts)}{contrast}."


# Of tasks that put rows into classes.
CLASS_WORDING = TaskWording(
    aim="tell the classes apart",
    classes="classes",
    score="accuracy",
    score_heading="Accuracy (cross-validated)",
    unseen="puts {} of rows it has not seen into their class, by cross-validation",
    training="{} of the rows it was trained on",
    training_alone="puts {} of the rows it was trained on into their class",
    without_features="always naming the most frequent class would get {}",
)


def majority_share(class_sizes: Sequence[int]) -> float | None:
    """Accuracy of always naming the most frequent class; None if the sizes are not known."""
    return max(class_sizes) / sum(class_sizes) if class_sizes else None


@dataclass(frozen=True)
class Task:
    """What is predicted, as readers of tables, documents and pages need to know it.

    ``name`` is the value of ``--task``. ``read_target`` makes the target of ``fit`` of a column and
    its name, or raises ``InputError``. ``chance`` gives the score of a model without features, from
    the number of rows of each class (none where unknown); None if it is not known.
    ``training_score`` is the baseline's, from a fitted estimator and what it was fitted on.
    """

    name: str
    read_target: Callable[[pd.Series, str], NDArray[Any]]
    chance: Callable[[Sequence[int]], float | None]
    wording: TaskWording
    training_score: Callable[[Any, Any, Any], float] = lambda est, X, y: float(est.score(X, y))


def task_by_name(name: str) -> Task:
    """The task of a document or of ``--task``; the estimator that has it is imported here."""
    task: Task = getattr(import_module("allrelevant"), TASKS[name]).task
    return task
