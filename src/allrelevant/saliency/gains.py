"""Gain functions: large if a prediction is correct, close to zero if it is wrong.

The saliency of a row is the gradient of a gain function with respect to the inputs (Cancela et al.
2020, equation 5). A gain function depends only on the outputs of a model and on the targets. It
returns the derivative with respect to the outputs, which the model propagates to its inputs. Gain
functions of probabilistic classifiers also compute the log-odds of a class.

If the paper clips a value, the clipping is straight-through: the gradient ignores it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, logsumexp, softmax

from .._typing import Matrix, Vector
from ..exceptions import InputError

# Class codes or numeric targets, shape (n,).
Targets = NDArray[Any]
Codes = NDArray[np.int64]

# Probabilities closer to 0 or 1 than this are not meaningful in single precision.
MIN_PROBABILITY = 1e-7


class Gain(Protocol):
    """Interface of gain functions, which measure how correct the outputs of a model are.

    Attributes
    ----------
    of_classes : bool or None
        True if the gain requires one output per class, False if it requires a single numeric
        output. None, the default, accepts both.
    """

    of_classes: ClassVar[bool | None] = None

    def value(self, outputs: Matrix, targets: Targets) -> Vector:
        """Return the gain of each row.

        Parameters
        ----------
        outputs : ndarray of shape (n, k)
            One column per class, or a single column for regression.
        targets : ndarray of shape (n,)
            Class codes, or numeric targets.

        Returns
        -------
        ndarray of shape (n,)
        """

    def gradient(self, outputs: Matrix, targets: Targets) -> Matrix:
        """Return the derivative of the gain with respect to the outputs; shape (n, k)."""


@dataclass(frozen=True)
class CrossEntropyGain(Gain):
    """Cross-entropy gain for logits: ``-log(1 - p)`` if the target has probability p.

    This is equation 8 of Cancela et al. (2020). It is computed from logits, as ``logsumexp(z) -
    logsumexp(z without the class)``. Unlike the gradient of the printed equation, its gradient does
    not vanish when p approaches 1.

    Parameters
    ----------
    alpha : float, default=1.0
        Scale factor of the gain.
    epsilon : float, default=1e-3
        Distance from 1 at which the probability is clipped. The gradient ignores the clipping.

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
        """Return the gain of each row."""
        codes = _class_codes(outputs, targets)
        gains = logsumexp(outputs, axis=1) - logsumexp(_other_logits(outputs, codes), axis=1)
        return self.alpha * np.minimum(gains, -np.log(self.epsilon))

    def gradient(self, outputs: Matrix, targets: Targets) -> Matrix:
        """Return the derivative of the gain with respect to the logits."""
        codes = _class_codes(outputs, targets)
        probability = softmax(outputs, axis=1)[np.arange(len(codes)), codes]
        return self.alpha * probability[:, None] * self.log_odds_gradient(outputs, codes)

    def probabilities(self, outputs: Matrix) -> Matrix:
        """Return the probability of each class."""
        return softmax(outputs, axis=1)

    def log_odds(self, outputs: Matrix, codes: Codes) -> Vector:
        """Return the log-odds of one class per row, ``z_y - logsumexp(z without y)``."""
        return _select(outputs, codes) - logsumexp(_other_logits(outputs, codes), axis=1)

    def log_odds_gradient(self, outputs: Matrix, codes: Codes) -> Matrix:
        """Return the derivative of the log-odds with respect to the logits.

        It is 1 for the class itself. For the other classes, it is minus the softmax over them.
        """
        gradient = -softmax(_other_logits(outputs, codes), axis=1)
        gradient[np.arange(len(codes)), codes] = 1.0
        return gradient


@dataclass(frozen=True)
class ProbabilityGain(Gain):
    """Cross-entropy gain for probabilities (Cancela et al. 2020, equations 8 and 9).

    Parameters
    ----------
    alpha : float, default=1.0
        Scale factor of the gain.
    epsilon : float, default=1e-3
        Distance from 1 at which probabilities are clipped. The gradient ignores the clipping.

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
        """Return the gain of each row."""
        return -self.alpha * np.log(self._complement(outputs, _class_codes(outputs, targets)))

    def gradient(self, outputs: Matrix, targets: Targets) -> Matrix:
        """Return the derivative of the gain with respect to the probabilities."""
        codes = _class_codes(outputs, targets)
        return _in_columns(self.alpha / self._complement(outputs, codes), codes, outputs.shape[1])

    def probabilities(self, outputs: Matrix) -> Matrix:
        """Return the probability of each class."""
        return outputs

    def log_odds(self, outputs: Matrix, codes: Codes) -> Vector:
        """Return the log-odds of one class per row."""
        return logit(np.clip(_select(outputs, codes), MIN_PROBABILITY, 1 - MIN_PROBABILITY))

    def log_odds_gradient(self, outputs: Matrix, codes: Codes) -> Matrix:
        """Return the derivative of the log-odds with respect to the probabilities."""
        probability = expit(self.log_odds(outputs, codes))
        gradient = np.zeros_like(outputs)
        gradient[np.arange(len(codes)), codes] = 1.0 / (probability * (1.0 - probability))
        return gradient

    def _complement(self, outputs: Matrix, codes: Codes) -> Vector:
        return 1.0 - np.minimum(1.0 - self.epsilon, _select(outputs, codes))


@dataclass(frozen=True)
class HingeGain(Gain):
    """Hinge gain for SVMs: negative logarithm of the distance to the margin.

    This is defined by equations 11 and 12 of Cancela et al. (2020). Outputs are decision values. A
    value of 1 or more means that a row is beyond the margin on the side of the class, and -1 or
    less that it is beyond the margin on the other side.

    Parameters
    ----------
    alpha : float, default=1.0
        Scale factor of the gain.
    epsilon : float, default=1e-3
        Distance from 1 at which decision values, mapped from [-1, 1] to [0, 1], are clipped. The
        gradient ignores the clipping.

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
        """Return the gain of each row."""
        return -self.alpha * np.log(self._complement(outputs, _class_codes(outputs, targets)))

    def gradient(self, outputs: Matrix, targets: Targets) -> Matrix:
        """Return the derivative of the gain with respect to the decision values."""
        codes = _class_codes(outputs, targets)
        # The paper omits the factor 0.5. It makes this the exact derivative; rankings are the same.
        slope = 0.5 * self.alpha / self._complement(outputs, codes)
        return _in_columns(slope, codes, outputs.shape[1])

    def _complement(self, outputs: Matrix, codes: Codes) -> Vector:
        scaled = (np.clip(_select(outputs, codes), -1.0, 1.0) + 1.0) / 2.0
        return 1.0 - np.minimum(1.0 - self.epsilon, scaled)


@dataclass(frozen=True)
class SquaredHingeGain(Gain):
    """Squared hinge gain for SVMs, a smoother alternative to :class:`HingeGain`.

    The gain is the sum of ``relu(1 + f)^2`` for the class of the row and ``relu(1 - f)^2`` for each
    other class. It is exactly zero if every decision value has the wrong sign and is beyond the
    margin. Decision values f are clipped to [-1, 1]; the gradient ignores the clipping.

    Parameters
    ----------
    alpha : float, default=1.0
        Scale factor of the gain.

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
        """Return the gain of each row."""
        signs = self._signs(outputs, targets)
        return self.alpha * ((1.0 + signs * np.clip(outputs, -1.0, 1.0)) ** 2).sum(axis=1)

    def gradient(self, outputs: Matrix, targets: Targets) -> Matrix:
        """Return the derivative of the gain with respect to the decision values."""
        signs = self._signs(outputs, targets)
        return self.alpha * 2.0 * signs * (1.0 + signs * np.clip(outputs, -1.0, 1.0))

    @staticmethod
    def _signs(outputs: Matrix, targets: Targets) -> Matrix:
        codes = _class_codes(outputs, targets)
        return _in_columns(np.full(len(codes), 2.0), codes, outputs.shape[1]) - 1.0


@dataclass(frozen=True)
class RegressionGain(Gain):
    """Gain for regressors: inverse of the squared error (Cancela et al. 2020, equation 7).

    Parameters
    ----------
    alpha : float, default=1.0
        Scale factor of the gain.
    epsilon : float, default=1e-3
        Value added to the squared error. Errors below its square root have nearly the same gain.
    unit : float or None, default=None
        Unit of the errors. With None, :class:`~allrelevant.SaliencySelector` uses the standard
        deviation of the target, so that rankings do not depend on the unit of the target. Other
        functions use a unit of 1.

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
        """Return the gain of each row."""
        return self.alpha / (self._errors(outputs, targets) ** 2 + self.epsilon)

    def gradient(self, outputs: Matrix, targets: Targets) -> Matrix:
        """Return the derivative of the gain with respect to the prediction."""
        errors = self._errors(outputs, targets)
        slope = -2.0 * self.alpha * errors / (errors**2 + self.epsilon) ** 2
        return slope[:, None] / (self.unit or 1.0)

    def with_unit_from(self, targets: Targets, weight: Vector | None = None) -> RegressionGain:
        """Return the gain, scaled by the standard deviation of the targets if it has no unit."""
        if self.unit is not None:
            return self
        if weight is None:
            return replace(self, unit=float(np.std(targets)) or None)
        mean = np.average(targets, weights=weight)
        variance = float(np.average((targets - mean) ** 2, weights=weight))
        return replace(self, unit=variance**0.5 or None)

    def _errors(self, outputs: Matrix, targets: Targets) -> Vector:
        if outputs.shape[1] != 1:
            raise InputError(
                f"The model has {outputs.shape[1]} outputs, but a regressor must have exactly one. "
                "Use a model with a single output."
            )
        return (outputs[:, 0] - targets) / (self.unit or 1.0)


@dataclass(frozen=True)
class OutputGain(Gain):
    """Gain equal to the output for the target class, or to a numeric prediction.

    This gain (Simonyan et al. 2014; Cancela et al. 2020, equation 4) is meant for comparisons. It
    does not distinguish correct from wrong predictions.

    Examples
    --------
    >>> import numpy as np
    >>> OutputGain().gradient(np.array([[0.3, 0.9, 0.1]]), np.array([2])).tolist()
    [[0.0, 0.0, 1.0]]
    """

    def value(self, outputs: Matrix, targets: Targets) -> Vector:
        """Return the output for the target class of each row, or the numeric prediction."""
        return _select(outputs, self._columns(outputs, targets))

    def gradient(self, outputs: Matrix, targets: Targets) -> Matrix:
        """Return 1 for the output that :meth:`value` returns and 0 for all others; shape (n, k)."""
        columns = self._columns(outputs, targets)
        return _in_columns(np.ones(len(columns)), columns, outputs.shape[1])

    @staticmethod
    def _columns(outputs: Matrix, targets: Targets) -> Codes:
        if outputs.shape[1] == 1:  # regression
            return np.zeros(len(outputs), dtype=np.int64)
        return _class_codes(outputs, targets)


def _class_codes(outputs: Matrix, targets: Targets) -> Codes:
    """Return the targets as integer class codes; raise if they do not match the outputs."""
    codes = np.asarray(targets).astype(np.int64)
    invalid = np.asarray(targets)[(codes != targets) | (codes < 0)]
    if len(invalid):
        raise InputError(
            f"Targets must be class codes, that is, nonnegative integers (got {invalid[0]})."
        )
    n_outputs = outputs.shape[1]
    if n_outputs < 2:
        raise InputError(
            f"A classification gain requires at least two outputs (got {n_outputs}). Use a model "
            "with one output per class."
        )
    if len(codes) and codes.max() >= n_outputs:
        raise InputError(
            f"The model has {n_outputs} outputs, but there are {int(codes.max()) + 1} classes. "
            "Use a model with one output per class."
        )
    return codes


def _other_logits(outputs: Matrix, codes: Codes) -> Matrix:
    """Return the logits, with the target class of each row set to minus infinity."""
    others = np.array(outputs, dtype=np.float64)
    others[np.arange(len(codes)), codes] = -np.inf
    return others


def _select(outputs: Matrix, codes: Codes) -> Vector:
    """Return the output for the target class of each row."""
    return outputs[np.arange(len(codes)), codes]


def _in_columns(values: Vector, codes: Codes, n_outputs: int) -> Matrix:
    """Return a matrix of zeros, except for each row's value in the column of its class."""
    table = np.zeros((len(values), n_outputs))
    table[np.arange(len(values)), codes] = values
    return table
