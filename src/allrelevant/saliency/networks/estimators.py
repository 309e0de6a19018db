"""`NetworkClassifier` and `NetworkRegressor`: networks of torch as estimators of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets

from ..._typing import Matrix, Vector
from ..._validation import encode_classes
from ._base import NetworkEstimator

if TYPE_CHECKING:
    from torch import Tensor

    from ..backends.torch_modules import OutputKind


class NetworkClassifier(ClassifierMixin, NetworkEstimator):
    """A network of torch that predicts classes, as an estimator of scikit-learn.

    The networks by name are those of Cancela et al. (2020), trained as there: Adam, cross-entropy,
    classes balanced by repeating rows. Features are used as they are: scale them.

    Parameters
    ----------
    network : {"mlp", "cnn", "wrn-16-4"}, nn.Module or callable, default="mlp"
        ``"mlp"``: 150, 100 and 50 units; ``"cnn"``: two 3 x 3 convolutions of 16 and 32 channels,
        each pooled by 2, and 1,024 units; ``"wrn-16-4"``: the wide residual network. All with batch
        normalization and ReLU. A module is copied, and its copy starts from new weights. A function
        returns a module, given the numbers of inputs and outputs, or one of fixed width without
        arguments; the outputs are logits.
    image_shape : tuple of int or None, default=None
        (height, width) or (height, width, channels) of rows that are images, the channels of a
        pixel side by side; None is a square of one channel. For ``"cnn"`` and ``"wrn-16-4"``.
    max_epochs : int, default=100
    batch_size : int, default=100
    learning_rate : float, default=1e-3
    annealing : bool, default=False
        Whether the learning rate falls along half a cosine, to zero after the last epoch. With few
        epochs, the network converges and is more accurate.
    l2 : float, default=1e-3
        Factor of the squared weights in the loss, without biases and normalization.
    l1 : float, default=0.0
        Factor of the absolute weights in the loss.
    mask_penalty : float or None, default=None
        With a number, every input has a weight in front of the network, and this is the factor of
        their elastic net in the loss; see :class:`DeepFeatureSelection`.
    mask_l1_ratio : float, default=1.0
        Share of the absolute values in that elastic net; the rest goes to half the squares.
    input_noise : float, default=0.0
        Standard deviation of normal noise that is added to the inputs while training, drawn anew
        each time; inputs that do not vary have none. It makes a network more robust.
    balanced : bool, default=True
        Whether rows of rarer classes are repeated in each epoch, so that all are equally frequent.
    early_stopping : bool, default=False
        Whether rows are held back, and training ends when their loss does not fall any more; the
        weights are then those of the best epoch.
    validation_fraction : float, default=0.1
        Share of the rows that is held back for it.
    n_iter_no_change : int, default=10
        Number of epochs without progress after which training ends.
    tol : float, default=1e-4
        Progress is a decrease of the loss by more than this.
    n_threads : int or None, default=None
        Threads that torch may use. None is one for a network of less than a million weights, where
        more would be slower, and the number that torch is set to for others. Results repeat to the
        last digit with the same number.
    device : str, torch.device or None, default=None
        Where to compute; None is a GPU if there is one.
    random_state : int, RandomState instance or None, default=None
    verbose : int, default=0
        Whether a progress bar counts the epochs.

    Attributes
    ----------
    classes_ : ndarray
    module_ : nn.Module
        The trained network, on the CPU.
    model_ : TorchModel
        The same, as a differentiable model.
    loss_curve_ : list of float
        Mean loss of each epoch, without penalties.
    validation_curve_ : list of float
        Loss of the rows held back after each epoch, if there are any.
    n_iter_ : int
        Number of epochs.
    mask_ : ndarray of shape (d,)
        Weights of the inputs, if there is a mask; those that do not matter are exactly zero.
    mask_steps_ : ndarray of shape (d,)
        For how many steps each of them was not zero.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from allrelevant import NetworkClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> net = make_pipeline(StandardScaler(), NetworkClassifier(max_epochs=20, random_state=0))
    >>> net.fit(X, y).score(X, y) > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **NetworkEstimator._parameter_constraints,
        "balanced": ["boolean"],
    }
    _output_kind: ClassVar[OutputKind] = "logits"

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
        balanced: bool = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-4,
        n_threads: int | None = None,
        device: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            network,
            image_shape=image_shape,
            max_epochs=max_epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            annealing=annealing,
            l2=l2,
            l1=l1,
            mask_penalty=mask_penalty,
            mask_l1_ratio=mask_l1_ratio,
            input_noise=input_noise,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            tol=tol,
            n_threads=n_threads,
            device=device,
            random_state=random_state,
            verbose=verbose,
        )
        self.balanced = balanced

    def fit(self, X: Any, y: Any) -> Self:
        """Train.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            A sparse one is made dense a mini-batch at a time.
        y : array-like of shape (n,)

        Returns
        -------
        NetworkClassifier
        """
        X, y = self._validated(X, y)
        check_classification_targets(y)
        self.classes_, codes = encode_classes(y)
        return self._train(X, codes.astype(np.int64), len(self.classes_))

    def predict_proba(self, X: Any) -> Matrix:
        """Probability of each class; shape (n, number of classes)."""
        return softmax(self._outputs(X), axis=1)

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of each row."""
        likeliest = self._outputs(X).argmax(axis=1)
        return self.classes_[likeliest]

    @property
    def _loss(self) -> Callable[[Tensor, Tensor], Tensor]:
        from torch.nn.functional import cross_entropy

        return cross_entropy

    def _sampler(self, targets: Tensor) -> Callable[[], Tensor]:
        from .training import BalancedRows

        return BalancedRows(targets.cpu()) if self.balanced else super()._sampler(targets)

    def _strata(self, targets: NDArray[Any]) -> NDArray[Any]:
        return targets


class NetworkRegressor(RegressorMixin, NetworkEstimator):
    """A network of torch that predicts a number, as an estimator of scikit-learn.

    As :class:`NetworkClassifier`, with the mean squared error as the loss. The target may have any
    unit: the network is trained on a target of mean 0 and standard deviation 1, and its outputs are
    in the unit of the target.

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
        See :class:`NetworkClassifier`. Losses are those of the scaled target.

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

    _output_kind: ClassVar[OutputKind] = "numbers"

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
        X, y = self._validated(X, y)
        from .architectures import TargetScale

        y = np.asarray(y, dtype=np.float64)
        varies = y.min() < y.max()  # rounding gives even equal numbers a deviation
        mean, spread = float(y.mean()), float(y.std() if varies else 0.0) or 1.0
        scaled = ((y - mean) / spread).astype(np.float32)
        return self._train(X, scaled, 1, TargetScale(mean, spread))

    def predict(self, X: Any) -> Vector:
        """The number of each row."""
        return self._outputs(X)[:, 0]

    @property
    def _loss(self) -> Callable[[Tensor, Tensor], Tensor]:
        return _squared_error


def _squared_error(outputs: Tensor, targets: Tensor) -> Tensor:
    return (outputs[:, 0] - targets).square().mean()
