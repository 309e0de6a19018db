"""A model behind scalers: its gradient, per unit of the features as they were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from ...arrays import Matrix, Table
from ...exceptions import InputError
from ..differentiable import DifferentiableModel
from ..gains import Gain
from ..registry import differentiable

# Scalers that multiply each feature by a number of its own and shift it: by one over scale_, or
# by scale_ itself.
_DIVIDING, _MULTIPLYING = (StandardScaler, MaxAbsScaler, RobustScaler), (MinMaxScaler,)


@dataclass(frozen=True)
class ScaledModel:
    """A model of scaled features.

    Attributes
    ----------
    scalers : list of transformer
    slopes : ndarray of shape (d,)
        By what they multiply each feature, all in all.
    model : DifferentiableModel
    """

    scalers: list[Any]
    slopes: Any
    model: DifferentiableModel

    @property
    def gain(self) -> Gain:
        """The gain that goes with the loss of the model."""
        return self.model.gain

    def outputs(self, X: Table) -> Matrix:
        """Outputs of each row."""
        return self.model.outputs(self._scaled(X))

    def pull_back(self, X: Table, cotangent: Matrix) -> Matrix:
        """Gradient of ``sum(cotangent * outputs)``."""
        return self.model.pull_back(self._scaled(X), cotangent) * self.slopes

    def _scaled(self, X: Table) -> Table:
        for scaler in self.scalers:
            X = scaler.transform(X)
        return X


def scaled_model(fitted: Any) -> ScaledModel:
    """Of a fitted pipeline of scalers and a model."""
    scalers = [step for _, step in fitted.steps[:-1] if step not in (None, "passthrough")]
    slopes: Any = 1.0
    for scaler in scalers:
        slopes = slopes * _slope(scaler)
    return ScaledModel(scalers, slopes, differentiable(fitted.steps[-1][1]))


def _slope(scaler: Any) -> Any:
    if isinstance(scaler, _DIVIDING):
        return 1.0 if scaler.scale_ is None else 1.0 / np.asarray(scaler.scale_)
    if isinstance(scaler, _MULTIPLYING) and not scaler.clip:
        return np.asarray(scaler.scale_)
    raise InputError(
        f"The gradient of {type(scaler).__name__} in a pipeline is not known: use StandardScaler, "
        "MinMaxScaler without clipping, MaxAbsScaler or RobustScaler, or transform the table first."
    )
