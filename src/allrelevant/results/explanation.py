"""JSON-compatible documents that describe explained rows, and their answer in sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._text import join_names, number, printable, shorten
from ..saliency.quality import HeldOutPredictions
from .document import EXPLANATION, make_document, to_json_value

if TYPE_CHECKING:
    from .._typing import Vector
    from ..saliency import Explanation
    from ..terms.columns import Column, Frame

Document = Mapping[str, Any]
Row = Mapping[str, Any]

# The usual range of a feature contains this fraction of the other rows.
USUAL_FRACTION = 0.9

# Number of features in the sentence on a row.
_N_NAMED = 3
_NAME_WIDTH = 40


def explanation_document(
    explanation: Explanation,
    features: Frame,
    rows: Sequence[int],
    *,
    indices: Sequence[int],
    actual: NDArray[Any],
    margins: Vector | None,
    held_out: HeldOutPredictions,
    table: str,
    target: str,
    model: Any,
    settings: Mapping[str, Any],
    warnings: Iterable[str],
    command: str,
) -> dict[str, Any]:
    """Return a JSON-compatible description of explained rows, most salient features first.

    ``features`` contains the unscaled values of the whole table, ``rows`` the numbers of the
    explained rows in the file, starting at 1, and ``indices`` their positions in ``features``.
    ``actual`` and ``margins`` are the true targets and the decision margins of these rows.
    ``held_out`` are the predictions of the model for the other rows. ``settings`` are the settings
    used to train it.
    """
    others = np.setdiff1d(np.arange(len(features)), indices)
    descriptions = [_usual_values(column.take(others)) for column in features]
    body = {
        "kind": EXPLANATION,
        "table": {
            "name": table,
            "target": target,
            "n_rows": len(features),
            "n_features": features.shape[1],
        },
        "quality": to_json_value(asdict(held_out.quality())),
        "usual_fraction": USUAL_FRACTION,
        "rows": [
            {
                "row": int(rows[place]),
                "actual": to_json_value(actual[place]),
                **_prediction(explanation, place),
                "certainty": asdict(
                    held_out.error_certainty()
                    if margins is None
                    else held_out.class_certainty(explanation.predicted[place], margins[place])
                ),
                "features": _features(explanation, place, features, index, descriptions),
            }
            for place, index in enumerate(indices)
        ],
    }
    return make_document(body, settings=settings, warnings=warnings, command=command, model=model)


def _prediction(explanation: Explanation, place: int) -> dict[str, Any]:
    return {
        "predicted": to_json_value(explanation.predicted[place]),
        "target": to_json_value(explanation.targets[place]),
        "of_classes": explanation.of_classes,
        "note": explanation.note(place),
        "gain": float(explanation.gains[place]),
    }


def _usual_values(column: Column) -> dict[str, Any]:
    """Return the usual range of a number, or the fraction of rows of each level of a category.

    Levels are sorted by decreasing frequency. Missing values are not counted.
    """
    present = column.values[~column.missing]
    if not column.has_levels:
        tail = (1 - USUAL_FRACTION) / 2
        usual = np.quantile(present, [tail, 1 - tail]) if len(present) else [np.nan, np.nan]
        return {"usual": [float(limit) for limit in usual]}
    counts = np.bincount(present, minlength=len(column.levels))
    order = np.argsort(-counts, kind="stable")
    return {"levels": {column.levels[k]: counts[k] / max(len(present), 1) for k in order}}


def _features(
    explanation: Explanation,
    place: int,
    features: Frame,
    index: int,
    descriptions: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    order = np.argsort(-explanation.absolute[place], kind="stable")
    return [
        {
            "name": explanation.names[j],
            **_value_and_usual(features.data[j].take(np.array([index])), descriptions[j]),
            "percent": float(explanation.percent[place, j]),
            "saliency": float(explanation.saliency[place, j]),
        }
        for j in order
    ]


def _value_and_usual(cell: Column, description: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value of a row, None if it is missing, and the usual values of the feature.

    A category has its most frequent level instead of a range, with the fractions of the other rows
    that have this level and the level of the row.
    """
    if not cell.has_levels:
        value = None if cell.missing[0] else float(cell.values[0])
        return {"value": value, "usual": to_json_value(description["usual"])}
    (word,) = cell.words()
    levels = description["levels"]
    most_frequent = next(iter(levels), None)
    return {
        "value": word,
        "most_frequent": most_frequent,
        "fraction_of_most_frequent": to_json_value(levels.get(most_frequent, 0.0)),
        "fraction_of_value": None if word is None else to_json_value(levels.get(word, 0.0)),
    }


def is_category(feature: Mapping[str, Any]) -> bool:
    """Check whether a feature of an explained row has levels instead of a range."""
    return "most_frequent" in feature


def has_levels(row: Row) -> bool:
    """Check whether the sign of some feature refers to the value of the row itself."""
    return any(is_category(f) or f["value"] is None for f in row["features"])


def format_value(feature: Mapping[str, Any], number: Callable[[float], str] = number) -> str:
    """Format the value of a feature: a number, a level, or "missing"."""
    value = feature["value"]
    if value is None:
        return "missing"
    return printable(value) if isinstance(value, str) else number(value)


def format_usual(feature: Mapping[str, Any], number: Callable[[float], str] = number) -> str:
    """Format the usual range of a number, or the most frequent level of a category.

    >>> format_usual({"most_frequent": "Bern", "fraction_of_most_frequent": 0.4})
    'Bern (40%)'
    """
    if is_category(feature):
        level = feature["most_frequent"]
        fraction = feature["fraction_of_most_frequent"]
        return "missing" if level is None else f"{printable(level)} ({fraction:.0%})"
    if feature["usual"][0] is None:  # no other row has a value
        return "missing"
    return " to ".join(map(number, feature["usual"]))


@dataclass(frozen=True)
class RowAnswer:
    """Sentences on one explained row.

    ``lead`` states the prediction, ``comparison`` compares it with the table, ``certainty`` states
    how often similar predictions were correct, ``reasons`` names the most salient features, and
    ``unusual`` those among them whose value is outside the usual range.
    """

    lead: str
    comparison: str
    certainty: str
    reasons: str
    unusual: str


def row_answer(row: Row, target: str) -> RowAnswer:
    """Summarize an explained row in sentences; ``target`` is the name of the target."""
    predicted, actual = _value(row["predicted"]), _value(row["actual"])
    name = shorten(printable(target), _NAME_WIDTH)
    is_correct = row["predicted"] == row["actual"]
    if not row["of_classes"]:
        comparison = f"The table contains {actual}."
    elif is_correct:
        comparison = "This is correct according to the table."
    else:
        comparison = f"This is wrong according to the table, which contains {actual}."
    return RowAnswer(
        lead=f"Row {row['row']}: {name} is predicted to be {predicted}.",
        comparison=comparison,
        certainty=_certainty(row),
        reasons=_reasons(row),
        unusual=_unusual(row),
    )


def _certainty(row: Row) -> str:
    certainty = row["certainty"]
    if not row["of_classes"]:
        return (
            f"{certainty['fraction']:.0%} of the {certainty['n_rows']:,} held-out predictions "
            f"differ from the table by at most {number(certainty['error'])}."
        )
    n_similar, predicted = certainty["n_similar"], _value(row["predicted"])
    if n_similar == 0:
        return f"The certainty is unknown, because no held-out row was predicted as {predicted}."
    return (
        f"Of the {n_similar:,} held-out rows predicted as {predicted} with the most similar "
        f"margin, {certainty['n_correct']:,} were classified correctly "
        f"({certainty['n_correct'] / n_similar:.0%})."
    )


def _reasons(row: Row) -> str:
    """Name the features with the largest positive and the largest negative saliency."""
    supports, opposes = directions(row)
    numbers, levels = [], []
    for sign, verb in ((1, supports), (-1, opposes)):
        named = [f for f in row["features"] if sign * f["percent"] > 0][:_N_NAMED]
        slopes = [_short_name(f) for f in named if not _has_own_level(f)]
        if slopes:
            numbers.append(f"larger values of {join_names(slopes, quote=False)} {verb}")
        own = [f"{_short_name(f)} = {_short_value(f)}" for f in named if _has_own_level(f)]
        if own:
            form = verb if len(own) > 1 else _third(verb)
            levels.append(f"{join_names(own, quote=False)} {form}")
    sentences = [f"{', and '.join(parts)}." for parts in (numbers, levels) if parts]
    if not sentences:
        return f"No feature of this row affects the support for {explained_target(row)}."
    if numbers:
        sentences[0] = sentences[0][0].upper() + sentences[0][1:]
    if levels:
        sentences[-1] = f"Compared with the average row, {sentences[-1]}"
    return " ".join(sentences)


def _has_own_level(feature: Mapping[str, Any]) -> bool:
    """Check whether the sign of the saliency refers to the value of the row itself."""
    return is_category(feature) or feature["value"] is None


def _short_name(feature: Mapping[str, Any]) -> str:
    return shorten(printable(feature["name"]), _NAME_WIDTH)


def _short_value(feature: Mapping[str, Any]) -> str:
    return shorten(format_value(feature), _NAME_WIDTH)


def _third(verb: str) -> str:
    """Return a verb phrase in the third person singular.

    >>> _third("support yes")
    'supports yes'
    """
    first, *rest = verb.split(" ")
    return " ".join([f"{first}s", *rest])


def larger_values(row: Row) -> str:
    """Return the subject of the legend: the values to which the sign of a saliency refers."""
    return "larger values (or this level)" if has_levels(row) else "larger values"


def directions(row: Row) -> tuple[str, str]:
    """Return the effects of a larger value with positive and with negative saliency."""
    if not row["of_classes"]:
        return "raise the prediction", "lower it"
    target = explained_target(row)
    return f"support {target}", f"oppose {target}"


def explained_target(row: Row) -> str:
    """Return the explained class, or "the prediction" for a numeric target."""
    return _value(row["target"]) if row["of_classes"] else "the prediction"


def _unusual(row: Row) -> str:
    """Name the features with unusual values among the most salient ones."""
    parts = []
    for word in ("high", "low", "rare"):
        names = [_short_name(f) for f in row["features"][: 2 * _N_NAMED] if position(f) == word]
        if names:
            parts.append(f"{join_names(names, quote=False)} ({word})")
    return f"Unusual values: {'; '.join(parts)}." if parts else ""


def position(feature: Mapping[str, Any]) -> str:
    """Return whether a value is "low", "usual" or "high" compared with the usual range.

    A level of a category is "rare" if fewer rows have it than a tail of the usual range.
    """
    if feature["value"] is None:
        return "usual"
    if is_category(feature):
        is_rare = feature["fraction_of_value"] < (1 - USUAL_FRACTION) / 2
        return "rare" if is_rare else "usual"
    low, high = feature["usual"]
    if low is None:
        return "usual"
    if feature["value"] < low:
        return "low"
    return "high" if feature["value"] > high else "usual"


def format_saliency(feature: Mapping[str, Any], largest: float, *, raw: bool = False) -> str:
    """Format a saliency; ``largest`` is the percentage that determines the number of decimals.

    >>> format_saliency({"percent": 12.345}, 40.0), format_saliency({"percent": -0.0123}, 0.15)
    ('+12.3%', '-0.01%')
    """
    if raw:
        return f"{feature['saliency']:+.3g}"
    decimals = 1 if largest >= 1 or largest == 0 else min(1 - math.floor(math.log10(largest)), 6)
    return f"{feature['percent']:+.{decimals}f}%"


def quality_sentence(document: Document) -> str:
    """Return a sentence on the score of the model and of a constant prediction."""
    quality = document["quality"]
    rows = f"{quality['n_rows']:,} rows"
    training = (
        f"{rows} of the other groups" if document["settings"].get("groups") else f"other {rows}"
    )
    return (
        f"The model was trained on the {training}. Its {quality['name']} is "
        f"{quality['score']:.3f} ({quality['n_folds']}-fold cross-validation); a constant "
        f"prediction reaches {quality['dummy_score']:.3f}."
    )


def meaning(document: Document) -> str:
    """Return a sentence that explains the meaning of saliency."""
    settings, row = document["settings"], document["rows"][0]
    effect = (
        f"strengthen (+) or weaken (-) the support for {_explained(document)}"
        if row["of_classes"]
        else "raise (+) or lower (-) the prediction"
    )
    step = ", in standard deviations," if settings["standardize"] else ""
    unit = (
        "as the gradient of the gain function"
        if settings["raw"]
        else "in percent of the total over all features"
    )
    text = (
        f"The saliency of a feature shows how strongly a small increase of its value{step} would "
        f"{effect}, {unit}; it does not show how much the present value contributed, and it is not "
        "a causal effect."
    )
    if any(has_levels(row) for row in document["rows"]):
        text += (
            " For a category or a missing value, it shows how strongly the prediction depends on "
            "the feature; the sign shows whether the value of the row strengthens (+) or weakens "
            "(-) it, compared with the average row."
        )
    return text


def _explained(document: Document) -> str:
    targets = {explained_target(row) for row in document["rows"]}
    return targets.pop() if len(targets) == 1 else "the explained class"


def _value(value: Any) -> str:
    if isinstance(value, float):
        return number(value)
    return shorten(printable(value), _NAME_WIDTH)
