"""Settings of the command line as models to train and as a selector over them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..exceptions import InputError

SVM, MLP = "svm", "mlp"
MODELS = (SVM, MLP)


def make(settings: Mapping[str, Any]) -> Any:
    """A SaliencySelector, not yet fitted.

    Parameters
    ----------
    settings : mapping
        The options of ``allrelevant select --method saliency``.
    """
    from .. import SaliencySelector

    if settings["rule"] == "one_se":
        raise InputError("--rule one_se needs scores, and saliency gives a ranking: give a number.")
    return SaliencySelector(
        trainer(settings, classes=True),
        gamma=settings["keep"],
        reps=settings["reps"],
        min_features=settings["min_features"],
        n_features_to_select=None if settings["rule"] == "best" else settings["rule"],
        random_state=settings["random_state"],
        checkpoint=settings["checkpoint"],
        n_jobs=settings["n_jobs"],
        verbose=settings["verbose"],
    )


def trainer(settings: Mapping[str, Any], *, classes: bool) -> Any:
    """Who is trained: an SVM, or the network that goes by a name.

    Parameters
    ----------
    settings : mapping
        ``model``, ``kernel``, ``C``, ``gamma``, ``class_weight``, ``random_state``.
    classes : bool
        Whether to predict classes or numbers.
    """
    if settings["model"] == MLP:
        from ..saliency.trainers import seeded, trainer_for

        return seeded(trainer_for(MLP, classes=classes), settings["random_state"])
    from sklearn.svm import SVC, SVR

    if not isinstance(settings["C"], float):
        raise InputError("Saliency takes one value of C: there are no scores to choose by.")
    own = {name: settings[name] for name in ("kernel", "C", "gamma")}
    if not classes:
        return SVR(**own)
    if settings["class_weight"] not in (None, "balanced"):
        raise InputError(
            f"--class-weight {settings['class_weight']} goes with elimination; with saliency there "
            "is 'balanced'."
        )
    return SVC(class_weight=settings["class_weight"], **own)
