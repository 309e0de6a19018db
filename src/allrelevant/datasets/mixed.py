"""Generator of tables with categories and missing values, with known relevant features."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .._typing import Vector
from ..exceptions import InputError
from ..relevance import IRRELEVANT, STRONG, WEAK
from ._ground_truth import Classes, RandomState, check_flip, check_not_negative, rows_to_flip

# Numbers of levels of the strong, the weak and the irrelevant categories.
_STRONG_LEVELS, _WEAK_LEVELS, _IRRELEVANT_LEVELS = 3, 4, (2, 3, 5, 6)


class MixedGroundTruth(NamedTuple):
    """Generated table of numbers and categories, its classes, and the relevance of each feature.

    Attributes
    ----------
    columns : dict of str to ndarray of shape (n_samples,)
        Columns by name: numbers, with NaN for missing values, and words. Pass them to ``fit`` as a
        data frame, for example ``pandas.DataFrame(columns)``.
    y : ndarray of shape (n_samples,)
        Class, 0 or 1.
    relevance : ndarray of shape (n_features,)
        Relevance class: ``"strong"``, ``"weak"`` or ``"irrelevant"``.
    """

    columns: dict[str, NDArray[Any]]
    y: Classes
    relevance: NDArray[np.str_]


def make_mixed_classification(
    n_samples: int = 300,
    *,
    missing: float = 0.2,
    noise: float = 0.0,
    flip: float = 0.0,
    random_state: RandomState = None,
) -> MixedGroundTruth:
    """Generate two classes and a table of 15 numbers and categories with known relevance.

    The class is the sign of a sum of five independent effects of variance 1: two numbers, a
    category of three levels, and two hidden variables. The first three are in the table and are
    the strong features. A hidden number is in the table twice, in different units. A hidden
    category of four levels is in the table twice, with different words for its levels. These four
    columns are the weak features, because each can replace its twin. Eight irrelevant features are
    independent of the class: four numbers and categories of two, three, five and six levels.

    Parameters
    ----------
    n_samples : int, default=300
    missing : float, default=0.2
        Fraction of missing values, at random rows, of one strong and two irrelevant numbers. Weak
        features have no missing values, because twins with gaps would complement each other.
    noise : float, default=0
        Standard deviation of independent noise, added to each of the two weak numbers after the
        classes are computed. They have standard deviation 1.
    flip : float, default=0
        Fraction of labels that are flipped at random.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    MixedGroundTruth
        Features in the order strong, weak, irrelevant.

    Examples
    --------
    >>> from allrelevant.datasets import make_mixed_classification
    >>> data = make_mixed_classification(100, random_state=0)
    >>> list(data.columns)[:7]
    ['number', 'gaps', 'category', 'twin a', 'twin b', 'words a', 'words b']
    >>> [str(r) for r in data.relevance[:7]]
    ['strong', 'strong', 'strong', 'weak', 'weak', 'weak', 'weak']
    """
    if n_samples < 2:
        raise InputError(f"n_samples must be at least 2 (got {n_samples}).")
    if not 0 <= missing < 1:
        raise InputError(f"missing must be at least 0 and below 1 (got {missing}).")
    check_not_negative("noise", noise)
    check_flip(flip)
    rng = check_random_state(random_state)
    numbers = rng.normal(size=(n_samples, 7))
    number, gaps, hidden = numbers[:, :3].T
    levels = rng.randint(_STRONG_LEVELS, size=n_samples)
    hidden_levels = rng.randint(_WEAK_LEVELS, size=n_samples)
    effects = _effects(levels, _STRONG_LEVELS) + _effects(hidden_levels, _WEAK_LEVELS)
    y = np.where(number + gaps + hidden + effects > 0, 1, 0)
    flipped = rows_to_flip(n_samples, flip, rng)
    y[flipped] = 1 - y[flipped]
    strong = {
        "number": number,
        "gaps": _with_gaps(gaps, missing, rng),
        "category": _words(levels, "level"),
    }
    first, second = hidden + noise * rng.normal(size=(2, n_samples))
    weak = {
        "twin a": first,
        "twin b": 20.0 - 3.0 * second,
        "words a": _words(hidden_levels, "site"),
        "words b": _words(rng.permutation(_WEAK_LEVELS)[hidden_levels], "code"),
    }
    irrelevant = {f"noise {j}": numbers[:, 2 + j] for j in (1, 2)}
    irrelevant |= {f"noise gaps {j}": _with_gaps(numbers[:, 4 + j], missing, rng) for j in (1, 2)}
    irrelevant |= {
        f"noise of {n_levels} levels": _words(rng.randint(n_levels, size=n_samples), "n")
        for n_levels in _IRRELEVANT_LEVELS
    }
    classes = {STRONG: strong, WEAK: weak, IRRELEVANT: irrelevant}
    relevance = np.repeat(list(classes), [len(columns) for columns in classes.values()])
    return MixedGroundTruth({**strong, **weak, **irrelevant}, y, relevance)


def _effects(levels: NDArray[np.int_], n_levels: int) -> Vector:
    """Return equally spaced effects of equally frequent levels, with variance 1."""
    values = np.arange(n_levels) - (n_levels - 1) / 2
    return (values / values.std())[levels]


def _with_gaps(values: Vector, missing: float, rng: np.random.RandomState) -> Vector:
    return np.where(rng.uniform(size=len(values)) < missing, np.nan, values)


def _words(levels: NDArray[np.int_], prefix: str) -> NDArray[Any]:
    return np.array([f"{prefix} {level}" for level in levels], dtype=object)
