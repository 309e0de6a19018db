"""JSON-compatible documents that describe explained rows, and their answer in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._text import join_names, number, printable, shorten
from ..saliency.quality import HeldOutPredictions
from .document import EXPLANATION, make_document, to_json_value

if TYPE_CHECKING:
    from .._typing import Matrix, Vector
    from ..saliency import Explanation
    from ..terms.columns import Frame

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
    values = features.to_numpy()
    tail = (1 - USUAL_FRACTION) / 2
    usual = np.quantile(np.delete(values, indices, axis=0), [tail, 1 - tail], axis=0)
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
                "features": _features(explanation, place, values[index], usual),
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


def _features(
    explanation: Explanation, place: int, values: Vector, usual: Matrix
) -> list[dict[str, Any]]:
    order = np.argsort(-explanation.absolute[place], kind="stable")
    return [
        {
            "name": explanation.names[j],
            "value": float(values[j]),
            "usual": [float(usual[0, j]), float(usual[1, j])],
            "percent": float(explanation.percent[place, j]),
            "saliency": float(explanation.saliency[place, j]),
        }
        for j in order
    ]


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
    parts = []
    for sign, verb in ((1, supports), (-1, opposes)):
        names = [f["name"] for f in row["features"] if sign * f["percent"] > 0][:_N_NAMED]
        if names:
            listed = join_names([shorten(printable(n), _NAME_WIDTH) for n in names], quote=False)
            parts.append(f"larger values of {listed} {verb}")
    if not parts:
        return f"No feature of this row affects the support for {explained_target(row)}."
    text = f"{', and '.join(parts)}."
    return text[0].upper() + text[1:]


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
    for word in ("high", "low"):
        names = [f["name"] for f in row["features"][: 2 * _N_NAMED] if position(f) == word]
        if names:
            listed = join_names([shorten(printable(n), _NAME_WIDTH) for n in names], quote=False)
            parts.append(f"{listed} ({word})")
    return f"Unusual values: {'; '.join(parts)}." if parts else ""


def position(feature: Mapping[str, Any]) -> str:
    """Return whether a value is "low", "usual" or "high" compared with the usual range."""
    low, high = feature["usual"]
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
    return (
        f"The model was trained on the other {quality['n_rows']:,} rows. Its {quality['name']} is "
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
    return (
        f"The saliency of a feature shows how strongly a small increase of its value{step} would "
        f"{effect}, {unit}; it does not show how much the present value contributed, and it is not "
        "a causal effect."
    )


def _explained(document: Document) -> str:
    targets = {explained_target(row) for row in document["rows"]}
    return targets.pop() if len(targets) == 1 else "the explained class"


def _value(value: Any) -> str:
    if isinstance(value, float):
        return number(value)
    return shorten(printable(value), _NAME_WIDTH)
