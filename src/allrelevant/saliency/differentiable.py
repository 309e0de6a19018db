"""What a model must offer for the saliency of its inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix, Table
from .gains import Gain, Targets


@runtime_checkable
class DifferentiableModel(Protocol):
    """A trained model whose outputs have gradients with respect to its inputs.

    Attributes
    ----------
    gain : Gain
        The one that goes with the loss it was trained by.
    """

    @property
    def gain(self) -> Gain:
        """The gain that goes with the loss."""
        ...

    def outputs(self, X: Table) -> Matrix:
        """Outputs of each row.

        Parameters
        ----------
        X : ndarray or csr_array of shape (n, d)

        Returns
        -------
        ndarray of shape (n, k)
            One column for each class (two of a binary classifier), or a single one for a number.
        """
        ...

    def pull_back(self, X: Table, cotangent: Matrix) -> Matrix:
        """Gradient with respect to the inputs of ``sum(cotangent * outputs)``, row by row.

        Parameters
        ----------
        X : ndarray or csr_array of shape (n, d)
        cotangent : ndarray of shape (n, k)

        Returns
        -------
        ndarray of shape (n, d)
            Dense, of sparse rows too: hand over few rows at a time where there are many features.
        """
        ...


class Linearization(Protocol):
    """A model at some rows: its outputs there, and the way back from them."""

    @property
    def outputs(self) -> Matrix:
        """Outputs of each row; shape (n, k)."""
        ...

    def pull_back(self, cotangent: Matrix) -> Matrix:
        """Gradient with respect to the inputs of ``sum(cotangent * outputs)``."""
        ...


@runtime_checkable
class Linearizable(Protocol):
    """A model that need not compute again on the way back what it has computed on the way there."""

    def linearized(self, X: Table) -> Linearization:
        """The model at some rows."""
        ...


@dataclass(frozen=True)
class TwoPasses:
    """The same of a model that does."""

    model: DifferentiableModel
    X: Table
    outputs: Matrix

    def pull_back(self, cotangent: Matrix) -> Matrix:
        return self.model.pull_back(self.X, cotangent)


def linearized(model: DifferentiableModel, X: Table) -> Linearization:
    """A model at some rows, in one pass where it can."""
    if isinstance(model, Linearizable):
        return model.linearized(X)
    return TwoPasses(model, X, model.outputs(X))


def predicted_codes(found: Linearization) -> NDArray[np.int64]:
    """The class that is predicted for each row, as its place among the classes.

    That with the highest output, unless the model has another rule (``codes``), such as votes.
    """
    codes: NDArray[np.int64] | None = getattr(found, "codes", None)
    return found.outputs.argmax(axis=1) if codes is None else codes


def saliency(
    model: DifferentiableModel, X: Table, targets: Targets, gain: Gain | None = None
) -> Matrix:
    """Gradient of the gain of each row with respect to its features, with signs.

    Parameters
    ----------
    model : DifferentiableModel
    X : ndarray or csr_array of shape (n, d)
    targets : ndarray of shape (n,)
        Codes of the classes, or numbers.
    gain : Gain or None, default=None
        By default the one that goes with the loss of the model.

    Returns
    -------
    ndarray of shape (n, d)
    """
    gain = model.gain if gain is None else gain
    found = linearized(model, X)
    return found.pull_back(gain.gradient(found.outputs, targets))
