"""A learned metric: what the report says of it besides its intervals, and how it draws that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

MAX_ROWS_DRAWN = 3

# Of one drawing, in units of its own.
_WIDTH, _HEIGHT = 100.0, 40.0


def summarize_metric(est: Any) -> dict[str, Any] | None:
    """The rows of a mapping and the errors by dimension, as plain values that JSON can hold.

    Parameters
    ----------
    est : estimator
        Fitted.

    Returns
    -------
    dict or None
        None of an estimator whose models are no mappings. ``rows`` has for each row of the
        mapping ``lower`` and ``upper`` of every feature, and ``raw``, its weights as learned (None
        if there are fewer of those); ``curve`` the errors by dimension, None if they were not
        looked at; ``learner`` what learned the metric, None if it was given.
    """
    if not hasattr(est, "row_interval_"):
        return None
    raw = est.raw_mapping_
    return {
        "effective_dimension": int(est.effective_dimension_),
        "norm": float(est.baseline_.norm_),
        "learner": type(est.learner_).__name__ if hasattr(est, "learner_") else None,
        "rows": [
            {
                "raw": raw[index].tolist() if index < len(raw) else None,
                "lower": interval[:, 0].tolist(),
                "upper": interval[:, 1].tolist(),
            }
            for index, interval in enumerate(est.row_interval_)
        ],
        "curve": _curve(getattr(est, "dimension_curve_", None)),
    }


def _curve(curve: Any) -> dict[str, Any] | None:
    if curve is None:
        return None
    return {
        "dimensions": curve.dimensions.tolist(),
        "test_error": curve.test_error.mean(axis=1).tolist(),
        "train_error": curve.train_error.mean(axis=1).tolist(),
        "raw_test_error": float(np.mean(curve.raw_test_error)),
    }


def metric_drawings(metric: Mapping[str, Any]) -> dict[str, Any]:
    """The outlines to draw.

    Parameters
    ----------
    metric : mapping
        What :func:`summarize_metric` gave.
    """
    rows = metric["rows"][:MAX_ROWS_DRAWN]
    return {
        "width": _WIDTH,
        "height": _HEIGHT,
        "n_rows": len(metric["rows"]),
        "rows": [_row_drawing(row) for row in rows],
        "curve": None if metric["curve"] is None else _curve_drawing(metric),
    }


def _row_drawing(row: Mapping[str, Any]) -> dict[str, Any]:
    top = max(row["upper"]) or 1.0
    raw = None if row["raw"] is None else [abs(weight) for weight in row["raw"]]
    return {
        "raw": None if raw is None else _skyline(raw, max(raw) or 1.0),
        "raw_top": None if raw is None else max(raw),
        "upper": _skyline(row["upper"], top),
        "lower": _skyline(row["lower"], top),
        "top": top,
    }


def _skyline(heights: Sequence[float], top: float) -> str:
    """The outline of bars side by side, as points of a polygon."""
    step = _WIDTH / len(heights)
    points = [f"0,{_HEIGHT:g}"]
    for index, height in enumerate(heights):
        y = _HEIGHT * (1.0 - height / top)
        points += [f"{index * step:.2f},{y:.2f}", f"{(index + 1) * step:.2f},{y:.2f}"]
    return " ".join([*points, f"{_WIDTH:g},{_HEIGHT:g}"])


def _curve_drawing(metric: Mapping[str, Any]) -> dict[str, Any]:
    curve = metric["curve"]
    dimensions = curve["dimensions"]
    top = max([*curve["test_error"], *curve["train_error"], curve["raw_test_error"], 0.01])

    def place(dimension: float) -> float:
        span = max(dimensions[-1] - dimensions[0], 1)
        return round(_WIDTH * (dimension - dimensions[0]) / span, 2)

    def line(errors: Sequence[float]) -> str:
        pairs = zip(dimensions, errors, strict=True)
        return " ".join(f"{place(d)},{_HEIGHT * (1.0 - e / top):.2f}" for d, e in pairs)

    return {
        "test": line(curve["test_error"]),
        "train": line(curve["train_error"]),
        "raw": round(_HEIGHT * (1.0 - curve["raw_test_error"] / top), 2),
        "chosen": place(metric["effective_dimension"]),
        "first": dimensions[0],
        "last": dimensions[-1],
        "top": top,
    }
