"""Linear models as values: one, or one for each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._typing import Matrix, Table, Vector
from ..terms.scaling import Scaling

# A model of no larger norm uses no feature: its weights are rounding.
MIN_NORM = 1e-10


@dataclass(frozen=True)
class LinearModel:
    """A linear model, ``f(x) = coef_ . x + intercept_``, on the scale it was solved on.

    Attributes
    ----------
    coef_ : ndarray of shape (d,)
    intercept_ : float
    norm_ : float
        Sum of the absolute weights.
    loss_ : float
        Sum of the weighted losses over the training samples.
    C_ : float
        Weight of the loss against the norm.
    scaling_ : Scaling or None
        What turns a table into what the model was solved on.
    thresholds_ : ndarray of shape (n_classes - 1,) or None
        Of ordered classes: a row belongs to as high a class as it passes thresholds.
    privileged_coef_ : ndarray of shape (p,) or None
        Weights of privileged features, which explain the slack of each training sample as
        ``privileged_coef_ . z + privileged_intercept_``.
    privileged_intercept_ : float or None
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
        """All weights, those of privileged features behind the others."""
        if self.privileged_coef_ is None:
            return self.coef_
        return np.r_[self.coef_, self.privileged_coef_]

    @property
    def uses_features(self) -> bool:
        """Whether any weight is more than rounding."""
        return self.norm_ > MIN_NORM

    def decision_function(self, X: Table) -> Vector:
        """Value of the model at each row of a table that is not yet scaled."""
        return _scaled(self.scaling_, X) @ self.coef_ + self.intercept_

    def with_scaling(self, scaling: Scaling | None) -> LinearModel:
        """The same model, which takes tables that are not yet scaled."""
        return replace(self, scaling_=scaling)


@dataclass(frozen=True)
class LinearModels:
    """One linear model for each class; each attribute of a model with a leading axis."""

    coef_: Matrix
    intercept_: Vector
    norm_: Vector
    loss_: Vector
    C_: Vector
    scaling_: Scaling | None = None
    privileged_coef_: Matrix | None = None

    def decision_function(self, X: Table) -> Matrix:
        """Values of the models, one column each, at each row of a table not yet scaled."""
        return np.asarray(_scaled(self.scaling_, X) @ self.coef_.T + self.intercept_)


def stack_models(models: Sequence[LinearModel]) -> LinearModels:
    """Several models that share a scale, as one value."""
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


def _scaled(scaling: Scaling | None, X: Table) -> Table:
    return X if scaling is None else scaling.apply(X)
