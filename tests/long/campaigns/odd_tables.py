"""Malformed tables and odd options, all determined by a seed."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import zipfile
from collections.abc import Callable, Mapping
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

USUAL_NUMBERS, USUAL_COLUMNS = ("0.05", "0.5", "1", "2", "3", "5"), ("c0", "c1", "c2")

ROWS = (0, 1, 3, 12, *[30] * 5, *[60] * 7)

# Options that would write files elsewhere, start a cluster or run long by design.
EXCLUDED = {"table", "target", "cluster", "output", "json_output", "table_output", "n_jobs", "help"}

SUFFIXES = (".csv", ".tsv", ".txt", ".csv.gz", ".csv.bz2", ".csv.xz", ".csv.zip", ".jsonl", ".xlsx",
            ".parquet", ".csv.zst", ".xyz")  # fmt: skip


def odd_column(rng: Random, n: int) -> list[object]:
    """Return a column of one of many kinds."""
    makers: tuple[Callable[[], list[object]], ...] = (
        lambda: rng.normal(size=n).tolist(),
        lambda: rng.normal(size=n).tolist(),
        lambda: rng.randint(0, 4, n).tolist(),
        lambda: (rng.normal(size=n) * 10.0 ** rng.randint(-300, 300)).tolist(),
        lambda: rng.choice(["low", "mid", "high"], n).tolist(),
        lambda: [f"id{i}" for i in range(n)],
        lambda: [7] * n,
        lambda: rng.choice(list(ODD_NUMBERS), n).tolist(),
        lambda: rng.choice(list(ODD_WORDS), n).tolist(),
        lambda: [str(rng.choice(list(ODD_NUMBERS))) if rng.rand() < 0.1 else i for i in range(n)],
        lambda: [f"2024-0{1 + i % 9}-1{i % 9}" for i in range(n)],
        lambda: (rng.rand(n) < 0.5).tolist(),
        lambda: [None if rng.rand() < 0.3 else value for value in rng.normal(size=n).tolist()],
        lambda: [10**30 + i for i in range(n)],
        lambda: rng.standard_cauchy(n).tolist(),
    )
    return makers[rng.randint(len(makers))]()


def odd_frame(rng: Random) -> tuple[list[str], list[list[object]]]:
    """Return the names and the values of the columns of a small table."""
    n, d = int(rng.choice(ROWS)), int(rng.choice([1, 2, 3, 4, 6]))
    names = [str(rng.choice(list(ODD_NAMES))) if rng.rand() < 0.05 else f"c{j}" for j in range(d)]
    columns = [
        odd_column(rng, n) if rng.rand() < 0.3 else rng.normal(size=n).tolist() for _ in range(d)
    ]
    if rng.rand() < 0.9:  # a target that can be predicted
        names.append("target")
        signal = rng.normal(size=n)
        kinds = [
            np.where(signal > 0, "yes", "no").tolist(),
            np.digitize(signal, [-0.5, 0.5]).tolist(),
            signal.tolist(),
            odd_column(rng, n),
        ]
        columns.append(kinds[rng.choice(4, p=[0.5, 0.2, 0.2, 0.1])])
        columns[0] = columns[0] if rng.rand() < 0.5 else (2 * signal).tolist()
    return names, columns


def text_of(rng: Random, names: list[str], columns: list[list[object]]) -> bytes:
    """Return a delimited text that may be ragged, oddly quoted or oddly encoded."""
    separator = str(rng.choice([",", ",", ",", ";", "\t", "|", ", "]))
    quote = '"' if rng.rand() < 0.7 else ""
    rows = [list(map(str, names)), *([str(v) for v in row] for row in zip(*columns, strict=True))]
    if rng.rand() < 0.05 and len(rows) > 1:
        rows[rng.randint(1, len(rows))].append("extra")
    lines = [
        separator.join(f"{quote}{cell.replace(quote or chr(0), '')}{quote}" for cell in row)
        for row in rows
    ]
    text = str(rng.choice(["\n", "\r\n", "\r"])).join(lines)
    encodings = ["utf-8", "utf-8-sig", "latin-1", "utf-16"]
    encoding = str(rng.choice(encodings, p=[0.85, 0.05, 0.05, 0.05]))
    return text.encode(encoding, errors="replace")


def content(rng: Random, suffix: str) -> bytes:
    """Return the content of a table file."""
    names, columns = odd_frame(rng)
    if suffix in (".parquet", ".xlsx"):
        buffer = io.BytesIO()
        unique = [f"{name}_{j}" if names.count(name) > 1 else name for j, name in enumerate(names)]
        frame = pd.DataFrame(dict(zip(unique, (list(map(str, c)) for c in columns), strict=True)))
        if suffix == ".parquet":
            frame.to_parquet(buffer)
        else:
            cleaned = frame.replace(r"[\x00-\x1f]", "", regex=True)
            cleaned.to_excel(buffer, index=False, engine="xlsxwriter")
        return buffer.getvalue()
    if suffix == ".jsonl":
        rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
        return "\n".join(json.dumps(row, default=str) for row in rows).encode()
    return compressed(rng, suffix, text_of(rng, names, columns))


def compressed(rng: Random, suffix: str, text: bytes) -> bytes:
    """Return a text compressed as its suffix says; a zip archive may have 0, 1 or 2 files."""
    if suffix.endswith(".zip"):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for number in range(int(rng.choice([1, 1, 1, 0, 2]))):
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


def write_table(rng: Random, folder: Path) -> str:
    """Write a table file and return its name."""
    suffix = str(rng.choice(list(SUFFIXES), p=[0.675] + [0.03] * 10 + [0.025]))
    try:
        data = content(rng, ".csv" if suffix in (".xyz", ".csv.zst") else suffix)
    except (ValueError, OverflowError, UnicodeError):  # a library cannot write this table
        data = content(rng, ".csv")
    if rng.rand() < 0.12:
        data = damaged(rng, data)
    name = f"table{suffix}"
    (folder / name).write_bytes(data)
    return name


def odd_options(rng: Random, command: click.Command) -> list[str]:
    """Return some options of a command, with odd and with usual values."""
    options: list[str] = []
    is_usual = rng.rand() < 0.8
    for param in command.params:
        flags = [flag for flag in param.opts if flag.startswith("--")]
        if param.name in EXCLUDED or not flags or rng.rand() > (0.015 if is_usual else 0.04):
            continue
        assert isinstance(param, click.Option)
        if param.is_flag:
            options.append(str(rng.choice([*param.opts, *param.secondary_opts])))
            continue
        usual = USUAL_COLUMNS if param.metavar == "COLUMN" else USUAL_NUMBERS
        values = list(usual if is_usual else ODD_OPTIONS)
        if isinstance(param.type, click.Choice):
            values = list(map(str, param.type.choices)) + ([] if is_usual else values)
        options += [flags[0], str(rng.choice(values)).replace("\x00", "")]
    return options


def command_line(rng: Random, folder: Path, commands: Mapping[str, click.Command]) -> list[str]:
    """Write a table and return the arguments of a command that reads it."""
    name = str(rng.choice(["report", "report", "select", "explain"]))
    target = str(rng.choice(["target", "c0", "", "absent"], p=[0.85, 0.08, 0.03, 0.04]))
    arguments = [name, write_table(rng, folder), "--target", target]
    if name == "explain":
        arguments += ["--row", str(rng.choice(["1", "1", "2", "5", "1000", "x"]))]
    if name == "report":
        arguments += ["--max-seconds", "5"]
    return [*arguments, *odd_options(rng, commands[name])]
