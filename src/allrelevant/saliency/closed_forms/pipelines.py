"""A model behind scalers: its gradient, per unit of the features as they were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from ...arrays import Matrix, Table
from ...exceptions import InputError
from ..differentiable import DifferentiableModel, Linearization, linearized, predicted_codes
from ..gains import Gain
from ..registry import differentiable


@dataclass(frozen=True)
class ScaledModel:
    """A model of scaled features.

    Attributes
    ----------
    slopes, offsets : ndarray of shape (d,) or float
        By what each feature is multiplied, and what is added then, by all scalers together.
    model : DifferentiableModel
    """

    slopes: Any
    offsets: Any
    model: DifferentiableModel

    @property
    def gain(self) -> Gain:
        """The gain that goes with the loss of the model."""
        return self.model.gain

    def outputs(self, X: Table) -> Matrix:
        """Outputs of each row."""
        return self.linearized(X).outputs

    def pull_back(self, X: Table, cotangent: Matrix) -> Matrix:
        """Gradient of ``sum(cotangent * outputs)``."""
        return self.linearized(X).pull_back(cotangent)

    def linearized(self, X: Table) -> ScaledAt:
        """The model at some rows."""
        return ScaledAt(self.slopes, linearized(self.model, self._scaled(X)))

    def _scaled(self, X: Table) -> Table:
        if not sp.issparse(X):
            return X * self.slopes + self.offsets
        if np.any(self.offsets):
            raise InputError(
                "The scaler of the pipeline shifts zeros, and the table is sparse: make it dense."
            )
        return sp.csr_array(X.multiply(np.broadcast_to(self.slopes, X.shape[1])))


@dataclass(frozen=True)
class ScaledAt:
    """That model at some rows."""

    slopes: Any
    model: Linearization

    @property
    def outputs(self) -> Matrix:
        """Outputs of each row."""
        return self.model.outputs

    @property
    def codes(self) -> NDArray[np.int64]:
        """The class that is predicted for each row."""
        return predicted_codes(self.model)

    def pull_back(self, cotangent: Matrix) -> Matrix:
        """Gradient of ``sum(cotangent * outputs)``."""
        return self.model.pull_back(cotangent) * self.slopes


def scaled_model(fitted: Any) -> ScaledModel:
    """Of a fitted pipeline of scalers and a model."""
    slopes: Any = 1.0
    offsets: Any = 0.0
    for _, scaler in fitted.steps[:-1]:
        if scaler not in (None, "passthrough"):
            slope, offset = _affine(scaler)
            slopes, offsets = slopes * slope, offsets * slope + offset
    return ScaledModel(slopes, offsets, differentiable(fitted.steps[-1][1]))


def _affine(scaler: Any) -> tuple[Any, Any]:
    """What a scaler multiplies by, and what it adds then.

    Its own ``transform`` may give frames, and warns of names that arrays do not have.
    """
    if isinstance(scaler, StandardScaler):
        return _dividing(scaler.mean_ if scaler.with_mean else None, scaler.scale_)
    if isinstance(scaler, RobustScaler):
        return _dividing(scaler.center_, scaler.scale_)
    if isinstance(scaler, MaxAbsScaler):
        return _dividing(None, scaler.scale_)
    if isinstance(scaler, MinMaxScaler) and not scaler.clip:
        return np.asarray(scaler.scale_), np.asarray(scaler.min_)
    raise InputError(
        f"The gradient of {type(scaler).__name__} in a pipeline is not known: use StandardScaler, "
        "MinMaxScaler without clipping, MaxAbsScaler or RobustScaler, or transform the table first."
    )


def _dividing(center: Any, scale: Any) -> tuple[Any, Any]:
    slope = 1.0 if scale is None else 1.0 / np.asarray(scale)
    return slope, 0.0 if center is None else -np.asarray(center) * slope
