"""Malformed tables and odd options, all determined by a seed.

A case consists of parts. Each part is usual in most cases, and odd in some, so that most cases have
one or two odd parts, and about half of the commands reach a result.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import zipfile
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

import click
import numpy as np
import pandas as pd

Random = np.random.RandomState

ODD_NUMBERS = (
    "0", "-0.0", "1e308", "-1e308", "1e-320", "1e400", "nan", "NaN", "inf", "-inf", "", " ", "NA",
    "1,5", "1.234,5", "1e5e5", "0x10", "１２", "9" * 400, "-", "?", "1 000", "٣", "1_000", "--5",
)  # fmt: skip

ODD_WORDS = (
    "yes", "no", "", "ä" * 20, "a\tb", 'quo"te', "line\nbreak", "\x1b[31mred", "\x00", "x" * 5000,
    "<script>alert(1)</script>", "=1+1", "🙂", "'; DROP TABLE", "None", "True", "\ufeff", "../../x",
)  # fmt: skip

ODD_NAMES = (
    "",
    "a",
    "a",
    " a ",
    "target",
    "x" * 3000,
    "\x1b[2J",
    "a,b",
    '"',
    "1",
    "nan",
    "é",
    "🙂",
)

ODD_OPTIONS = (
    "", "-1", "0", "1e308", "-1e308", "nan", "inf", "1e-300", "100000000", "9" * 30, "abc", "auto",
    "None", "1,2,3", "a", "absent", "\x1b[31m", "x" * 2000, "0.5", "3", "1", "🙂",
)  # fmt: skip

# Values of usual options: the first that the option accepts, in random order.
USUAL_VALUES = ("0.05", "0.5", "1", "2", "3", "5", "auto", "balanced", "fdr", "probes")
USUAL_TEXTS = {
    "scoring": "accuracy",
    "proof_output": "proof.json",
    "checkpoint": "run.ckpt",
    "towards": "yes",
}

# Parts of a case, each odd with the same probability.
PARTS = ("rows", "names", "cells", "target", "text", "encoding", "format", "bytes", "options")
ODD_FRACTION = 0.07

# Options that would write files elsewhere, start a cluster or run long by design.
EXCLUDED = {"table", "target", "cluster", "output", "json_output", "table_output", "n_jobs", "help"}

# Options that only odd values are tried for.
LIMITS = {"max_rows", "max_columns", "max_gigabytes", "max_seconds"}

SUFFIXES = (".tsv", ".csv.gz", ".csv.bz2", ".csv.xz", ".csv.zip", ".jsonl", ".xlsx", ".parquet")


def odd_parts(rng: Random) -> set[str]:
    """Return the parts of a case that are odd."""
    return {part for part in PARTS if rng.rand() < ODD_FRACTION}


def choose(rng: Random, values: Sequence[str]) -> str:
    return values[rng.randint(len(values))]


def usual_column(rng: Random, n: int) -> list[object]:
    """Return a column as in usual tables: numbers, classes, dates, identifiers, missing values."""
    makers: tuple[Callable[[], list[object]], ...] = (
        lambda: rng.randint(0, 4, n).tolist(),
        lambda: rng.choice(["low", "mid", "high"], n).tolist(),
        lambda: [f"id{i}" for i in range(n)],
        lambda: [7] * n,
        lambda: [f"2024-0{1 + i % 9}-1{i % 9}" for i in range(n)],
        lambda: (rng.rand(n) < 0.5).tolist(),
        lambda: [None if rng.rand() < 0.3 else value for value in rng.normal(size=n).tolist()],
        lambda: rng.standard_cauchy(n).tolist(),
        lambda: (rng.normal(size=n) * 10.0 ** rng.randint(-12, 12)).tolist(),
    )
    return makers[rng.randint(len(makers))]()


def odd_column(rng: Random, n: int) -> list[object]:
    """Return a column whose cells are out of range, of several types or not printable."""
    makers: tuple[Callable[[], list[object]], ...] = (
        lambda: (rng.normal(size=n) * 10.0 ** rng.randint(-300, 300)).tolist(),
        lambda: rng.choice(list(ODD_NUMBERS), n).tolist(),
        lambda: rng.choice(list(ODD_WORDS), n).tolist(),
        lambda: [choose(rng, ODD_NUMBERS) if rng.rand() < 0.1 else i for i in range(n)],
        lambda: [choose(rng, ODD_WORDS) if rng.rand() < 0.1 else i % 3 for i in range(n)],
        lambda: [10**30 + i for i in range(n)],
    )
    return makers[rng.randint(len(makers))]()


def odd_frame(rng: Random, odd: Collection[str]) -> tuple[list[str], list[list[object]]]:
    """Return the names and the values of the columns of a small table."""
    n = int(rng.choice([0, 1, 3, 5, 12] if "rows" in odd else [30, 40]))
    d = int(rng.choice([1, 2] if "rows" in odd else [2, 3, 4, 6]))
    signal = rng.normal(size=n)
    columns = [
        usual_column(rng, n) if rng.rand() < 0.2 else rng.normal(size=n).tolist() for _ in range(d)
    ]
    if rng.rand() < 0.7:  # the target can be predicted
        columns[0] = (signal + 0.5 * rng.normal(size=n)).tolist()
    if "cells" in odd:
        columns[rng.randint(d)] = odd_column(rng, n)
    targets = [
        np.where(signal > 0, "yes", "no").tolist(),
        np.digitize(signal, [-0.5, 0.5]).tolist(),
        signal.tolist(),
        odd_column(rng, n),
    ]
    kind = rng.choice(3, p=[0.5, 0.25, 0.25]) if "target" not in odd else rng.choice(4)
    names = [f"c{j}" for j in range(d)] + ["target"]
    if "names" in odd:
        names = [choose(rng, ODD_NAMES) if rng.rand() < 0.4 else name for name in names]
    return names, [*columns, targets[kind]]


def text_of(
    rng: Random, odd: Collection[str], names: list[str], columns: list[list[object]], separator: str
) -> bytes:
    """Return a delimited text that may be ragged, oddly quoted or oddly encoded."""
    quote = '"' if rng.rand() < 0.5 or "cells" in odd else ""
    rows = [list(map(str, names)), *([str(v) for v in row] for row in zip(*columns, strict=True))]
    if "text" in odd:
        separator, quote = choose(rng, [", ", ",", "|", " "]), choose(rng, ['"', "'", ""])
        if rng.rand() < 0.5:
            rows[rng.randint(len(rows))].append("extra")
    lines = [
        separator.join(f"{quote}{cell.replace(quote or chr(0), '')}{quote}" for cell in row)
        for row in rows
    ]
    text = choose(rng, ["\n", "\r\n", "\r"] if "text" in odd else ["\n", "\r\n"]).join(lines)
    encodings = ["latin-1", "utf-16", "cp037"] if "encoding" in odd else ["utf-8", "utf-8-sig"]
    return text.encode(choose(rng, encodings), errors="replace")


def content(rng: Random, odd: Collection[str], suffix: str) -> bytes:
    """Return the content of a table file."""
    names, columns = odd_frame(rng, odd)
    if suffix in (".parquet", ".xlsx"):
        buffer = io.BytesIO()
        unique = [f"{name}_{j}" if names.count(name) > 1 else name for j, name in enumerate(names)]
        mapping = dict(zip(unique, columns, strict=True))
        frame = pd.DataFrame({name: _one_type(column) for name, column in mapping.items()})
        if suffix == ".parquet":
            frame.to_parquet(buffer)
        else:
            cleaned = frame.replace(r"[\x00-\x1f]", "", regex=True)
            cleaned.to_excel(buffer, index=False, engine="xlsxwriter")
        return buffer.getvalue()
    if suffix == ".jsonl":
        rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
        return "\n".join(json.dumps(row, default=str) for row in rows).encode()
    separator = "\t" if suffix.startswith(".tsv") else choose(rng, [",", ",", ";", "\t"])
    return compressed(rng, odd, suffix, text_of(rng, odd, names, columns, separator))


def _one_type(column: list[object]) -> list[object]:
    """Return a column as text if it has words, because Parquet files have one type per column."""
    has_words = any(isinstance(value, str) for value in column)
    return [None if v is None else str(v) for v in column] if has_words else column


def compressed(rng: Random, odd: Collection[str], suffix: str, text: bytes) -> bytes:
    """Return a text compressed as its suffix says; an odd zip archive has 0 or 2 files."""
    if suffix.endswith(".zip"):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for number in range(int(rng.choice([0, 2])) if "format" in odd else 1):
                archive.writestr(f"table{number}.csv", text)
        return buffer.getvalue()
    compress: dict[str, Callable[[bytes], bytes]] = {
        ".gz": gzip.compress,
        ".bz2": bz2.compress,
        ".xz": lzma.compress,
    }
    return compress.get(f".{suffix.rsplit('.')[-1]}", bytes)(text)


def damaged(rng: Random, data: bytes) -> bytes:
    """Flip some bytes, cut the end, or repeat a part."""
    if not data:
        return data
    changed = bytearray(data)
    kind = rng.randint(3)
    if kind == 0:
        for place in rng.randint(0, len(data), rng.randint(1, 20)):
            changed[place] = rng.randint(256)
    elif kind == 1:
        del changed[rng.randint(len(data)) :]
    else:
        place = rng.randint(len(data))
        changed[place:place] = changed[: rng.randint(len(data)) + 1]
    return bytes(changed)


def write_table(rng: Random, odd: Collection[str], folder: Path) -> str:
    """Write a table file and return its name, which may have the suffix of another format."""
    suffix = ".csv" if rng.rand() < 0.6 else choose(rng, SUFFIXES)
    try:
        data = content(rng, odd, suffix)
    except (ValueError, OverflowError, UnicodeError):  # a library cannot write this table
        suffix = ".csv"
        data = content(rng, odd, suffix)
    if "bytes" in odd:
        data = damaged(rng, data)
    name = f"table{suffix}"
    if "format" in odd and not suffix.endswith(".zip"):
        name = f"table{choose(rng, ['.csv', '.txt', '.xyz', '.csv.zst', '', *SUFFIXES])}"
    (folder / name).write_bytes(data)
    return name


def odd_options(rng: Random, command: click.Command) -> list[str]:
    """Return some options of a command, mostly with values that they do not accept."""
    options: list[str] = []
    for param in command.params:
        flags = [flag for flag in param.opts if flag.startswith("--")]
        if param.name in EXCLUDED or not flags or rng.rand() > 0.04:
            continue
        assert isinstance(param, click.Option)
        if param.is_flag:
            options.append(choose(rng, [*param.opts, *param.secondary_opts]))
            continue
        values = list(ODD_OPTIONS)
        if isinstance(param.type, click.Choice):
            values += list(map(str, param.type.choices))
        options += [flags[0], choose(rng, values).replace("\x00", "")]
    return options


def usual_options(rng: Random, command: click.Command) -> list[str]:
    """Return up to two options of a command, with values that they accept."""
    able = [param for param in command.params if param.name not in EXCLUDED | LIMITS]
    options: list[str] = []
    for place in rng.permutation(len(able))[: rng.choice(3, p=[0.5, 0.3, 0.2])]:
        param = able[place]
        assert isinstance(param, click.Option)
        value = usual_value(rng, param)
        if param.is_flag:
            options.append(choose(rng, [*param.opts, *param.secondary_opts]))
        elif value is not None:
            options += [param.opts[-1], value]
    return options


def usual_value(rng: Random, param: click.Option) -> str | None:
    """Return a value that an option accepts, or None if no value suits all tables."""
    if param.metavar == "COLUMN":
        return choose(rng, ["c0", "c1"])
    if isinstance(param.type, click.types.StringParamType):
        return USUAL_TEXTS.get(str(param.name))
    if isinstance(param.type, click.Choice):
        return choose(rng, list(map(str, param.type.choices)))
    for place in rng.permutation(len(USUAL_VALUES)):
        try:
            param.type.convert(USUAL_VALUES[place], param, None)
        except click.BadParameter:
            continue
        return USUAL_VALUES[place]
    return None


def command_line(rng: Random, folder: Path, commands: Mapping[str, click.Command]) -> list[str]:
    """Write a table and return the arguments of a command that reads it."""
    name, odd = choose(rng, ["report", "report", "select", "explain"]), odd_parts(rng)
    target = choose(rng, ["target", "c0", "", "absent"]) if "target" in odd else "target"
    arguments = [name, write_table(rng, odd, folder), "--target", target]
    if name == "explain":
        rows = ["1", "1000", "x"] if "options" in odd else ["1", "2", "5"]
        arguments += ["--row", choose(rng, rows)]
    if name == "report":
        arguments += ["--max-seconds", "5"]
    options = odd_options if "options" in odd else usual_options
    return [*arguments, *options(rng, commands[name])]
