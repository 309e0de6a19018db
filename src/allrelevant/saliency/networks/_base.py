"""`NetworkEstimator`, the base class of network classifiers and regressors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from ..._optional import import_extra
from ..._typing import Matrix, Table, Vector
from ..._validation import COUNT, FRACTION, MAX_SINGLE, NONNEGATIVE
from ...exceptions import InputError
from ...parallel.progress import progress_bar
from ...terms.validation import validate_table
from ..differentiable import register
from .catalog import build_network, has_fixed_inputs

if TYPE_CHECKING:
    from torch import Tensor, nn

    from ..backends.torch_modules import OutputKind, TorchModel
    from .architectures import InputMask, TargetScale
    from .training import EarlyStopping, TrainingRecord


_FRACTION = Interval(Real, 0, 1, closed="both")


class NetworkEstimator(BaseEstimator):
    """Base class of PyTorch classifiers and regressors with the scikit-learn API."""

    trains_at_random: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "network": "no_validation",
        "image_shape": [tuple, list, None],
        "max_epochs": [COUNT],
        "batch_size": [Interval(Integral, 2, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "annealing": ["boolean"],
        "l2": [NONNEGATIVE],
        "l1": [NONNEGATIVE],
        "mask_penalty": [NONNEGATIVE, None],
        "mask_l1_ratio": [_FRACTION],
        "input_noise": [NONNEGATIVE],
        "early_stopping": ["boolean"],
        "validation_fraction": [FRACTION],
        "n_iter_no_change": [COUNT],
        "tol": [NONNEGATIVE],
        "n_threads": [COUNT, None],
        "device": "no_validation",
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    n_features_in_: int
    module_: nn.Module

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

    @property
    def requires_all_columns(self) -> bool:
        """Whether inactive columns must be set to zero because the network requires all columns."""
        return has_fixed_inputs(self.network)

    @property
    def model_(self) -> TorchModel:
        """Trained network as a differentiable model."""
        from ..backends.torch_modules import TorchModel

        check_is_fitted(self)
        return TorchModel(self.module_, outputs=self._output_kind, device=self.device)

    # Defined by subclasses.

    _output_kind: ClassVar[OutputKind]

    @property
    @abstractmethod
    def _loss(self) -> Callable[[Tensor, Tensor], Tensor]:
        """Function that maps outputs and targets to the mean loss."""

    def _sampler(self, targets: Tensor) -> Callable[[], Tensor]:
        """Return a function that draws the row indices of an epoch, in training order."""
        import torch

        return partial(torch.randperm, len(targets))

    def _strata(self, targets: NDArray[Any]) -> NDArray[Any] | None:
        """Return the classes by which the validation split is stratified, or None."""
        return None

    def _validate(self, X: Any, y: Any) -> tuple[Table, NDArray[Any]]:
        import_extra("torch", "networks")
        self._validate_params()
        X, y = validate_table(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=[np.float32, np.float64],
            ensure_min_samples=2,
            max_size=MAX_SINGLE,
        )
        return X.astype(np.float32, copy=False), y

    def _train(
        self, X: Table, targets: NDArray[Any], n_outputs: int, scale: TargetScale | None = None
    ) -> Self:
        """Build the network, train it and return ``self``.

        The random state of PyTorch is restored afterwards.
        """
        from ..backends.torch_modules import threads_for, torch_seed, torch_threads
        from .architectures import InputMask, assemble

        random = check_random_state(self.random_state)
        with torch_seed(int(random.randint(np.iinfo(np.int32).max))):
            shape = None if self.image_shape is None else tuple(self.image_shape)
            network = build_network(self.network, X.shape[1], n_outputs, shape)
            mask = None if self.mask_penalty is None else InputMask(X.shape[1])
            module = assemble(network, mask).float().to(self._device)
            with torch_threads(threads_for(module, self.n_threads)):
                record = self._epochs(module, mask, X, targets, n_outputs, random)
        self.module_ = assemble(network, mask, scale).to("cpu").eval()
        self._set_fitted_attributes(record, mask)
        return self

    def _epochs(
        self,
        module: nn.Module,
        mask: InputMask | None,
        X: Table,
        targets: NDArray[Any],
        n_outputs: int,
        random: np.random.RandomState,
    ) -> TrainingRecord:
        import torch

        from .architectures import MaskOptimizer
        from .training import Training, TrainingSettings, check_trainable, make_inputs

        train, validation = self._split(targets, random)
        inputs = make_inputs(X[train], self._device)
        train_targets = torch.from_numpy(targets[train]).to(self._device)
        network = module.get_submodule("network")
        check_trainable(network, module, inputs.rows(torch.arange(2)), n_outputs)
        settings = TrainingSettings(
            self._loss,
            int(self.max_epochs),
            int(self.batch_size),
            float(self.learning_rate),
            float(self.l2),
            float(self.l1),
            float(self.input_noise),
            bool(self.annealing),
            self._early_stopping(X[validation], targets[validation]),
        )
        mask_optimizer = None
        if mask is not None and self.mask_penalty is not None:
            mask_optimizer = MaskOptimizer(
                mask.weight, self.mask_penalty, self.mask_l1_ratio, settings.learning_rate
            )
        training = Training(module, settings, mask_optimizer)
        title = f"{type(self).__name__}, epochs" if self.verbose else None
        with progress_bar(title, settings.max_epochs) as advance:
            return training.run(inputs, train_targets, self._sampler(train_targets), advance)

    def _split(
        self, targets: NDArray[Any], random: np.random.RandomState
    ) -> tuple[slice | NDArray[np.int64], slice | NDArray[np.int64]]:
        """Return training rows and validation rows; the latter are empty without early stopping."""
        if not self.early_stopping:
            return slice(None), slice(0)
        try:
            train, validation = train_test_split(
                np.arange(len(targets)),
                test_size=self.validation_fraction,
                random_state=random,
                stratify=self._strata(targets),
            )
        except ValueError as error:
            raise InputError(
                f"{len(targets)} rows are too few for early_stopping with validation_fraction="
                f"{self.validation_fraction}. Use more rows or early_stopping=False. "
                f"Original error: {error}"
            ) from error
        return train, validation

    def _early_stopping(self, X: Table, targets: NDArray[Any]) -> EarlyStopping | None:
        import torch

        from .training import EarlyStopping, make_inputs

        if not self.early_stopping:
            return None
        inputs, target_tensor = make_inputs(X, self._device), torch.from_numpy(targets)
        return EarlyStopping(
            inputs, target_tensor.to(self._device), self.n_iter_no_change, self.tol
        )

    def _set_fitted_attributes(self, record: TrainingRecord, mask: InputMask | None) -> None:
        self.loss_curve_ = record.losses
        self.n_iter_ = len(record.losses)
        self.validation_curve_ = record.validation_losses
        if mask is None or record.mask_steps is None:
            for name in ("mask_", "mask_steps_"):  # left over from an earlier fit
                self.__dict__.pop(name, None)
            return
        self.mask_: Vector = mask.weight.detach().double().cpu().numpy()
        self.mask_steps_: NDArray[np.int64] = record.mask_steps.cpu().numpy().astype(np.int64)

    def _outputs(self, X: Any) -> Matrix:
        from ..backends.torch_modules import threads_for, torch_threads

        check_is_fitted(self)
        X = validate_table(
            self,
            X,
            accept_sparse="csr",
            dtype=[np.float32, np.float64],
            reset=False,
            max_size=MAX_SINGLE,
        ).astype(np.float32, copy=False)
        with torch_threads(threads_for(self.module_, self.n_threads)):
            return self.model_.outputs(X)

    @property
    def _device(self) -> Any:
        from ..backends.torch_modules import device_for

        return device_for(self.device)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = False
        tags.input_tags.sparse = True
        return tags


@register(NetworkEstimator)
def _(fitted: NetworkEstimator) -> Any:
    return fitted.model_
