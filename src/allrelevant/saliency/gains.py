"""Gains: high where a prediction is right, close to zero where it is wrong.

The saliency of a row is the gradient of a gain with respect to the inputs (Cancela et al. 2020,
equation 5). A gain knows the outputs of a model and the targets, nothing of the model: its
derivative with respect to the outputs is handed to the model, which pulls it back to the inputs.

Where the paper clips, it wants the gradient to pass as if there were no clipping: forward clips,
backward passes ("straight through").
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

from .._typing import Matrix, Vector
from ..exceptions import InputError

# Codes of classes, shape (n,), or numbers to predict, shape (n,).
Targets = NDArray[Any]


@runtime_checkable
class Gain(Protocol):
    """How right the outputs of a model are."""

    def value(self, outputs: Matrix, targets: Targets) -> Vector:
        """The gain of each row.

        Parameters
        ----------
        outputs : ndarray of shape (n, k)
            One column for each class, or a single one for a number.
        targets : ndarray of shape (n,)
            Codes of the classes, or numbers.

        Returns
        -------
        ndarray of shape (n,)
        """
        ...

    def gradient(self, outputs: Matrix, targets: Targets) -> Matrix:
        """Its derivative with respect to the outputs; shape (n, k)."""
        ...


@dataclass(frozen=True)
class CrossEntropyGain:
    """Of classifiers that are trained by cross-entropy (equation 8): ``-log(1 - p)`` of the class.

    From logits, as ``logsumexp(z) - logsumexp(z without the class)``: the gradient does not vanish
    where the class is all but certain, as that of the printed form does.

    Parameters
    ----------
    alpha : float, default=1.0
        Factor.
    epsilon : float, default=1e-3
        Certainty ends at one minus this in the value; the gradient passes.

    Examples
    --------
    >>> import numpy as np
    >>> gain = CrossEntropyGain()
    >>> sure, unsure, wrong = np.array([[40.0, 0.0]]), np.zeros((1, 2)), np.array([[0.0, 40.0]])
    >>> [round(float(gain.gradient(z, np.array([0]))[0, 0]), 3) for z in (sure, unsure, wrong)]
    [1.0, 0.5, 0.0]
    """

    alpha: float = 1.0
    epsilon: float = 1e-3

    def value(self, outputs: Matrix, targets: Targets) -> Vector:
        """The gain of each row."""
        codes = _class_codes(outputs, targets)
        gains = logsumexp(outputs, axis=1) - logsumexp(_others(outputs, codes), axis=1)
        return self.alpha * np.minimum(gains, -np.log(self.epsilon))

    def gradient(self, outputs: Matrix, targets: Targets) -> Matrix:
        """Its derivative with respect to the logits."""
        codes = _class_codes(outputs, targets)
        # p_y (e_y - q), with q the probabilities among the other classes.
        direction = -softmax(_others(outputs, codes), axis=1)
        rows = np.arange(len(codes))
        direction[rows, codes] = 1.0
        certainty = softmax(outputs, axis=1)[rows, codes]
        return self.alpha * certainty[:, None] * direction


@dataclass(frozen=True)
class ProbabilityGain:
    """The cross-entropy gain as printed (equations 8 and 9), of outputs that are probabilities.

    Parameters
    ----------
    alpha : float, default=1.0
        Factor.
    epsilon : float, default=1e-3
        Probabilities are clipped to one minus this; the gradient passes.

    Examples
    --------
    >>> import numpy as np
    >>> gain = ProbabilityGain(epsilon=0.01)
    >>> gain.gradient(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([0, 0])).round(6)
    array([[  2.,   0.],
           [100.,   0.]])
    """

    alpha: float = 1.0
    epsilon: float = 1e-3

    def value(self, outputs: Matrix, targets: Targets) -> Vector:
        """The gain of each row."""
        return -self.alpha * np.log(self._doubt(outputs, _class_codes(outputs, targets)))

    def gradient(self, outputs: Matrix, targets: Targets) -> Matrix:
        """Its derivative with respect to the probabilities."""
        codes = _class_codes(outputs, targets)
        return _in_columns(self.alpha / self._doubt(outputs, codes), codes, outputs.shape[1])

    def _doubt(self, outputs: Matrix, codes: NDArray[np.int64]) -> Vector:
        return 1.0 - np.minimum(1.0 - self.epsilon, _of_class(outputs, codes))


@dataclass(frozen=True)
class HingeGain:
    """Of SVMs (equations 11 and 12): ``-log`` of how far the class is from its margin.

    Outputs are decisions, above 1 for a class that is certain and below -1 for one that is ruled
    out.

    Parameters
    ----------
    alpha : float, default=1.0
        Factor.
    epsilon : float, default=1e-3
        Decisions, brought from [-1, 1] to [0, 1], are clipped to one minus this; the gradient
        passes.

    Examples
    --------
    >>> import numpy as np
    >>> right, open, wrong = [-2.0, 2.0], [0.0, 0.0], [2.0, -2.0]
    >>> HingeGain().gradient(np.array([right, open, wrong]), np.array([1, 1, 1]))[:, 1].round()
    array([500.,   1.,   0.])
    """

    alpha: float = 1.0
    epsilon: float = 1e-3

    def value(self, outputs: Matrix, targets: Targets) -> Vector:
        """The gain of each row."""
        return -self.alpha * np.log(self._doubt(outputs, _class_codes(outputs, targets)))

    def gradient(self, outputs: Matrix, targets: Targets) -> Matrix:
        """Its derivative with respect to the decisions."""
        codes = _class_codes(outputs, targets)
        # The paper has no half, but no factor changes a ranking, and this is the derivative.
        slope = 0.5 * self.alpha / self._doubt(outputs, codes)
        return _in_columns(slope, codes, outputs.shape[1])

    def _doubt(self, outputs: Matrix, codes: NDArray[np.int64]) -> Vector:
        share = (np.clip(_of_class(outputs, codes), -1.0, 1.0) + 1.0) / 2.0
        return 1.0 - np.minimum(1.0 - self.epsilon, share)


@dataclass(frozen=True)
class SquaredHingeGain:
    """Of SVMs, smoother than :class:`HingeGain`: exactly nothing where a row is ruled out.

    The sum over the classes of ``relu(1 + f)^2`` for the row's own and ``relu(1 - f)^2`` for the
    others, decisions clipped to [-1, 1] and the gradient passing.

    Parameters
    ----------
    alpha : float, default=1.0
        Factor.

    Examples
    --------
    >>> import numpy as np
    >>> right, open, wrong = [-2.0, 2.0], [0.0, 0.0], [2.0, -2.0]
    >>> SquaredHingeGain().gradient(np.array([right, open, wrong]), np.array([1, 1, 1]))[:, 1]
    array([4., 2., 0.])
    """

    alpha: float = 1.0

    def value(self, outputs: Matrix, targets: Targets) -> Vector:
        """The gain of each row."""
        signs = self._signs(outputs, targets)
        return self.alpha * ((1.0 + signs * np.clip(outputs, -1.0, 1.0)) ** 2).sum(axis=1)

    def gradient(self, outputs: Matrix, targets: Targets) -> Matrix:
        """Its derivative with respect to the decisions."""
        signs = self._signs(outputs, targets)
        return self.alpha * 2.0 * signs * (1.0 + signs * np.clip(outputs, -1.0, 1.0))

    @staticmethod
    def _signs(outputs: Matrix, targets: Targets) -> Matrix:
        codes = _class_codes(outputs, targets)
        return _in_columns(np.full(len(codes), 2.0), codes, outputs.shape[1]) - 1.0


@dataclass(frozen=True)
class RegressionGain:
    """Of models that predict a number (equation 7): the inverse of the squared error.

    Parameters
    ----------
    alpha : float, default=1.0
        Factor.
    epsilon : float, default=1e-3
        Added to the squared error: errors below its root count alike.
    unit : float or None, default=None
        What errors are measured in. None is the standard deviation of the target where all of it
        is known, as to :class:`~allrelevant.SaliencySelector`, so that no ranking hangs on the unit
        of the target; elsewhere one.

    Examples
    --------
    >>> import numpy as np
    >>> RegressionGain(epsilon=1.0).value(np.array([[1.0], [3.0]]), np.array([1.0, 1.0])).tolist()
    [1.0, 0.2]
    """

    alpha: float = 1.0
    epsilon: float = 1e-3
    unit: float | None = None

    def value(self, outputs: Matrix, targets: Targets) -> Vector:
        """The gain of each row."""
        return self.alpha / (self._errors(outputs, targets) ** 2 + self.epsilon)

    def gradient(self, outputs: Matrix, targets: Targets) -> Matrix:
        """Its derivative with respect to the prediction."""
        errors = self._errors(outputs, targets)
        slope = -2.0 * self.alpha * errors / (errors**2 + self.epsilon) ** 2
        return slope[:, None] / (self.unit or 1.0)

    def _errors(self, outputs: Matrix, targets: Targets) -> Vector:
        return _errors(outputs, targets) / (self.unit or 1.0)


@dataclass(frozen=True)
class OutputGain:
    """The output itself, of the class or of the number (equation 4; Simonyan et al. 2014).

    To compare with: it does not tell right from wrong.

    Examples
    --------
    >>> import numpy as np
    >>> OutputGain().gradient(np.array([[0.3, 0.9, 0.1]]), np.array([2])).tolist()
    [[0.0, 0.0, 1.0]]
    """

    def value(self, outputs: Matrix, targets: Targets) -> Vector:
        """The output of each row."""
        return _of_class(outputs, self._columns(outputs, targets))

    def gradient(self, outputs: Matrix, targets: Targets) -> Matrix:
        """One in its column."""
        columns = self._columns(outputs, targets)
        return _in_columns(np.ones(len(columns)), columns, outputs.shape[1])

    @staticmethod
    def _columns(outputs: Matrix, targets: Targets) -> NDArray[np.int64]:
        if outputs.shape[1] == 1:  # a number, of which there is a single one
            return np.zeros(len(outputs), dtype=np.int64)
        return _class_codes(outputs, targets)


# The gains that need one output for each class.
OF_CLASSES = (CrossEntropyGain, ProbabilityGain, HingeGain, SquaredHingeGain)


def in_deviations_of(gain: Gain, targets: Targets) -> Gain:
    """The gain in units of the standard deviation of these targets, if it leaves its unit open."""
    if not isinstance(gain, RegressionGain) or gain.unit is not None:
        return gain
    return replace(gain, unit=float(np.std(targets)) or None)


def _class_codes(outputs: Matrix, targets: Targets) -> NDArray[np.int64]:
    """The targets as places among the outputs; a model that cannot have been meant is refused."""
    codes = np.asarray(targets).astype(np.int64)
    if (codes != targets).any() or (len(codes) and codes.min() < 0):
        raise InputError("Classes are given as their places, whole numbers from 0.")
    n_outputs = outputs.shape[1]
    if n_outputs < 2:
        raise InputError(
            f"The model has {n_outputs} output(s), and a gain of classes needs one for each class, "
            "two at least."
        )
    if len(codes) and codes.max() >= n_outputs:
        raise InputError(
            f"The model has {n_outputs} outputs, and there are {int(codes.max()) + 1} classes: it "
            "needs one output for each class."
        )
    return codes


def _errors(outputs: Matrix, targets: Targets) -> Vector:
    if outputs.shape[1] != 1:
        raise InputError(
            f"The model has {outputs.shape[1]} outputs, and to predict a number it needs one."
        )
    return outputs[:, 0] - targets


def _others(outputs: Matrix, codes: NDArray[np.int64]) -> Matrix:
    others = np.array(outputs, dtype=np.float64)
    others[np.arange(len(codes)), codes] = -np.inf
    return others


def _of_class(outputs: Matrix, codes: NDArray[np.int64]) -> Vector:
    return outputs[np.arange(len(codes)), codes]


def _in_columns(values: Vector, codes: NDArray[np.int64], n_outputs: int) -> Matrix:
    table = np.zeros((len(values), n_outputs))
    table[np.arange(len(values)), codes] = values
    return table
