"""Immutable linear models: a single model, or one model per class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._typing import Matrix, Table, Vector
from ..terms.scaling import Scaling

# Norm up to which all weights count as rounding errors.
MIN_NORM = 1e-10


@dataclass(frozen=True)
class LinearModel:
    """Linear model ``f(x) = coef_ . x + intercept_`` of scaled features.

    Attributes
    ----------
    coef_ : ndarray of shape (d,)
        Weights of the scaled features.
    intercept_ : float
        Intercept.
    norm_ : float
        Sum of the absolute weights, including those of privileged features.
    loss_ : float
        Sum of the weighted losses over the training samples.
    C_ : float
        Weight of the loss relative to the norm.
    scaling_ : Scaling or None
        Scaling of the features, applied by ``decision_function``.
    thresholds_ : ndarray of shape (n_classes - 1,) or None
        Ascending thresholds between ordered classes. The index of a sample's class is the number of
        thresholds below its value.
    privileged_coef_ : ndarray of shape (p,) or None
        Weights of privileged features. The slack variable of a training sample is
        ``privileged_coef_ . z + privileged_intercept_``.
    privileged_intercept_ : float or None
        Intercept of the linear function for the slack variables.
    """

    coef_: Vector
    intercept_: float
    norm_: float
    loss_: float
    C_: float
    scaling_: Scaling | None = None
    thresholds_: Vector | None = None
    privileged_coef_: Vector | None = None
    privileged_intercept_: float | None = None

    @property
    def weights(self) -> Vector:
        """Weights of the features, followed by those of privileged features."""
        if self.privileged_coef_ is None:
            return self.coef_
        return np.r_[self.coef_, self.privileged_coef_]

    @property
    def uses_features(self) -> bool:
        """Whether the model uses any feature, that is, whether its norm exceeds rounding errors."""
        return self.norm_ > MIN_NORM

    def decision_function(self, X: Table) -> Vector:
        """Compute the value of the model for each row of an unscaled table."""
        return _scale(self.scaling_, X) @ self.coef_ + self.intercept_

    def with_scaling(self, scaling: Scaling | None) -> LinearModel:
        """Return a copy of the model that applies the given scaling before predicting."""
        return replace(self, scaling_=scaling)


@dataclass(frozen=True)
class LinearModels:
    """One linear model per class. Array attributes have a leading axis for the classes."""

    coef_: Matrix
    intercept_: Vector
    norm_: Vector
    loss_: Vector
    C_: Vector
    scaling_: Scaling | None = None
    privileged_coef_: Matrix | None = None

    def decision_function(self, X: Table) -> Matrix:
        """Compute the model values for each row of an unscaled table, one column per model."""
        return np.asarray(_scale(self.scaling_, X) @ self.coef_.T + self.intercept_)


def stack_models(models: Sequence[LinearModel]) -> LinearModels:
    """Combine models with the same scaling, one per class, into :class:`LinearModels`."""
    privileged = [m.privileged_coef_ for m in models if m.privileged_coef_ is not None]
    return LinearModels(
        coef_=np.array([model.coef_ for model in models]),
        intercept_=np.array([model.intercept_ for model in models]),
        norm_=np.array([model.norm_ for model in models]),
        loss_=np.array([model.loss_ for model in models]),
        C_=np.array([model.C_ for model in models]),
        scaling_=models[0].scaling_,
        privileged_coef_=np.array(privileged) if privileged else None,
    )


def _scale(scaling: Scaling | None, X: Table) -> Table:
    return X if scaling is None else scaling.apply(X)
