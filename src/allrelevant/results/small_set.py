"""Sentences on the smallest set of features that suffices for an equivalent model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._text import join_names, printable, shorten

_NAME_WIDTH = 40
_MAX_NAMES = 15


def plus_minus(mean: float, error: float) -> str:
    """Format a mean and its standard error.

    >>> plus_minus(0.9571, 0.012)
    '0.957 ± 0.012'
    """
    return f"{mean:.3f} ± {error:.3f}"


def _join(names: Sequence[str]) -> str:
    return join_names([shorten(printable(n), _NAME_WIDTH) for n in names], _MAX_NAMES, quote=False)


def describe_small_set(small_set: Mapping[str, Any], score_name: str) -> str:
    """Return sentences on the smallest set that suffices for an equivalent model."""
    first = small_set["models"][0]
    n_features = len(first["features"])
    if n_features == 0:
        return "A linear model without features is equivalent to the baseline."
    proof = (
        "No smaller set suffices."
        if first["proven"]
        else f"A set with up to {first['gap']:g} fewer features may exist."
    )
    suffice = "feature suffices" if n_features == 1 else "features suffice"
    sentences = [
        f"{n_features:,} {suffice} for a linear model that is equivalent to the baseline with all "
        f"features (norm and loss within the tolerance): {_join(first['features'])}.",
        proof,
        _small_set_score(small_set, score_name),
    ]
    return " ".join(sentences)


def _small_set_score(small_set: Mapping[str, Any], score_name: str) -> str:
    baseline = small_set["baseline"]
    with_all = f"{plus_minus(baseline['score'], baseline['score_error'])} with all features"
    if small_set["held_out_score"] is not None:
        score = plus_minus(small_set["held_out_score"], small_set["held_out_score_error"])
        return (
            f"On held-out rows, with the set chosen anew in each fold, the {score_name} is "
            f"{score}, compared with {with_all}."
        )
    first = small_set["models"][0]
    score = plus_minus(first["score"], first["score_error"])
    return (
        f"The cross-validated {score_name} is {score}, compared with {with_all}. It is optimistic, "
        "because the set was chosen on the same rows."
    )
