"""`DeepFeatureSelection`: a network with a sparse weight on each of its inputs."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from .._typing import Matrix, Vector
from .._validation import COUNT, SHARE, resolve_n_features
from ..exceptions import InputError
from .differentiable import register
from .networks import NetworkClassifier
from .networks._base import NetworkEstimator
from .trainers import predicts_classes, trainer_for

if TYPE_CHECKING:
    from .backends.torch_modules import TorchModel


def _network_has(name: str) -> Any:
    def check(selector: DeepFeatureSelection) -> bool:
        return hasattr(selector._network, name)

    return check


class DeepFeatureSelection(SelectorMixin, MetaEstimatorMixin, BaseEstimator):
    """Select features by a sparse weight on every input of a network (Li et al. 2016).

    Weights w in front of the network, all 1 in the beginning, are trained with it under an elastic
    net, ``penalty * ((1 - l1_ratio) / 2 * |w|^2 + l1_ratio * |w|_1)``. Each step of the optimizer
    ends with the proximal operator of the absolute values, so a weight that the loss does not need
    is exactly zero. It can be used alone, or in :class:`SaliencySelector` as the model whose
    saliency ranks the features (SFS+DFS of Cancela et al. 2020). Features are used as they are:
    scale them.

    Parameters
    ----------
    estimator : NetworkClassifier, NetworkRegressor, str or None, default=None
        The network; it is cloned. None is ``NetworkClassifier()``; ``"mlp"``, ``"cnn"`` and
        ``"wrn-16-4"`` are ready networks for classes or numbers, as the target is: scikit-learn
        cannot know which, and stratifies no folds by classes unless told to. Penalties of its
        own layers are its ``l1`` and ``l2``: without them, these could undo what the mask does.
    penalty : float, default=5e-3
        Factor of the elastic net. Batch normalization, which the ready networks have, undoes the
        scale of the mask: with them a larger penalty need not mean more zeros.
    l1_ratio : float, default=1.0
        Share of the absolute values in it; with less than all, features that carry the same
        information share it.
    n_features_to_select : int, float or None, default=None
        How many features are selected, below 1 the share of them. None: those whose weight is not
        zero.
    random_state : int, RandomState instance or None, default=None
        Of the network, if given; else it has its own.

    Attributes
    ----------
    network_ : NetworkClassifier or NetworkRegressor
        The network with its mask, trained on all features.
    mask_ : ndarray of shape (d,)
        Weights of the inputs.
    ranking_ : ndarray of shape (d,)
        From 1, by falling absolute weight; those that are zero by for how many steps they were not.
    support_ : ndarray of shape (d,)
        Which features are selected.
    n_features_ : int
        Number of features selected.
    classes_ : ndarray
        The classes, of a classifier.

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant import DeepFeatureSelection, NetworkRegressor
    >>> X = np.random.default_rng(0).normal(size=(300, 6))
    >>> y = X[:, 1] * X[:, 4]
    >>> net = NetworkRegressor(max_epochs=100, learning_rate=0.01, random_state=0)
    >>> DeepFeatureSelection(net, penalty=0.2).fit(X, y).get_support(indices=True)
    array([1, 4])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"]), str, None],
        "penalty": [Interval(Real, 0, None, closed="left")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "n_features_to_select": [COUNT, SHARE, None],
        "random_state": ["random_state"],
    }

    n_features_in_: int
    network_: NetworkEstimator

    def __init__(
        self,
        estimator: NetworkEstimator | str | None = None,
        *,
        penalty: float = 5e-3,
        l1_ratio: float = 1.0,
        n_features_to_select: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.penalty = penalty
        self.l1_ratio = l1_ratio
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state

    @property
    def requires_all_columns(self) -> bool:
        """Whether columns must be set to zero, because the network takes all of them."""
        return self._unfitted.requires_all_columns

    @property
    def model_(self) -> TorchModel:
        """The trained network with its mask as a differentiable model."""
        check_is_fitted(self)
        return self.network_.model_

    def fit(self, X: Any, y: Any) -> Self:
        """Train the network and rank the features by its mask.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)

        Returns
        -------
        DeepFeatureSelection
        """
        self._validate_params()
        if not hasattr(self._unfitted, "mask_penalty"):
            raise InputError(
                "estimator must be a NetworkClassifier, a NetworkRegressor or the name of a ready "
                f"network, which can have a mask; got {type(self.estimator).__name__}. Wrap other "
                "networks in one of them."
            )
        validate_data(self, X, y, skip_check_array=True)
        network = self._untrained(y)
        network.set_params(mask_penalty=self.penalty, mask_l1_ratio=self.l1_ratio)
        if self.random_state is not None:
            network.set_params(random_state=self.random_state)
        self.network_ = network.fit(X, y)
        self.mask_: Vector = network.mask_
        self.ranking_ = _ranking(network.mask_, network.mask_steps_)
        return self.select(self.n_features_to_select)

    def select(self, n_features: float | None = None) -> Self:
        """Choose another number of features, without another fit.

        Parameters
        ----------
        n_features : int, float or None, default=None
            As ``n_features_to_select``.

        Returns
        -------
        self
            With another ``support_`` and ``n_features_``; the network stays as it is.
        """
        check_is_fitted(self, "ranking_")
        if n_features is None:
            self.support_ = self.mask_ != 0
        else:
            self.support_ = self.ranking_ <= resolve_n_features(n_features, self.n_features_in_)
        self.n_features_ = int(self.support_.sum())
        return self

    @property
    def classes_(self) -> NDArray[Any]:
        """Classes, of a classifier."""
        return self.network_.classes_

    def predict(self, X: Any) -> NDArray[Any]:
        """Prediction of the network, with its mask, from all features of each row."""
        check_is_fitted(self)
        return self.network_.predict(X)

    @available_if(_network_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Matrix:
        """Probability of each class; shape (n, number of classes)."""
        check_is_fitted(self)
        return self.network_.predict_proba(X)

    def score(self, X: Any, y: Any) -> float:
        """Accuracy of the network, or its coefficient of determination."""
        check_is_fitted(self)
        return self.network_.score(X, y)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def _untrained(self, y: Any) -> Any:
        """The network to train; a name is of classes or numbers, as the target is."""
        if self._is_named:
            classes = predicts_classes(self.estimator, np.asarray(y))
            return trainer_for(self.estimator, classes=classes)
        return clone(self._unfitted)

    @property
    def _is_named(self) -> bool:
        return isinstance(self.estimator, str)

    @property
    def _unfitted(self) -> Any:
        if self.estimator is None:
            return NetworkClassifier()
        return NetworkClassifier(self.estimator) if self._is_named else self.estimator

    @property
    def _network(self) -> Any:
        return getattr(self, "network_", self._unfitted)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        network_tags = get_tags(self._unfitted)
        tags.target_tags = network_tags.target_tags
        tags.input_tags.sparse = network_tags.input_tags.sparse
        if not self._is_named:
            tags.estimator_type = network_tags.estimator_type
            tags.classifier_tags = network_tags.classifier_tags
            tags.regressor_tags = network_tags.regressor_tags
        return tags


def _ranking(mask: Vector, steps: NDArray[np.int64]) -> NDArray[np.int64]:
    """Places from 1 by falling absolute weight, then by falling number of steps above zero."""
    order = np.lexsort((-steps, -np.abs(mask)))
    ranking = np.empty(len(mask), dtype=np.int64)
    ranking[order] = np.arange(1, len(mask) + 1)
    return ranking


@register(DeepFeatureSelection)
def _(fitted: DeepFeatureSelection) -> Any:
    return fitted.model_
