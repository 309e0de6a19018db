"""The cheapest models: what the report says of them, and how it draws them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..bounds.design import Design
from .chart import axis_ticks

_WIDTH, _HEIGHT = 300.0, 160.0


def summarize_design(design: Design) -> dict[str, Any]:
    """The cheapest models as plain values that JSON can hold.

    Parameters
    ----------
    design : Design

    Returns
    -------
    dict
        ``models`` in order of their cost, ``core``, ``complete``, the ``costs`` of all features and
        what there is to know of the baseline.
    """
    return {
        "models": [
            {
                "features": model.features,
                "cost": model.cost,
                "proven": model.proven,
                "gap": model.gap,
                "score": model.score,
                "score_error": model.score_error,
            }
            for model in design
        ],
        "core": design.core(),
        "complete": design.complete,
        "costs": dict(zip(design.feature_names, design.costs.tolist(), strict=True)),
        "baseline": {
            "n_features": int(design.baseline_used.sum()),
            "cost": design.baseline_cost,
            "score": design.baseline_score,
            "score_error": design.baseline_score_error,
        },
    }


def design_drawing(design: Mapping[str, Any]) -> dict[str, Any]:
    """Places of the models by number of features, from left to right, and by cost, upwards.

    Parameters
    ----------
    design : mapping
        What :func:`summarize_design` gave.
    """
    models, baseline = design["models"], design["baseline"]
    costs = axis_ticks(max([baseline["cost"], *(model["cost"] for model in models)]))
    most = max([baseline["n_features"], *(len(model["features"]) for model in models)]) + 1

    def place(n_features: int, cost: float) -> dict[str, float]:
        return {
            "x": round(_WIDTH * n_features / most, 2),
            "y": round(_HEIGHT * (1.0 - cost / costs[-1]), 2),
        }

    return {
        "marks": [
            {**place(len(model["features"]), model["cost"]), "proven": model["proven"]}
            for model in models
        ],
        "baseline": place(baseline["n_features"], baseline["cost"]),
        "costs": [{"label": f"{cost:g}", "y": place(0, cost)["y"]} for cost in costs],
        "numbers": [
            {"label": str(n), "x": place(n, 0.0)["x"]}
            for n in range(0, most + 1, max(1, -(-most // 10)))
        ],
        "width": _WIDTH,
        "height": _HEIGHT,
    }
