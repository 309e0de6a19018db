"""The Tecator table: meat samples, their near infrared spectra and their contents."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import numpy as np

from ..arrays import Vector
from ..exceptions import InputError
from .spectra import Spectra

# The file says how many numbers of each kind follow, one `name=count` a line.
_COUNT = re.compile(r"^[ \t]*(\w+)[ \t]*=[ \t]*(\d+)[ \t\r]*$", re.MULTILINE)
_COUNTS = (
    "real_in",
    "real_out",
    "training_examples",
    "test_examples",
    "extrapolation_examples",
)
_PARTS = ("train", "test", "extrapolation")

# A row: absorbances, principal components of them, contents.
_N_COMPONENTS = 22
_CONTENTS = ("moisture", "fat", "protein")


def load_tecator(
    path: str | Path, *, target: Literal["moisture", "fat", "protein"] = "fat"
) -> Spectra:
    """Read the Tecator table from the text file that StatLib publishes.

    Absorbances of 240 samples of meat at 100 wavelengths from 850 to 1050 nm, and their contents
    of water, fat and protein. The file (http://lib.stat.cmu.edu/datasets/tecator) is not part of
    this package. Its owners ask that publications name the instrument and the company: a Tecator
    Infratec Food and Feed Analyzer.

    Parameters
    ----------
    path : str or Path
        The file as it was published, with its description.
    target : {"moisture", "fat", "protein"}, default="fat"
        The content to predict.

    Returns
    -------
    Spectra
        172 rows of the part ``"train"``, 43 of ``"test"`` and 25 of ``"extrapolation"``; common
        use leaves the latter out. The principal components in the file are left out.
    """
    if target not in _CONTENTS:
        raise InputError(f"target must be one of {', '.join(_CONTENTS)}, got {target!r}.")
    text = _text(Path(path))
    counts, numbers_start = _counts(text, path)
    n_numbers = counts["real_in"] + counts["real_out"]
    sizes = [counts[name] for name in _COUNTS[2:]]
    rows = _numbers(text[numbers_start:], n_numbers * sum(sizes), path).reshape(-1, n_numbers)
    return Spectra(
        rows[:, : counts["real_in"] - _N_COMPONENTS],
        rows[:, counts["real_in"] + _CONTENTS.index(target)],
        np.repeat(_PARTS, sizes),
    )


def _text(path: Path) -> str:
    if not path.is_file():
        raise InputError(
            f"There is no file {str(path)!r}. The Tecator table is published as "
            "http://lib.stat.cmu.edu/datasets/tecator."
        )
    # The description has had characters of more than one encoding over the years.
    return path.read_text(encoding="latin-1")


def _counts(text: str, path: str | Path) -> tuple[dict[str, int], int]:
    """The counts, and where the numbers start: the description shows the counts once before."""
    found = list(_COUNT.finditer(text))
    counts = {match[1]: int(match[2]) for match in found}
    missing = [name for name in _COUNTS if name not in counts]
    if missing:
        raise InputError(
            f"{str(path)!r} is not the Tecator file of StatLib: it has no line {missing[0]}=..."
        )
    if counts["real_in"] <= _N_COMPONENTS or counts["real_out"] != len(_CONTENTS):
        raise InputError(
            f"{str(path)!r} announces {counts['real_in']} inputs and {counts['real_out']} outputs "
            f"a row; the Tecator file has absorbances, {_N_COMPONENTS} principal components and "
            f"{len(_CONTENTS)} contents."
        )
    return counts, found[-1].end()


def _numbers(text: str, expected: int, path: str | Path) -> Vector:
    words = text.split()
    if len(words) != expected:
        raise InputError(
            f"{str(path)!r} announces {expected} numbers but has {len(words)}: it is cut off, or "
            "was changed."
        )
    try:
        return np.array(words, dtype=np.float64)
    except ValueError as error:
        raise InputError(f"{str(path)!r} has a word among its numbers: {error}.") from error
