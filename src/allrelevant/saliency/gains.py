"""Gains: high where a prediction is right, close to zero where it is wrong.

The saliency of a row is the gradient of a gain with respect to the inputs (Cancela et al. 2020,
equation 5). A gain knows the outputs of a model and the targets, nothing of the model: the model
takes the derivative of the gain with respect to its outputs and returns that with respect to its
inputs. Gains of classifiers with probabilities also know the log-odds of a class.

Where the paper clips a value, the gradient passes as if nothing was clipped ("straight through").
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, logsumexp, softmax

from .._typing import Matrix, Vector
from ..exceptions import InputError

# Codes of classes, shape (n,), or numbers to predict, shape (n,).
Targets = NDArray[Any]
Codes = NDArray[np.int64]

# Closer to 0 or 1 than this, a probability in single precision carries no information.
MIN_PROBABILITY = 1e-7


class Gain(Protocol):
    """How right the outputs of a model are.

    Attributes
    ----------
    of_classes : bool or None
        Whether the gain needs one output for each class (True) or a single number (False). None,
        the default, leaves it open.
    """

    of_classes: ClassVar[bool | None] = None

    def value(self, outputs: Matrix, targets: Targets) -> Vector:
        """Gain of each row.

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

    def gradient(self, outputs: Matrix, targets: Targets) -> Matrix:
        """Its derivative with respect to the outputs; shape (n, k)."""


@dataclass(frozen=True)
class CrossEntropyGain(Gain):
    """Gain of classifiers trained by cross-entropy (equation 8): ``-log(1 - p)`` of the class.

    Computed from logits, as ``logsumexp(z) - logsumexp(z without the class)``: its gradient does
    not vanish where the class is all but certain, as that of the printed form does.

    Parameters
    ----------
    alpha : float, default=1.0
        Factor.
    epsilon : float, default=1e-3
        The value is that of a probability of at most one minus this; the gradient passes.

    Examples
    --------
    >>> import numpy as np
    >>> gain = CrossEntropyGain()
    >>> sure, unsure, wrong = np.array([[40.0, 0.0]]), np.zeros((1, 2)), np.array([[0.0, 40.0]])
    >>> [round(float(gain.gradient(z, np.array([0]))[0, 0]), 3) for z in (sure, unsure, wrong)]
    [1.0, 0.5, 0.0]
    """

    of_classes: ClassVar[bool | None] = True

    alpha: float = 1.0
    epsilon: float = 1e-3

    def value(self, outputs: Matrix, targets: Targets) -> Vector:
        """Gain of each row."""
        codes = _class_codes(outputs, targets)
        gains = logsumexp(outputs, axis=1) - logsumexp(_other_logits(outputs, codes), axis=1)
        return self.alpha * np.minimum(gains, -np.log(self.epsilon))

    def gradient(self, outputs: Matrix, targets: Targets) -> Matrix:
        """Its derivative with respect to the logits."""
        codes = _class_codes(outputs, targets)
        probability = softmax(outputs, axis=1)[np.arange(len(codes)), codes]
        return self.alpha * probability[:, None] * self.log_odds_gradient(outputs, codes)

    def probabilities(self, outputs: Matrix) -> Matrix:
        """Probability of each class."""
        return softmax(outputs, axis=1)

    def log_odds(self, outputs: Matrix, codes: Codes) -> Vector:
        """Log-odds of a class for each row, ``z_y - logsumexp(z without y)``."""
        return _select(outputs, codes) - logsumexp(_other_logits(outputs, codes), axis=1)

    def log_odds_gradient(self, outputs: Matrix, codes: Codes) -> Matrix:
        """Their derivative: 1 for the class, minus the probabilities among the other classes."""
        gradient = -softmax(_other_logits(outputs, codes), axis=1)
        gradient[np.arange(len(codes)), codes] = 1.0
        return gradient


@dataclass(frozen=True)
class ProbabilityGain(Gain):
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

    of_classes: ClassVar[bool | None] = True

    alpha: float = 1.0
    epsilon: float = 1e-3

    def value(self, outputs: Matrix, targets: Targets) -> Vector:
        """Gain of each row."""
        return -self.alpha * np.log(self._complement(outputs, _class_codes(outputs, targets)))

    def gradient(self, outputs: Matrix, targets: Targets) -> Matrix:
        """Its derivative with respect to the probabilities."""
        codes = _class_codes(outputs, targets)
        return _in_columns(self.alpha / self._complement(outputs, codes), codes, outputs.shape[1])

    def probabilities(self, outputs: Matrix) -> Matrix:
        """Probability of each class."""
        return outputs

    def log_odds(self, outputs: Matrix, codes: Codes) -> Vector:
        """Log-odds of a class for each row."""
        return logit(np.clip(_select(outputs, codes), MIN_PROBABILITY, 1 - MIN_PROBABILITY))

    def log_odds_gradient(self, outputs: Matrix, codes: Codes) -> Matrix:
        """Their derivative with respect to the probabilities."""
        probability = expit(self.log_odds(outputs, codes))
        gradient = np.zeros_like(outputs)
        gradient[np.arange(len(codes)), codes] = 1.0 / (probability * (1.0 - probability))
        return gradient

    def _complement(self, outputs: Matrix, codes: Codes) -> Vector:
        return 1.0 - np.minimum(1.0 - self.epsilon, _select(outputs, codes))


@dataclass(frozen=True)
class HingeGain(Gain):
    """Gain of SVMs (equations 11 and 12): ``-log`` of how far the class is from its margin.

    Outputs are decision values, above 1 for a class that is certain and below -1 for one that is
    ruled out.

    Parameters
    ----------
    alpha : float, default=1.0
        Factor.
    epsilon : float, default=1e-3
        Decision values, mapped from [-1, 1] to [0, 1], are clipped to one minus this; the gradient
        passes.

    Examples
    --------
    >>> import numpy as np
    >>> right, undecided, wrong = [-2.0, 2.0], [0.0, 0.0], [2.0, -2.0]
    >>> HingeGain().gradient(np.array([right, undecided, wrong]), np.array([1, 1, 1]))[:, 1].round()
    array([500.,   1.,   0.])
    """

    of_classes: ClassVar[bool | None] = True

    alpha: float = 1.0
    epsilon: float = 1e-3

    def value(self, outputs: Matrix, targets: Targets) -> Vector:
        """Gain of each row."""
        return -self.alpha * np.log(self._complement(outputs, _class_codes(outputs, targets)))

    def gradient(self, outputs: Matrix, targets: Targets) -> Matrix:
        """Its derivative with respect to the decision values."""
        codes = _class_codes(outputs, targets)
        # The paper has no half, but no factor changes a ranking, and this is the derivative.
        slope = 0.5 * self.alpha / self._complement(outputs, codes)
        return _in_columns(slope, codes, outputs.shape[1])

    def _complement(self, outputs: Matrix, codes: Codes) -> Vector:
        share = (np.clip(_select(outputs, codes), -1.0, 1.0) + 1.0) / 2.0
        return 1.0 - np.minimum(1.0 - self.epsilon, share)


@dataclass(frozen=True)
class SquaredHingeGain(Gain):
    """Gain of SVMs, smoother than :class:`HingeGain`: exactly zero where a class is ruled out.

    The sum over the classes of ``relu(1 + f)^2`` for the class of the row and ``relu(1 - f)^2`` for
    the others. Decision values f are clipped to [-1, 1]; the gradient passes.

    Parameters
    ----------
    alpha : float, default=1.0
        Factor.

    Examples
    --------
    >>> import numpy as np
    >>> right, undecided, wrong = [-2.0, 2.0], [0.0, 0.0], [2.0, -2.0]
    >>> outputs = np.array([right, undecided, wrong])
    >>> SquaredHingeGain().gradient(outputs, np.array([1, 1, 1]))[:, 1]
    array([4., 2., 0.])
    """

    of_classes: ClassVar[bool | None] = True

    alpha: float = 1.0

    def value(self, outputs: Matrix, targets: Targets) -> Vector:
        """Gain of each row."""
        signs = self._signs(outputs, targets)
        return self.alpha * ((1.0 + signs * np.clip(outputs, -1.0, 1.0)) ** 2).sum(axis=1)

    def gradient(self, outputs: Matrix, targets: Targets) -> Matrix:
        """Its derivative with respect to the decision values."""
        signs = self._signs(outputs, targets)
        return self.alpha * 2.0 * signs * (1.0 + signs * np.clip(outputs, -1.0, 1.0))

    @staticmethod
    def _signs(outputs: Matrix, targets: Targets) -> Matrix:
        codes = _class_codes(outputs, targets)
        return _in_columns(np.full(len(codes), 2.0), codes, outputs.shape[1]) - 1.0


@dataclass(frozen=True)
class RegressionGain(Gain):
    """Gain of models that predict a number (equation 7): the inverse of the squared error.

    Parameters
    ----------
    alpha : float, default=1.0
        Factor.
    epsilon : float, default=1e-3
        Added to the squared error: errors below its root count alike.
    unit : float or None, default=None
        Unit of the errors. None is the standard deviation of the target where all of the target is
        known, as in :class:`~allrelevant.SaliencySelector`, so that no ranking depends on the unit
        of the target; elsewhere it is one.

    Examples
    --------
    >>> import numpy as np
    >>> RegressionGain(epsilon=1.0).value(np.array([[1.0], [3.0]]), np.array([1.0, 1.0])).tolist()
    [1.0, 0.2]
    """

    of_classes: ClassVar[bool | None] = False

    alpha: float = 1.0
    epsilon: float = 1e-3
    unit: float | None = None

    def value(self, outputs: Matrix, targets: Targets) -> Vector:
        """Gain of each row."""
        return self.alpha / (self._errors(outputs, targets) ** 2 + self.epsilon)

    def gradient(self, outputs: Matrix, targets: Targets) -> Matrix:
        """Its derivative with respect to the prediction."""
        errors = self._errors(outputs, targets)
        slope = -2.0 * self.alpha * errors / (errors**2 + self.epsilon) ** 2
        return slope[:, None] / (self.unit or 1.0)

    def with_unit_from(self, targets: Targets) -> RegressionGain:
        """The same gain; a unit that is None becomes the standard deviation of the targets."""
        return self if self.unit is not None else replace(self, unit=float(np.std(targets)) or None)

    def _errors(self, outputs: Matrix, targets: Targets) -> Vector:
        if outputs.shape[1] != 1:
            raise InputError(
                f"The model has {outputs.shape[1]} outputs, and to predict a number it needs one."
            )
        return (outputs[:, 0] - targets) / (self.unit or 1.0)


@dataclass(frozen=True)
class OutputGain(Gain):
    """The output itself, of the class or of the number (equation 4; Simonyan et al. 2014).

    For comparisons: it does not distinguish right from wrong predictions.

    Examples
    --------
    >>> import numpy as np
    >>> OutputGain().gradient(np.array([[0.3, 0.9, 0.1]]), np.array([2])).tolist()
    [[0.0, 0.0, 1.0]]
    """

    def value(self, outputs: Matrix, targets: Targets) -> Vector:
        """The output of each row."""
        return _select(outputs, self._columns(outputs, targets))

    def gradient(self, outputs: Matrix, targets: Targets) -> Matrix:
        """One in its column."""
        columns = self._columns(outputs, targets)
        return _in_columns(np.ones(len(columns)), columns, outputs.shape[1])

    @staticmethod
    def _columns(outputs: Matrix, targets: Targets) -> Codes:
        if outputs.shape[1] == 1:  # a number
            return np.zeros(len(outputs), dtype=np.int64)
        return _class_codes(outputs, targets)


def _class_codes(outputs: Matrix, targets: Targets) -> Codes:
    """The targets as indices of outputs; a model that cannot have been meant is refused."""
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


def _other_logits(outputs: Matrix, codes: Codes) -> Matrix:
    """The logits with minus infinity for the class of each row."""
    others = np.array(outputs, dtype=np.float64)
    others[np.arange(len(codes)), codes] = -np.inf
    return others


def _select(outputs: Matrix, codes: Codes) -> Vector:
    """The output of one class for each row."""
    return outputs[np.arange(len(codes)), codes]


def _in_columns(values: Vector, codes: Codes, n_outputs: int) -> Matrix:
    """Zeros, but for one value in each row."""
    table = np.zeros((len(values), n_outputs))
    table[np.arange(len(values)), codes] = values
    return table
