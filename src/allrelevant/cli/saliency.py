"""Settings of the command line as models to train and as a selector over them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ..exceptions import InputError

SVM, MLP = "svm", "mlp"
MODELS = (SVM, MLP)

_OF_SVMS = {"kernel": "--kernel", "C": "--C", "gamma": "--gamma", "class_weight": "--class-weight"}


def make(settings: Mapping[str, Any], given: Collection[str], *, classes: bool) -> Any:
    """A SaliencySelector, not yet fitted.

    Parameters
    ----------
    settings : mapping
        The options of ``allrelevant select --method saliency``.
    given : collection of str
        Which of them the user has given.
    classes : bool
        Whether to predict classes or numbers.
    """
    from .. import SaliencySelector

    return SaliencySelector(
        trainer(settings, given, classes=classes),
        gamma=settings["keep"],
        reps=settings["reps"],
        min_features=settings["min_features"],
        n_features_to_select=_size(settings["rule"]) if "rule" in given else None,
        random_state=settings["random_state"],
        checkpoint=settings["checkpoint"],
        n_jobs=settings["n_jobs"],
        verbose=settings["verbose"],
    )


def _size(rule: float | str) -> float:
    """How many features, or which share: a ranking has no scores to choose by."""
    if isinstance(rule, str):
        raise InputError(
            f"--rule {rule} needs scores, and saliency gives a ranking: give a number of features "
            "or a share of them, such as 20 or 0.25."
        )
    return rule


def trainer(settings: Mapping[str, Any], given: Collection[str], *, classes: bool) -> Any:
    """Who is trained: an SVM, or the network that goes by a name.

    Parameters
    ----------
    settings : mapping
        ``model``, ``kernel``, ``C``, ``gamma``, ``class_weight``, ``random_state``.
    given : collection of str
        Which of them the user has given. One that the model has no use for is refused.
    classes : bool
        Whether to predict classes or numbers, which have to be standardized.
    """
    if settings["model"] == MLP:
        return _network(settings["random_state"], given, classes=classes)
    if not isinstance(settings["C"], float):
        raise InputError("Saliency takes one value of C: there are no scores to choose by.")
    return _svm(settings, classes=classes)


def _network(seed: int, given: Collection[str], *, classes: bool) -> Any:
    for name, option in _OF_SVMS.items():
        if name in given:
            raise InputError(f"{option} goes with --model svm, and the model is mlp.")
    from ..saliency.trainers import seeded, trainer_for

    return seeded(trainer_for(MLP, classes=classes), seed)


def _svm(settings: Mapping[str, Any], *, classes: bool) -> Any:
    from sklearn.svm import SVC, SVR

    own = {name: settings[name] for name in ("kernel", "C", "gamma")}
    weight = settings["class_weight"]
    if not classes:
        if weight is not None:
            raise InputError("--class-weight goes with classes, and the target is a number.")
        return SVR(**own)
    if weight not in (None, "balanced"):
        raise InputError(
            f"--class-weight {weight} goes with elimination; with saliency there is 'balanced'."
        )
    return SVC(class_weight=weight, **own)
