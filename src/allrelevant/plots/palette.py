"""One look for the three relevance classes, in figures and in pages.

Dark, middle and hollow: told apart in greyscale and with any kind of colour vision.
"""

from __future__ import annotations

from typing import NamedTuple


class Look(NamedTuple):
    """Fill and outline of a bar."""

    fill: str
    edge: str


LOOKS = {
    "strong": Look("#123f6d", "#123f6d"),
    "weak": Look("#e0913a", "#c2761f"),
    "irrelevant": Look("#ffffff", "#8a8a8a"),
}
INK = "#1c1c1c"
