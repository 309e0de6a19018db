"""How much an error in each class costs, as a multiple of C."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector
from ..exceptions import InputError

NAMED = ("balanced", "cw2", "cw3")


@dataclass(frozen=True)
class ClassWeight:
    """A rule, or weights that were given.

    Attributes
    ----------
    rule : {None, "balanced", "cw2", "cw3"}
        None: all classes weigh 1, or as ``given`` says. ``"balanced"``: as scikit-learn has it,
        rows over classes times rows of the class. ``"cw2"``: one over the rows of the class.
        ``"cw3"``: that and the number of classes, a weak preference of the rare ones.
    given : ndarray of shape (n_classes,) or None
    """

    rule: str | None
    given: Vector | None = None

    def of(self, present: NDArray[np.int64], counts: NDArray[np.int64]) -> Vector:
        """Weight of each class of the rows trained on.

        Parameters
        ----------
        present : ndarray of shape (k,)
            Codes of the classes that these rows have.
        counts : ndarray of shape (k,)
            How many rows each has.

        Examples
        --------
        >>> import numpy as np
        >>> classes, rows = np.array([0, 1]), np.array([10, 40])
        >>> ClassWeight("cw2").of(classes, rows).tolist()
        [0.1, 0.025]
        >>> ClassWeight("cw3").of(classes, rows).tolist()
        [2.1, 2.025]
        """
        if self.given is not None:
            return self.given[present]
        if self.rule == "balanced":
            return counts.sum() / (len(counts) * counts)
        if self.rule == "cw2":
            return 1.0 / counts
        if self.rule == "cw3":
            return 1.0 / counts + len(counts)
        return np.ones(len(counts))


def class_weight_of(setting: Any, classes: NDArray[Any]) -> ClassWeight:
    """The weights that a setting stands for.

    Parameters
    ----------
    setting : None, str or mapping of label to weight
        Labels that a mapping lacks weigh 1.
    classes : ndarray
        All labels, sorted.
    """
    if not isinstance(setting, Mapping):
        return ClassWeight(setting)
    labels = classes.tolist()
    unknown = [label for label in setting if label not in labels]
    if unknown:
        raise InputError(f"class_weight names {unknown[0]!r}, and the classes are {labels}.")
    weights = np.array([float(setting.get(label, 1.0)) for label in labels])
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        raise InputError("class_weight must give every class a finite weight above zero.")
    return ClassWeight(None, weights)
