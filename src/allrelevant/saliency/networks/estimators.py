"""`NetworkClassifier` and `NetworkRegressor`: PyTorch networks with the scikit-learn API."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import ClassifierMixin, RegressorMixin

from ..._typing import Matrix, Vector
from ..._validation import check_labels, encode_classes
from ._base import NetworkEstimator

if TYPE_CHECKING:
    from torch import Tensor

    from ..backends.torch_modules import OutputKind


class NetworkClassifier(ClassifierMixin, NetworkEstimator):
    """PyTorch classifier with the scikit-learn API.

    The predefined networks and their training follow Cancela et al. (2020): the optimizer is Adam,
    the loss is the cross-entropy, and rows of rare classes are repeated to balance the classes.
    Features are not scaled, so standardize them first.

    Parameters
    ----------
    network : {"mlp", "cnn", "wrn-16-4"}, nn.Module or callable, default="mlp"
        Network to train.

        - ``"mlp"``: hidden layers of 150, 100 and 50 units.
        - ``"cnn"``: two 3 x 3 convolutions of 16 and 32 channels, each followed by 2 x 2 pooling,
          and a hidden layer of 1,024 units.
        - ``"wrn-16-4"``: wide residual network of depth 16 and widening factor 4.
        - A module: it is copied, and the weights of the copy are reinitialized.
        - A function that returns a module: it takes the numbers of inputs and outputs, or no
          arguments if the number of inputs is fixed.

        All predefined networks use batch normalization and ReLU. Outputs are logits.
    image_shape : tuple of int or None, default=None
        (height, width) or (height, width, channels) for ``"cnn"`` and ``"wrn-16-4"``. The channels
        of a pixel are in adjacent columns. None means a square image with one channel.
    max_epochs : int, default=100
    batch_size : int, default=100
    learning_rate : float, default=1e-3
    annealing : bool, default=False
        Whether to decrease the learning rate to zero over the epochs, along half a cosine. With few
        epochs, this improves convergence and accuracy.
    l2 : float, default=1e-3
        Factor of the squared weights in the loss. Biases and batch normalization are excluded.
    l1 : float, default=0.0
        Factor of the absolute weights in the loss.
    mask_penalty : float or None, default=None
        Factor of the elastic-net penalty on an input mask, which multiplies each input by a weight.
        None means no mask. See :class:`DeepFeatureSelection`.
    mask_l1_ratio : float, default=1.0
        Fraction of the l1 term in the elastic-net penalty of the mask.
    input_noise : float, default=0.0
        Standard deviation of Gaussian noise added to the inputs during training. Inputs that are
        constant in the training data receive no noise. Noise makes a network more robust.
    balanced : bool, default=True
        Whether to repeat rows of rare classes in each epoch so that all classes are equally
        frequent.
    early_stopping : bool, default=False
        Whether to stop training when the loss on held-out validation rows no longer decreases. The
        weights of the best epoch are then restored.
    validation_fraction : float, default=0.1
        Fraction of the rows held out for early stopping.
    n_iter_no_change : int, default=10
        Number of epochs without improvement after which training stops.
    tol : float, default=1e-4
        Minimum decrease of the validation loss that counts as an improvement.
    n_threads : int or None, default=None
        Number of PyTorch threads. None means one for networks with less than a million weights,
        where more would be slower, and the current PyTorch setting for larger networks. Results are
        reproducible to the last digit with the same number of threads.
    device : str, torch.device or None, default=None
        Device to train on. None uses a GPU if one is available.
    random_state : int, RandomState instance or None, default=None
    verbose : int, default=0
        Whether to show a progress bar of the epochs.

    Attributes
    ----------
    classes_ : ndarray
        Class labels.
    module_ : nn.Module
        Trained network, on the CPU.
    model_ : TorchModel
        Trained network as a differentiable model.
    loss_curve_ : list of float
        Mean training loss of each epoch, without penalties.
    validation_curve_ : list of float
        Validation loss after each epoch; empty without early stopping.
    n_iter_ : int
        Number of epochs.
    mask_ : ndarray of shape (d,)
        Weights of the input mask, if there is one. Weights of unused inputs are exactly zero.
    mask_steps_ : ndarray of shape (d,)
        Number of steps in which each weight of the mask was not zero.

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
        """Train the network on a table and its targets.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Training data. A sparse matrix is converted to dense arrays one mini-batch at a time.
        y : array-like of shape (n,)

        Returns
        -------
        NetworkClassifier
        """
        X, y = self._validate(X, y)
        check_labels(y)
        self.classes_, codes = encode_classes(y)
        return self._train(X, codes.astype(np.int64), len(self.classes_))

    def predict_proba(self, X: Any) -> Matrix:
        """Return the probability of each class; shape (n, n_classes)."""
        return softmax(self._outputs(X), axis=1)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row."""
        codes = self._outputs(X).argmax(axis=1)
        return self.classes_[codes]

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
    """PyTorch regressor with the scikit-learn API.

    It has the same networks and parameters as :class:`NetworkClassifier`, and minimizes the mean
    squared error. The network is trained on the standardized target, and its predictions are
    converted back to the unit of the target.

    Parameters
    ----------
    network : {"mlp", "cnn", "wrn-16-4"}, nn.Module or callable, default="mlp"
        Network to train, with a single output. See :class:`NetworkClassifier`.
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
        See :class:`NetworkClassifier`. Losses refer to the standardized target.

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
        """Train the network on a table and its targets.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Training data. A sparse matrix is converted to dense arrays one mini-batch at a time.
        y : array-like of shape (n,)

        Returns
        -------
        NetworkRegressor
        """
        X, y = self._validate(X, y)
        from .architectures import TargetScale

        y = np.asarray(y, dtype=np.float64)
        varies = y.min() < y.max()  # rounding can make the deviation of a constant nonzero
        mean, std = float(y.mean()), float(y.std() if varies else 0.0) or 1.0
        scaled = ((y - mean) / std).astype(np.float32)
        return self._train(X, scaled, 1, TargetScale(mean, std))

    def predict(self, X: Any) -> Vector:
        """Predict the target of each row."""
        return self._outputs(X)[:, 0]

    @property
    def _loss(self) -> Callable[[Tensor, Tensor], Tensor]:
        return _squared_error


def _squared_error(outputs: Tensor, targets: Tensor) -> Tensor:
    return (outputs[:, 0] - targets).square().mean()
