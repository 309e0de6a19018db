"""Reader of VPS-30-En feature tables: sentences with one of 30 verbs and their patterns."""

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
    """Sentences with one verb: their features, usage patterns and folds.

    Attributes
    ----------
    X : ndarray of shape (n_sentences, n_features)
        Binary features, 0 or 1.
    y : ndarray of shape (n_sentences,)
        Pattern labels as strings: numbers, or letters if no pattern fits.
    fold : ndarray of shape (n_sentences,) or None
        Cross-validation fold of each sentence, if the file has this column.
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

    The corpus has 250 or 500 sentences per verb, each annotated with the pattern of its use
    (https://ufal.mff.cuni.cz/spr/vps-30-en). Holub et al. (2012) describe the sentences by binary
    features. Most features are shared, and some are specific to a verb. Krupka (2016) selects among
    them.

    The file layout is an assumption. The corpus is published with pattern definitions and annotated
    sentences but without features, and no description of the feature files was found. They are
    known to contain one table per verb, binary features that differ between verbs, one label and
    nine folds. Column names are parameters, so that other tables need not be rewritten.

    Parameters
    ----------
    folder : str or Path
        Folder with one file per verb, ``access.csv`` to ``yield.csv``. Each file is UTF-8 text with
        a header line and one line per sentence. Cells are separated by commas, semicolons or tabs
        and may be quoted.
    verbs : iterable of str or None, default=None
        Verbs to read. None means all 30.
    pattern : str, default="pattern"
        Name of the label column.
    fold : str, default="fold"
        Name of the column with the fold number. It may be missing in a file.
    leave_out : collection of str, default=()
        Names of columns that are not features, such as sentence numbers or words. They may be
        missing in a file.

    Returns
    -------
    dict of str to VerbPatterns
        Table of each verb, in the order of ``verbs``.
    """
    names = VERBS if verbs is None else _check_verbs(verbs)
    path = Path(folder)
    _check_files(path, names)
    return {
        verb: _read(path / f"{verb}.csv", pattern, fold, frozenset(leave_out)) for verb in names
    }


def _check_verbs(verbs: Iterable[str]) -> Sequence[str]:
    if isinstance(verbs, str):
        raise InputError(f"verbs={verbs!r} is a string. Pass a list such as [{verbs!r}].")
    names = tuple(verbs)
    unknown = [verb for verb in names if verb not in VERBS]
    if unknown:
        raise InputError(f"VPS-30-En has no verb {unknown[0]!r}. Its verbs are {', '.join(VERBS)}.")
    return names


def _check_files(folder: Path, verbs: Sequence[str]) -> None:
    if not folder.is_dir():
        raise InputError(
            f"Folder {str(folder)!r} does not exist. Pass a folder with one file per verb."
        )
    missing = [verb for verb in verbs if not (folder / f"{verb}.csv").is_file()]
    if missing:
        raise InputError(
            f"{str(folder)!r} has no {missing[0]}.csv ({len(missing)} of {len(verbs)} verbs are "
            "missing). List the available verbs with verbs=[...]."
        )


def _read(path: Path, pattern: str, fold: str, leave_out: frozenset[str]) -> VerbPatterns:
    names, rows = _read_cells(path)
    if pattern not in names:
        raise InputError(
            f"{str(path)!r} has no column {pattern!r}. Specify the label column with pattern=... "
            f"The columns are {join_names(names, at_most=8)}."
        )
    features = [name for name in names if name not in {pattern, fold, *leave_out}]
    if not features:
        raise InputError(
            f"{str(path)!r} has no features besides {pattern!r} and {fold!r}. Add feature columns."
        )
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    if "" in columns[pattern]:
        raise InputError(
            f"{str(path)!r} has no label in column {pattern!r} of sentence "
            f"{columns[pattern].index('') + 1}. Add a label, or remove the line."
        )
    return VerbPatterns(
        np.column_stack([_parse_binary(path, name, columns[name]) for name in features]),
        np.array(columns[pattern]),
        _parse_folds(path, fold, columns[fold]) if fold in columns else None,
        tuple(features),
    )


def _read_cells(path: Path) -> tuple[list[str], list[list[str]]]:
    """Read column names and rows; all rows must have the same number of cells."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{str(path)!r} is not UTF-8 text ({error}). Save it with UTF-8 encoding."
        ) from error
    first = text.partition("\n")[0]
    separator = max(_SEPARATORS, key=first.count)
    lines = [line for line in csv.reader(StringIO(text), delimiter=separator) if line]
    if len(lines) < 2:
        raise InputError(
            f"{str(path)!r} has no sentences. Add one line per sentence below a header line."
        )
    names, rows = [name.strip() for name in lines[0]], lines[1:]
    duplicates = [name for name in names if names.count(name) > 1]
    if duplicates:
        raise InputError(f"{str(path)!r} has two columns {duplicates[0]!r}. Rename one of them.")
    for number, row in enumerate(rows, 1):
        if len(row) != len(names):
            raise InputError(
                f"{str(path)!r} has {len(row)} cells in sentence {number} but {len(names)} column "
                "names. Name every column. If R wrote the file, write it without row names."
            )
    return names, [[cell.strip() for cell in row] for row in rows]


def _parse_binary(path: Path, name: str, cells: Sequence[str]) -> NDArray[np.float64]:
    for number, cell in enumerate(cells, 1):
        if cell not in _VALUES:
            raise InputError(
                f"{str(path)!r} has {cell!r} in column {name!r} of sentence {number}, but features "
                "must be 0 or 1. List columns that are not features with leave_out=[...]."
            )
    return np.array([_VALUES[cell] for cell in cells])


def _parse_folds(path: Path, name: str, cells: Sequence[str]) -> NDArray[np.int64]:
    try:
        return np.array([int(cell) for cell in cells], dtype=np.int64)
    except ValueError as error:
        raise InputError(
            f"{str(path)!r} has a fold in column {name!r} that is not an integer ({error}). Number "
            "the folds with integers."
        ) from error
