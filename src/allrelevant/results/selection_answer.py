"""Summary of a selection document in sentences, for the HTML report and the terminal."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from .._text import count_noun, join_names, printable, shorten
from ..relevance import IRRELEVANT, STRONG, UNCONFIRMED, WEAK
from .answer import format_pvalue
from .small_set import describe_small_set, plus_minus

Document = Mapping[str, Any]

_NAME_WIDTH = 40
_MAX_NAMES = 10
_MAX_SUBSTITUTES = 3

# A smaller subset is mentioned if its score is lower than the best one by at most this.
CLOSE_SCORE = 0.01

# Level of the test that compares the selected features with all features.
SIGNIFICANCE_LEVEL = 0.05

RULES = {
    "best": "the best cross-validated score",
    "smallest_best": "the best cross-validated score and the fewest features",
    "one_se": "the fewest features with a score within one standard error of the best",
}


@dataclass(frozen=True)
class SelectionAnswer:
    """Sentences that answer which features were selected.

    ``lead`` names them, ``quality`` states how well they predict held-out rows, ``verdict``
    compares this with all features, and ``scope`` explains the estimate. ``size`` states why this
    number was selected, ``stability`` how much the selection varies, and ``bounds`` what the
    relevance bounds say about the selected features. Texts are empty if they do not apply.
    """

    lead: str
    quality: str
    verdict: str
    scope: str
    size: str
    stability: str
    bounds: str


def selection_answer(document: Document) -> SelectionAnswer:
    """Summarize a selection document in sentences; it may be loaded from JSON."""
    return SelectionAnswer(
        lead=_lead(document),
        quality=_quality(document),
        verdict=_verdict(document),
        scope=_scope(document),
        size=_size(document),
        stability=_stability(document),
        bounds=_bounds(document),
    )


def _lead(document: Document) -> str:
    n_selected, n_features = document["n_selected"], document["table"]["n_features"]
    if n_selected == n_features:
        return f"All {n_features:,} features were selected."
    names = document["selected"]
    listed = f": {_join(names)}" if n_selected <= _MAX_NAMES else ""
    verb = "was" if n_selected == 1 else "were"
    return f"{n_selected:,} of {n_features:,} features {verb} selected{listed}."


def _join(names: Sequence[str], at_most: int = _MAX_NAMES) -> str:
    short = [shorten(printable(name), _NAME_WIDTH) for name in names]
    return join_names(short, at_most, quote=False)


def score_name(document: Document) -> str:
    """Return the name of the score, such as "balanced accuracy"."""
    name = str(document["score"]["name"])
    return "R2" if name == "r2" else name.replace("_", " ")


def _quality(document: Document) -> str:
    score = document["score"]
    held_out, name = score["held_out"], score_name(document)
    if held_out is not None:
        others = (
            f"{plus_minus(held_out['all_features'], held_out['all_features_error'])} with all "
            f"{document['table']['n_features']:,} features and {held_out['constant']:.3f} with a "
            "constant prediction"
        )
        return (
            f"On rows that were not used for the selection, the {name} is "
            f"{plus_minus(held_out['mean'], held_out['standard_error'])}, compared with {others}."
        )
    if score["cross_validated"] is None:
        return "The score of the selected features was not estimated."
    optimistic = (
        ", which is optimistic, because the features were ranked on all rows"
        if score["optimistic"]
        else ""
    )
    return f"The cross-validated {name} is {score['cross_validated']:.3f}{optimistic}."


def _verdict(document: Document) -> str:
    """Compare the held-out score with that of a constant prediction and of all features."""
    held_out = document["score"]["held_out"]
    if held_out is None:
        return ""
    if _is_hardly_better(held_out):
        return (
            "This is hardly better than a constant prediction, so the selected features may say "
            "nothing about the target."
        )
    if document["n_selected"] == document["table"]["n_features"]:
        return ""
    difference = held_out["mean"] - held_out["all_features"]
    pvalue = held_out["difference_pvalue"]
    if pvalue > SIGNIFICANCE_LEVEL:
        return (
            "The difference from all features is not significant (corrected resampled t-test, "
            f"{format_pvalue(pvalue)})."
        )
    word = "better" if difference > 0 else "worse"
    return f"The selected features predict {word} than all features."


def _scope(document: Document) -> str:
    """State that the held-out score refers to the procedure, and not to the selected features."""
    n_selected = document["n_selected"]
    if document["score"]["held_out"] is None or n_selected == document["table"]["n_features"]:
        return ""
    these = "this feature" if n_selected == 1 else f"these {n_selected:,} features"
    return (
        "The score is that of the selection procedure, which was repeated in each fold, and not of "
        f"exactly {these}."
    )


def _is_hardly_better(held_out: Mapping[str, Any]) -> bool:
    """Return whether a held-out score is within two standard errors of a constant prediction."""
    return bool(held_out["mean"] - held_out["constant"] <= 2 * held_out["standard_error"])


def _size(document: Document) -> str:
    rule, subsets = document["settings"].get("n_features_to_select"), document["subsets"]
    if isinstance(rule, str):
        return f"The number of features was chosen for {RULES[rule]}.{_smaller_subsets(document)}"
    best = document["score"]["best_n_features"]
    if best is None or best == document["n_selected"]:
        return ""
    score = next(subset for subset in subsets if subset["n_features"] == best)
    return (
        "The number of features was given. The best cross-validated score is that of "
        f"{count_noun(best, 'feature', 'features')} ({score['score']:.3f})."
    )


def _smaller_subsets(document: Document) -> str:
    """Return a sentence on smaller subsets whose scores are close to the best one."""
    subsets = document["subsets"]
    n_selected = document["n_selected"]
    best = max(subsets, key=lambda subset: (subset["score"], subset["n_features"] == n_selected))
    one_se = _smallest(subsets, best["score"] - best["standard_error"])
    options = {one_se: f"{one_se:,} within one standard error (--n-features one_se)"}
    if 0 <= best["score"] <= 1:  # otherwise, the unit of the score is unknown
        close = _smallest(subsets, best["score"] - CLOSE_SCORE)
        options.setdefault(close, f"{close:,} within {CLOSE_SCORE:g} (--n-features {close})")
    smaller = [text for size, text in options.items() if size < n_selected]
    if not smaller:
        return ""
    with_best = count_noun(best["n_features"], "feature", "features")
    return (
        f" The best score is {best['score']:.3f} with {with_best}. The fewest features with a "
        f"score close to it: {join_names(smaller, len(smaller), quote=False)}."
    )


def _smallest(subsets: Sequence[Mapping[str, Any]], limit: float) -> int:
    """Return the smallest number of features with a score that reaches a limit."""
    return min(subset["n_features"] for subset in subsets if subset["score"] >= limit)


def _stability(document: Document) -> str:
    held_out = document["score"]["held_out"]
    if held_out is None or held_out["stability"] is None:
        return ""
    n_folds = len(held_out["by_fold"])
    selected = [f for f in document["features"] if f["selected"]]
    n_always = sum(feature["frequency"] == 1 for feature in selected)
    return (
        f"{_chosen_always(n_always, len(selected))} chosen in all {n_folds} folds (stability "
        f"{held_out['stability']:.2f}; 1 means the same features in every fold, 0 means no more "
        "overlap than random sets)."
    )


def _chosen_always(count: int, total: int) -> str:
    """Return the number of selected features that were chosen in all folds, and a verb."""
    if total == 1:
        return "The selected feature was" if count else "The selected feature was not"
    if count == total:
        return f"All {total:,} selected features were"
    of_all = f"of the {total:,} selected features"
    return f"{count:,} {of_all} was" if count == 1 else f"{count or 'None'} {of_all} were"


def _bounds(document: Document) -> str:
    """Count the selected features by relevance class."""
    if document["bounds"] is None:
        return ""
    selected = [f for f in document["features"] if f["selected"]]
    by_class = {
        name: [f["name"] for f in selected if f["relevance"] == name]
        for name in (STRONG, WEAK, UNCONFIRMED, IRRELEVANT)
    }
    meanings = {
        STRONG: needed_by(document) + " needs {}",
        WEAK: "other features can replace {}",
        UNCONFIRMED: "all equivalent linear models use {}, but there is not enough evidence",
        IRRELEVANT: "not significantly more relevant than noise, perhaps selected by chance",
    }
    if len(selected) == 1:
        (only,) = selected
        meaning = meanings[only["relevance"]].format("it")
        return f"The selected feature is {only['relevance']}: {meaning}."
    parts = []
    for name, members in by_class.items():
        if members:
            them = "it" if len(members) == 1 else "them"
            be = "is" if len(members) == 1 else "are"
            parts.append(f"{len(members):,} {be} {name} ({meanings[name].format(them)})")
    listed = join_names(parts, len(parts), quote=False)
    return f"Of the selected features, {listed}.{_redundant_pairs(selected)}"


def _redundant_pairs(selected: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence on selected features that can replace each other.

    Features that every equivalent model uses are left out. With several classes, a feature can be
    needed for one class and replaceable for another.
    """
    substitutes = {
        feature["name"]: feature.get("substitutes", ())
        for feature in selected
        if feature["relevance"] not in (STRONG, UNCONFIRMED)
    }
    pairs = [
        (first, second)
        for first, second in combinations(substitutes, 2)
        if second in substitutes[first] and first in substitutes[second]
    ]
    if not pairs:
        return ""
    n_others = len(pairs) - 1
    others = f", as can {count_noun(n_others, 'other pair', 'other pairs')}" if n_others else ""
    return (
        f" The features {_join(pairs[0])} can replace each other{others}, so fewer features may "
        "suffice."
    )


def needed_by(document: Document) -> str:
    """Return a phrase that names all models in which a strong feature is needed.

    With more than two classes, bounds consider one class at a time.
    """
    several = len(document["classes"]) > 2
    return f"{'for at least one class, ' if several else ''}every equivalent linear model"


def features_of_sets(document: Document) -> list[Mapping[str, Any]]:
    """Return the selected features, then the others of the small set, best-ranked first."""
    members = [f for f in document["features"] if f["selected"] or f.get("in_small_set")]
    return sorted(members, key=lambda feature: (not feature["selected"], feature["rank"]))


def set_name(feature: Mapping[str, Any]) -> str:
    """Return the sets that contain a feature: the selected features, the small set or both."""
    if not feature["selected"]:
        return "small set"
    return "both" if feature.get("in_small_set") else "selected"


def replacement(
    feature: Mapping[str, Any], selected: Collection[str], *, at_most: int = _MAX_SUBSTITUTES
) -> str:
    """Return a phrase on the substitutes of a feature, or an empty text if they are unknown.

    Substitutes that were selected themselves are named only if there are no others.
    """
    if feature["relevance"] == STRONG:
        return "nothing"
    if feature["relevance"] != WEAK:
        is_needed = feature["relevance"] != IRRELEVANT or feature.get("in_small_set")
        return "unclear" if is_needed else "not needed"
    if "substitutes" not in feature:
        return ""
    names = [name for name in feature["substitutes"] if name not in selected]
    note = ""
    if not names:
        names, note = feature["substitutes"], " (also selected)"
    if not names:
        return "a combination of other features"
    short = [shorten(printable(name), _NAME_WIDTH) for name in names]
    return join_names(short, at_most, "or", quote=False) + note


def small_set_sentence(document: Document) -> str:
    """Return sentences on the smallest sufficient set, or an empty text if it is unknown."""
    bounds = document["bounds"]
    if bounds is None or bounds["small_set"] is None:
        return ""
    return describe_small_set(bounds["small_set"], bounds["score_name"])


def recommendation(document: Document) -> str:
    """Return sentences on whether to use the selected set or the smallest sufficient set.

    The text is empty if one of the sets or its held-out score is unknown, or if the selection is
    hardly better than a constant prediction. Each set is compared with all features, because the
    scores of the two sets may use different measures.
    """
    held_out, bounds = document["score"]["held_out"], document["bounds"]
    small_set = None if bounds is None else bounds["small_set"]
    if held_out is None or small_set is None or small_set["held_out_score"] is None:
        return ""
    if _is_hardly_better(held_out):
        return ""
    names, n_selected = small_set["models"][0]["features"], document["n_selected"]
    if set(names) == set(document["selected"]):
        return "The small set consists of the selected features."
    small_change = small_set["held_out_score"] - small_set["baseline"]["score"]
    change = held_out["mean"] - held_out["all_features"]
    if len(names) > n_selected:
        advice = "Use the selected features, which are fewer."
    elif len(names) == n_selected:
        advice = (
            "Use the small set, which is as large as the selection and compares better with all "
            "features."
            if small_change > change
            else "Use the selected features. The small set is as large, but compares worse with "
            "all features."
        )
    elif small_change >= change - small_set["held_out_score_error"]:
        advice = (
            "Use the small set, which has fewer features than the selection and compares about as "
            "well with all features."
        )
    else:
        advice = (
            f"Use the selected features, unless {n_selected:,} are too many. The small set has "
            "fewer features, but compares worse with all features."
        )
    return (
        f"{advice} The score of the small set ({bounds['score_name']}) is {_change(small_change)} "
        f"that of all features, and the score of the selected features ({score_name(document)}) is "
        f"{_change(change)} that of all features."
    )


def _change(difference: float) -> str:
    """Format the difference from another score.

    >>> _change(-0.0142), _change(0.003), _change(0.0001)
    ('0.014 below', '0.003 above', 'equal to')
    """
    if abs(difference) < 0.0005:
        return "equal to"
    return f"{abs(difference):.3f} {'above' if difference > 0 else 'below'}"
