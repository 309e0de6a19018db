"""The command ``verify``, which checks a proof of relevance bounds against a table."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .. import proof_checker
from .._text import display_width, join_names, one_line, printable
from ..exceptions import InputError
from .options import add_options
from .output import echo

if TYPE_CHECKING:
    from ..terms.columns import Column, Frame

# Decimals of the printed bounds, which are rounded outwards.
DECIMALS = 6

# Errors that the checker raises if a file does not have the format of a proof.
_MALFORMED = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError)

Ends = tuple[Fraction, Fraction, Fraction, Fraction]


def _show_checker(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        click.echo(Path(proof_checker.__file__).read_text(encoding="utf-8"), nl=False)
        ctx.exit()


@click.command(
    help="""Check a PROOF of relevance bounds against its TABLE, in exact arithmetic.

'allrelevant report TABLE --target COLUMN --proof PROOF' writes the proof. The check does not use
the solvers. It needs one short file of Python, which runs on its own with comma-separated tables:

\b
  allrelevant verify proof.json patients.csv
  allrelevant verify --show-checker > proof_checker.py
  python proof_checker.py proof.json patients.csv

For each feature, two intervals are printed. The smallest absolute weight over all equivalent models
is in the first, and the largest in the second. With more than two classes, they apply to the
largest of these values over all classes.

The exit code is 0 if everything holds, 1 if the proof or the table was changed or a bound does not
hold, and 2 if a file cannot be used.
"""
)
@click.argument("proof")
@click.argument("table")
@click.option(
    "--show-checker",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_checker,
    help="Print the program that checks proofs, and exit.",
)
@add_options("verify")
def verify(
    proof: str,
    table: str,
    sep: str | None,
    sheet: str | None,
    max_rows: int,
    max_columns: int,
    max_gigabytes: float,
    quiet: bool,
) -> int:
    """Check a proof against a table; return the exit code."""
    from ..tables.limits import Limits
    from ..tables.reading import read_table
    from .output import collected_notes

    stated = _read_proof(proof)
    with collected_notes():
        limits = Limits(max_rows, max_columns, max_gigabytes)
        frame = read_table(table, separator=sep, sheet=sheet, limits=limits)
    try:
        cells = _read_cells(frame, stated["kinds"], stated["rows"])
        bounds, failures = proof_checker.verify(stated, cells)
    except _MALFORMED as error:
        if isinstance(error, InputError):
            raise
        raise _unusable(proof, f"{type(error).__name__}: {one_line(error)}") from error
    for failure in failures:
        echo(printable(failure))
    if not (failures or quiet):
        echo(_describe(stated, table, _combine(stated, bounds)))
    return 1 if failures else 0


def _unusable(proof: str, cause: str) -> InputError:
    return InputError(
        f"Cannot check {proof!r}: {cause}. Pass a proof that 'allrelevant report --proof' wrote."
    )


def _read_proof(path: str) -> dict[str, Any]:
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"Cannot read {path!r}: {error.strerror}. Check the path.") from error
    except ValueError as error:
        raise _unusable(path, f"it is not JSON ({one_line(error)})") from error
    if not isinstance(content, dict):
        raise _unusable(path, "it is not a JSON object")
    return content


def _read_cells(
    frame: Frame, kinds: Mapping[str, str], rows: list[int]
) -> dict[str, list[float | str | None]]:
    """Return the cells of the columns that a proof uses, as the checker reads them."""
    absent = [name for name in kinds if name not in frame.columns]
    if absent:
        raise InputError(f"The table has no column {join_names(absent)}. Pass the proof's table.")
    if len(frame) <= max(rows):
        raise InputError(
            f"The proof uses row {max(rows) + 1:,}, but the table has {len(frame):,} rows. Pass "
            "the proof's table."
        )
    return {name: _cells(frame[name], kind) for name, kind in kinds.items()}


def _cells(column: Column, kind: str) -> list[float | str | None]:
    values = column.words() if column.has_levels else column.values.tolist()
    convert = _as_word if kind == "word" else _as_number
    return [None if value is None or value != value else convert(value) for value in values]


def _as_number(value: float | str) -> float | str:
    try:
        return float(value)
    except ValueError:
        return value


def _as_word(value: float | str) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _combine(proof: Mapping[str, Any], bounds: Mapping[tuple[str, str], Ends]) -> dict[str, Ends]:
    """Return the largest bounds over all problems, of the columns that all problems bound."""
    labels = [problem["label"] for problem in proof["problems"]]
    names = dict.fromkeys(name for _, name in bounds)
    return {
        name: tuple(map(max, zip(*(bounds[label, name] for label in labels), strict=True)))
        for name in names
        if all((label, name) in bounds for label in labels)
    }


def _describe(proof: Mapping[str, Any], table: str, bounds: Mapping[str, Ends]) -> str:
    """Return the proven bounds as text, rounded outwards."""
    names = {name: printable(name) for name in bounds}
    width = max(map(display_width, ["feature", *names.values()]))
    lines = [
        f"The proof holds for {table}: {proof['task']}, target {printable(proof['target'])}, "
        f"{len(proof['rows']):,} rows, {len(bounds):,} features.",
        "",
        f"{'feature':{width}}  {'smallest |weight|':22}  largest |weight|",
    ]
    for name, ends in bounds.items():
        pad = " " * (width - display_width(names[name]))
        low, high = (_interval(*ends[i : i + 2]) for i in (0, 2))
        lines.append(f"{names[name]}{pad}  {low:22}  {high}")
    if proof["left_out"]:
        lines += ["", f"Not covered by the proof: {join_names(proof['left_out'])}."]
    return "\n".join(lines)


def _interval(low: Fraction, high: Fraction) -> str:
    unit = 10**DECIMALS
    return (
        f"{math.floor(low * unit) / unit:.{DECIMALS}f} to "
        f"{math.ceil(high * unit) / unit:.{DECIMALS}f}"
    )
