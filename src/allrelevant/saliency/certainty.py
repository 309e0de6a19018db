"""How certain a classifier is of a class, as a number that can be pushed up without end."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, logsumexp, softmax

from ..arrays import Matrix, Vector
from ..exceptions import InputError
from .differentiable import DifferentiableModel
from .gains import CrossEntropyGain, ProbabilityGain

# Closer to 0 or 1 than this, a probability in single precision tells nothing.
_CLOSEST = 1e-7


class Certainty:
    """The log-odds of a class, and their gradient with respect to the inputs.

    With logits z they are ``z_y - logsumexp(z without y)``; unlike the probability, they go on
    growing, and their gradient does not fade, where the class is all but certain or ruled out.

    Parameters
    ----------
    model : DifferentiableModel
        A classifier whose outputs are logits or probabilities.
    """

    def __init__(self, model: DifferentiableModel) -> None:
        if not isinstance(model.gain, CrossEntropyGain | ProbabilityGain):
            raise InputError(
                f"Certainty needs a classifier with probabilities, and the outputs of this "
                f"{type(model).__name__} are none: use a network or logistic regression."
            )
        self.model = model
        self.from_logits = isinstance(model.gain, CrossEntropyGain)

    def log_odds(self, X: Matrix, classes: NDArray[np.int64]) -> Vector:
        """Log-odds of a class for each row."""
        return self._log_odds(self.model.outputs(X), classes)

    def climb(self, X: Matrix, classes: NDArray[np.int64]) -> tuple[Vector, Matrix]:
        """Log-odds of a class for each row, and their gradient with respect to the row."""
        outputs = self.model.outputs(X)
        return (
            self._log_odds(outputs, classes),
            self.model.pull_back(X, self._cotangent(outputs, classes)),
        )

    def probabilities(self, X: Matrix) -> Matrix:
        """Probability of each class for each row."""
        outputs = self.model.outputs(X)
        return softmax(outputs, axis=1) if self.from_logits else outputs

    def _log_odds(self, outputs: Matrix, classes: NDArray[np.int64]) -> Vector:
        own = outputs[np.arange(len(classes)), classes]
        if self.from_logits:
            return own - logsumexp(_without(outputs, classes), axis=1)
        return logit(np.clip(own, _CLOSEST, 1 - _CLOSEST))

    def _cotangent(self, outputs: Matrix, classes: NDArray[np.int64]) -> Matrix:
        rows = np.arange(len(classes))
        if self.from_logits:
            cotangent = -softmax(_without(outputs, classes), axis=1)
            cotangent[rows, classes] = 1.0
            return cotangent
        cotangent = np.zeros_like(outputs)
        own = expit(self._log_odds(outputs, classes))
        cotangent[rows, classes] = 1.0 / (own * (1.0 - own))
        return cotangent


def _without(outputs: Matrix, classes: NDArray[np.int64]) -> Matrix:
    others = np.array(outputs, dtype=np.float64)
    others[np.arange(len(classes)), classes] = -np.inf
    return others
