"""A network that predicts a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from ...arrays import Vector
from .estimator import NetworkEstimator

if TYPE_CHECKING:
    from torch import Tensor

    from ..torch_model import OutputKind
    from .training import RowsOfEpoch


class NetworkRegressor(RegressorMixin, NetworkEstimator):
    """A network of torch that predicts a number, as an estimator of scikit-learn.

    As :class:`NetworkClassifier`, with the mean squared error as the loss. The target may be in any
    unit: the network is trained towards mean 0 and spread 1, and its outputs are in that unit.

    Parameters
    ----------
    network : {"mlp", "cnn", "wrn-16-4"}, nn.Module or callable, default="mlp"
        As of :class:`NetworkClassifier`, with a single output.
    image_shape, max_epochs, batch_size, learning_rate, annealing, l2, l1, mask_penalty
        See :class:`NetworkClassifier`.
    mask_l1_ratio, input_noise, early_stopping, validation_fraction, n_iter_no_change, tol
        See :class:`NetworkClassifier`.
    n_threads, device
        See :class:`NetworkClassifier`.
    random_state : int, RandomState instance or None, default=None
    verbose : int, default=0

    Attributes
    ----------
    module_, model_, loss_curve_, validation_curve_, n_iter_, mask_, mask_steps_
        See :class:`NetworkClassifier`. Losses are of the target with spread 1.

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant import NetworkRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = 1000 + 50 * X[:, 0]
    >>> net = NetworkRegressor(max_epochs=40, random_state=0).fit(X, y)
    >>> net.score(X, y) > 0.95
    True
    """

    def __init__(
        self,
        network: Any = "mlp",
        *,
        image_shape: tuple[int, ...] | None = None,
        max_epochs: int = 100,
        batch_size: int = 100,
        learning_rate: float = 1e-3,
        annealing: bool = False,
        l2: float = 1e-3,
        l1: float = 0.0,
        mask_penalty: float | None = None,
        mask_l1_ratio: float = 1.0,
        input_noise: float = 0.0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-4,
        n_threads: int | None = None,
        device: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.network = network
        self.image_shape = image_shape
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.annealing = annealing
        self.l2 = l2
        self.l1 = l1
        self.mask_penalty = mask_penalty
        self.mask_l1_ratio = mask_l1_ratio
        self.input_noise = input_noise
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.n_threads = n_threads
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Train.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            A sparse one is made dense a mini-batch at a time.
        y : array-like of shape (n,)

        Returns
        -------
        NetworkRegressor
        """
        X, y = self._checked(X, y)
        from .assembly import TargetScale

        y = np.asarray(y, dtype=np.float64)
        varies = y.min() < y.max()  # rounding gives even equal numbers a deviation
        mean, spread = float(y.mean()), float(y.std() if varies else 0.0) or 1.0
        standard = ((y - mean) / spread).astype(np.float32)
        return self._train(X, standard, 1, TargetScale(mean, spread))

    def predict(self, X: Any) -> Vector:
        """The number of each row."""
        return self._outputs(X)[:, 0]

    @property
    def _kind(self) -> OutputKind:
        return "numbers"

    @property
    def _loss(self) -> Callable[[Tensor, Tensor], Tensor]:
        return _squared_error

    def _rows(self, targets: Tensor) -> RowsOfEpoch:
        from .balance import EveryRow

        return EveryRow(len(targets))


def _squared_error(outputs: Tensor, targets: Tensor) -> Tensor:
    return (outputs[:, 0] - targets).square().mean()
