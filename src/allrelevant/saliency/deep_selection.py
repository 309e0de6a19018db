"""`DeepFeatureSelection`: feature selection by a sparse mask on the inputs of a network."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from .._typing import Matrix, Vector
from .._validation import COUNT, FRACTION, NONNEGATIVE, resolve_n_features
from ..exceptions import InputError
from ..terms.selecting import TableSelectorMixin
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


class DeepFeatureSelection(TableSelectorMixin, MetaEstimatorMixin, BaseEstimator):
    """Deep feature selection: a sparse mask on the inputs of a network (Li et al. 2016).

    Each input is multiplied by a weight. The weights w, initially 1, are trained together with the
    network under an elastic-net penalty,
    ``penalty * ((1 - l1_ratio) / 2 * |w|^2 + l1_ratio * |w|_1)``. Every optimizer step ends with
    the proximal operator of the l1 term, so unnecessary weights become exactly zero.
    The selector can be used alone, or as the estimator of :class:`SaliencySelector` (SFS+DFS of
    Cancela et al. 2020). Features are not scaled, so standardize them first.

    Parameters
    ----------
    estimator : NetworkClassifier, NetworkRegressor, str or None, default=None
        Network to train; it is cloned. None means ``NetworkClassifier()``. ``"mlp"``, ``"cnn"`` and
        ``"wrn-16-4"`` are predefined networks, trained for classification or regression depending
        on the target. With a name, scikit-learn cannot detect a classifier, so cross-validation
        does not stratify by default. Keep the ``l1`` or ``l2`` penalty of the network: without it,
        larger weights in the layers can compensate for a smaller mask.
    penalty : float, default=5e-3
        Factor of the elastic-net penalty. Batch normalization, which the predefined networks
        contain, cancels the scale of the mask. With such networks, a larger penalty does not
        necessarily produce more zeros.
    l1_ratio : float, default=1.0
        Fraction of the l1 term in the elastic net. Below 1, features that carry the same
        information tend to receive similar weights.
    n_features_to_select : int, float or None, default=None
        Number of features to select, or a fraction if below 1. None selects the features with a
        nonzero weight.
    random_state : int, RandomState instance or None, default=None
        Seed of the network. None keeps the ``random_state`` of ``estimator``.

    Attributes
    ----------
    network_ : NetworkClassifier or NetworkRegressor
        Network with its mask, trained on all features.
    mask_ : ndarray of shape (d,)
        Weights of the inputs.
    ranking_ : ndarray of shape (d,)
        Ranks by decreasing absolute weight; 1 is the best. Features with weight zero are ranked by
        the number of steps in which their weight was not zero.
    support_ : ndarray of shape (d,)
        Boolean mask of the selected features.
    n_features_ : int
        Number of selected features.
    classes_ : ndarray
        Class labels of a classifier; not available for a regressor.

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

    trains_at_random: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"]), str, None],
        "penalty": [NONNEGATIVE],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "n_features_to_select": [COUNT, FRACTION, None],
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
        """Whether inactive columns must be set to zero because the network requires all columns."""
        return self._unfitted.requires_all_columns

    @property
    def model_(self) -> TorchModel:
        """Trained network, including its mask, as a differentiable model."""
        check_is_fitted(self)
        return self.network_.model_

    def fit(self, X: Any, y: Any) -> Self:
        """Train the network, rank the features by its mask and select a subset.

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
                "estimator must be a NetworkClassifier, a NetworkRegressor or the name of a "
                f"predefined network (got {type(self.estimator).__name__}). Wrap other networks in "
                "NetworkClassifier or NetworkRegressor."
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
        """Select a different number of features without refitting.

        Parameters
        ----------
        n_features : int, float or None, default=None
            Number of features, with the same meaning as ``n_features_to_select``.

        Returns
        -------
        self
            The selector with updated ``support_`` and ``n_features_``; the network is unchanged.
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
        """Class labels of a classifier; not available for a regressor."""
        return self.network_.classes_

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the target of each row with the masked network, given all features."""
        check_is_fitted(self)
        return self.network_.predict(X)

    @available_if(_network_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Matrix:
        """Return the probability of each class; shape (n, n_classes)."""
        check_is_fitted(self)
        return self.network_.predict_proba(X)

    def score(self, X: Any, y: Any) -> float:
        """Return the accuracy of a classifier, or the R² score of a regressor."""
        check_is_fitted(self)
        return self.network_.score(X, y)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def _untrained(self, y: Any) -> Any:
        """Return an untrained network; if ``estimator`` is a name, infer the task from ``y``."""
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
    """Rank features by absolute mask weight, then by the number of steps with nonzero weight."""
    order = np.lexsort((-steps, -np.abs(mask)))
    ranking = np.empty(len(mask), dtype=np.int64)
    ranking[order] = np.arange(1, len(mask) + 1)
    return ranking


@register(DeepFeatureSelection)
def _(fitted: DeepFeatureSelection) -> Any:
    return fitted.model_
