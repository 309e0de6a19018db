"""VPS-30-En: sentences with one of 30 English verbs, by features and by the pattern of use."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Sequence
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allrelevant._text import join_names
from allrelevant._typing import Matrix
from allrelevant.exceptions import InputError

VERBS = (
    *("access", "ally", "arrive", "breathe", "claim", "cool", "crush", "cry", "deny", "enlarge"),
    *("enlist", "forge", "furnish", "hail", "halt", "part", "plough", "plug", "pour", "say"),
    *("smash", "smell", "steer", "submit", "swell", "tell", "throw", "trouble", "wake", "yield"),
)

_SEPARATORS = ",;\t"

_VALUES = {"0": 0.0, "1": 1.0}


class VerbPatterns(NamedTuple):
    """Sentences with one verb, and the pattern that each is an instance of.

    Attributes
    ----------
    X : ndarray of shape (n_sentences, n_features)
        Zeros and ones.
    y : ndarray of shape (n_sentences,)
        Labels of patterns, as text: numbers, and letters for what no pattern fits.
    fold : ndarray of shape (n_sentences,) or None
        The fold of cross-validation that each sentence belongs to, if the file says so.
    feature_names : tuple of str
    """

    X: Matrix
    y: NDArray[np.str_]
    fold: NDArray[np.int64] | None
    feature_names: tuple[str, ...]


def load_vps30en(
    folder: str | Path,
    *,
    verbs: Iterable[str] | None = None,
    pattern: str = "pattern",
    fold: str = "fold",
    leave_out: Collection[str] = (),
) -> dict[str, VerbPatterns]:
    """Read feature tables of VPS-30-En, the Verb Pattern Sample of 30 English verbs.

    250 or 500 sentences of each verb, whose use of the verb was annotated with a pattern
    (https://ufal.mff.cuni.cz/spr/vps-30-en). Holub et al. (2012) describe them by binary features,
    of which most are shared and some made for the verb; Krupka (2016) selects among these.

    The layout read here is an assumption. The corpus is published as definitions of patterns and
    annotated sentences, without features, and no description of the files with features was found.
    What is known of them: one table a verb, binary features that differ between verbs, one label,
    nine folds. Column names can be given, so that tables made otherwise need no rewriting.

    Parameters
    ----------
    folder : str or Path
        Holds one file a verb, ``access.csv`` to ``yield.csv``: text in UTF-8, a line with the names
        of the columns, then one line a sentence. Cells are separated by commas, semicolons or tabs
        and may be quoted.
    verbs : iterable of str or None, default=None
        Those to read; None for all 30.
    pattern : str, default="pattern"
        Name of the column with the label.
    fold : str, default="fold"
        Name of the column with the number of the fold; a file may lack it.
    leave_out : collection of str, default=()
        Names of columns that are no features, such as numbers or words of sentences. A file may
        lack them.

    Returns
    -------
    dict of str to VerbPatterns
        By verb, in the order asked for.
    """
    names = VERBS if verbs is None else _check_verbs(verbs)
    path = Path(folder)
    _require_files(path, names)
    return {
        verb: _read(path / f"{verb}.csv", pattern, fold, frozenset(leave_out)) for verb in names
    }


def _check_verbs(verbs: Iterable[str]) -> Sequence[str]:
    if isinstance(verbs, str):
        raise InputError(f"verbs must be a list, such as [{verbs!r}], got the text {verbs!r}.")
    names = tuple(verbs)
    unknown = [verb for verb in names if verb not in VERBS]
    if unknown:
        raise InputError(f"VPS-30-En has no verb {unknown[0]!r}; its verbs are {', '.join(VERBS)}.")
    return names


def _require_files(folder: Path, verbs: Sequence[str]) -> None:
    if not folder.is_dir():
        raise InputError(f"There is no folder {str(folder)!r}: give one with a file a verb.")
    missing = [verb for verb in verbs if not (folder / f"{verb}.csv").is_file()]
    if missing:
        raise InputError(
            f"{str(folder)!r} has no {missing[0]}.csv ({len(missing)} of {len(verbs)} verbs are "
            "missing): name those that are there by verbs=[...]."
        )


def _read(path: Path, pattern: str, fold: str, leave_out: frozenset[str]) -> VerbPatterns:
    names, rows = _cells(path)
    if pattern not in names:
        raise InputError(
            f"{str(path)!r} has no column {pattern!r}: say by pattern=... which one has the label. "
            f"Its columns are {join_names(names, at_most=8)}."
        )
    features = [name for name in names if name not in {pattern, fold, *leave_out}]
    if not features:
        raise InputError(f"{str(path)!r} has no features beside {pattern!r} and {fold!r}.")
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    if "" in columns[pattern]:
        raise InputError(
            f"{str(path)!r} has no label in column {pattern!r} of sentence "
            f"{columns[pattern].index('') + 1}: give it one, or leave the line out."
        )
    return VerbPatterns(
        np.column_stack([_binary(path, name, columns[name]) for name in features]),
        np.array(columns[pattern]),
        _folds(path, fold, columns[fold]) if fold in columns else None,
        tuple(features),
    )


def _cells(path: Path) -> tuple[list[str], list[list[str]]]:
    """The names of the columns, and the rows: as many cells in each."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{str(path)!r} is not text in UTF-8: {error}.") from error
    first = text.partition("\n")[0]
    separator = max(_SEPARATORS, key=first.count)
    lines = [line for line in csv.reader(StringIO(text), delimiter=separator) if line]
    if len(lines) < 2:
        raise InputError(f"{str(path)!r} has no sentences: a line of names, then one a sentence.")
    names, rows = [name.strip() for name in lines[0]], lines[1:]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"{str(path)!r} has two columns {twice[0]!r}: names must differ.")
    for number, row in enumerate(rows, 1):
        if len(row) != len(names):
            raise InputError(
                f"{str(path)!r} has {len(row)} cells in sentence {number} and {len(names)} names: "
                "every column needs a name (R leaves out that of its row names; write the table "
                "without them)."
            )
    return names, [[cell.strip() for cell in row] for row in rows]


def _binary(path: Path, name: str, cells: Sequence[str]) -> NDArray[np.float64]:
    for number, cell in enumerate(cells, 1):
        if cell not in _VALUES:
            raise InputError(
                f"{str(path)!r} has {cell!r} in column {name!r} of sentence {number}, and features "
                "are 0 or 1: name columns that are no features by leave_out=[...]."
            )
    return np.array([_VALUES[cell] for cell in cells])


def _folds(path: Path, name: str, cells: Sequence[str]) -> NDArray[np.int64]:
    try:
        return np.array([int(cell) for cell in cells], dtype=np.int64)
    except ValueError as error:
        raise InputError(
            f"{str(path)!r} has a fold in column {name!r} that is no whole number: {error}."
        ) from error
