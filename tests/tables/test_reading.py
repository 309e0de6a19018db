"""Tests of reading tables: file formats and invalid files."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from allrelevant import InputError, MissingExtraError, RelevanceWarning
from allrelevant.tables.reading import READERS, read_table
from allrelevant.terms.columns import Frame, columns_from_frame


def same(table: Frame, frame: pd.DataFrame) -> None:
    """Check that a table has the names, kinds and values of a data frame."""
    expected = columns_from_frame(frame)
    assert expected is not None
    assert table.columns == [column.name for column in expected]
    for actual, wanted in zip(table, expected, strict=True):
        assert (actual.kind, actual.levels) == (wanted.kind, wanted.levels)
        np.testing.assert_allclose(actual.values, wanted.values, rtol=1e-12)


def refused(path: str, *fragments: str) -> None:
    """Check that reading a file raises a one-line error that names the file."""
    with pytest.raises(InputError) as caught:
        read_table(path)
    assert "\n" not in str(caught.value)
    for fragment in (repr(path), *fragments):
        assert fragment in str(caught.value)


@pytest.mark.parametrize(
    ("name", "separator"),
    [
        ("t.csv", ","),
        ("t.CSV", ","),
        ("t.tsv", "\t"),
        ("t.tab", "\t"),
        ("my.table.csv.gz", ","),
        ("t.tsv.bz2", "\t"),
        ("t.csv.xz", ","),
        ("t.csv.zip", ","),
    ],
)
def test_text(frame: pd.DataFrame, name: str, separator: str) -> None:
    frame.to_csv(name, sep=separator, index=False)
    same(read_table(name), frame)


@pytest.mark.parametrize("name", ["t.parquet", "t.pq"])
def test_parquet(frame: pd.DataFrame, name: str) -> None:
    frame.to_parquet(name)
    same(read_table(name), frame)


def test_zstd(frame: pd.DataFrame) -> None:
    import pyarrow as pa

    with pa.output_stream("t.csv.zst", compression="zstd") as stream:
        stream.write(frame.to_csv(index=False).encode())
    same(read_table("t.csv.zst"), frame)


@pytest.mark.parametrize("name", ["t.txt", "t", "t.parquet", "t.txt.gz"])
def test_separator(frame: pd.DataFrame, name: str) -> None:
    frame.to_csv(name, sep=";", index=False)
    same(read_table(name, separator=";"), frame)


def test_byte_order_mark(frame: pd.DataFrame) -> None:
    frame.to_csv("t.csv", index=False, encoding="utf-8-sig")
    assert read_table("t.csv").columns[0] == "alpha"


def test_missing_file_and_folder(frame: pd.DataFrame) -> None:
    refused("absent.csv", "does not exist")
    Path("sub.csv").mkdir()
    refused("sub.csv", "folder")


@pytest.mark.parametrize("name", ["table.doc", "table", "table.gz", "table.parquet.gz"])
def test_unknown_suffix(frame: pd.DataFrame, name: str) -> None:
    Path(name).write_text("a,sick\n1,yes\n")
    refused(name, *(reader.suffixes[0] for reader in READERS), ".csv.gz, .bz2", "--sep")


@pytest.mark.parametrize(
    "name",
    [
        *("x.csv", "x.parquet", "x.csv.gz", "x.csv.bz2", "x.csv.xz", "x.csv.zip", "x.csv.zst"),
        *("x.jsonl", "x.xlsx", "x.jsonl.gz"),
    ],
)
def test_garbage(frame: pd.DataFrame, name: str) -> None:
    Path(name).write_bytes(bytes(range(128, 256)) * 20)
    refused(name, "Cannot read")


@pytest.mark.parametrize(
    "name", ["x.csv", "x.parquet", "x.csv.gz", "x.csv.zst", "x.jsonl", "x.xlsx"]
)
def test_empty_file(frame: pd.DataFrame, name: str) -> None:
    Path(name).write_bytes(b"")
    refused(name, "Cannot read")


def test_truncated_gzip(frame: pd.DataFrame) -> None:
    whole = gzip.compress(frame.to_csv(index=False).encode())
    Path("cut.csv.gz").write_bytes(whole[: len(whole) // 2])
    refused("cut.csv.gz", "Cannot read")


def test_header_only(frame: pd.DataFrame) -> None:
    frame.iloc[:0].to_csv("bad.csv", index=False)
    refused("bad.csv", "no rows")
    frame.iloc[:0].to_parquet("bad.parquet")
    refused("bad.parquet", "no rows")


def test_rows_longer_than_the_header(frame: pd.DataFrame) -> None:
    Path("bad.csv").write_text("a,sick\n" + "1,2,yes\n3,4,no\n" * 4)
    refused("bad.csv", "more cells")


def test_uneven_rows(frame: pd.DataFrame) -> None:
    Path("bad.csv").write_text("a,sick\n1,yes\n1,2,3,4\n")
    refused("bad.csv", "Cannot read", "line 3")


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    path = tmp_path / "table.parquet"
    path.write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtraError, match=r"requires pyarrow.*allrelevant\[parquet\]"):
        read_table(path)


def test_duplicate_names(frame: pd.DataFrame) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    Path("bad.csv").write_text(frame.to_csv(index=False).replace("beta", "alpha", 1))
    refused("bad.csv", "same name", "'alpha'")
    table = pa.table([[1.0] * 5, [2.0] * 5, ["a", "b"] * 2 + ["a"]], names=["x", "x", "sick"])
    pq.write_table(table, "bad.parquet")
    refused("bad.parquet", "same name", "'x'")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_encodings_with_a_byte_order_mark(frame: pd.DataFrame, encoding: str) -> None:
    table = frame.rename(columns={"alpha": "größe"})
    table.to_csv("t.csv", index=False, encoding=encoding)
    same(read_table("t.csv"), table)


@pytest.mark.parametrize(
    ("separator", "name"), [(";", "semicolons"), ("\t", "tabs"), ("|", "bars")]
)
def test_separators_are_inferred(frame: pd.DataFrame, separator: str, name: str) -> None:
    frame.to_csv("t.csv", index=False, sep=separator)
    with pytest.warns(RelevanceWarning, match=f"separated by .*{name}"):
        table = read_table("t.csv")
    same(table, frame)


def test_whitespace_as_separator(frame: pd.DataFrame) -> None:
    Path("t.txt").write_text(frame.to_string(index=False))
    assert read_table("t.txt", separator=r"\s+").shape == frame.shape
    with pytest.raises(InputError, match="not a single character"):
        read_table("t.txt", separator=";;")


def test_decimal_commas(frame: pd.DataFrame) -> None:
    frame.to_csv("t.csv", index=False, sep=";", decimal=",")
    with pytest.warns(RelevanceWarning, match="decimal commas in 'alpha'"):
        table = read_table("t.csv")
    same(table, frame)


def test_standard_input(frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    text = io.TextIOWrapper(io.BytesIO(frame.to_csv(index=False).encode()))
    monkeypatch.setattr(sys, "stdin", text)
    same(read_table("-"), frame)


def test_named_pipe(frame: pd.DataFrame) -> None:
    os.mkfifo("pipe")
    writer = threading.Thread(target=Path("pipe").write_text, args=[frame.to_csv(index=False)])
    writer.start()
    same(read_table("pipe"), frame)
    writer.join()


@pytest.mark.parametrize("name", ["t.jsonl", "t.ndjson", "t.jsonl.gz"])
def test_json_lines(frame: pd.DataFrame, name: str) -> None:
    mixed = frame.assign(flag=[True, False] * 40, n=range(80))
    mixed.loc[3, "beta"] = np.nan
    mixed.to_json(name, orient="records", lines=True, double_precision=15)
    same(read_table(name), mixed)


@pytest.mark.parametrize(
    ("text", "fragment"),
    [('{"a": 1}\n[2]', "line 2 is not an object"), ('{"a": 1}\n{"a"', "line 2 is not JSON")],
)
def test_invalid_json_lines(frame: pd.DataFrame, text: str, fragment: str) -> None:
    Path("bad.jsonl").write_text(text)
    refused("bad.jsonl", fragment)


def test_excel(frame: pd.DataFrame) -> None:
    mixed = frame.assign(flag=[True, False] * 40, day=pd.date_range("2020-01-01", periods=80))
    mixed.loc[3, "beta"] = np.nan
    with pd.ExcelWriter("t.xlsx", engine="xlsxwriter") as writer:
        frame[["alpha"]].to_excel(writer, sheet_name="notes", index=False)
        mixed.to_excel(writer, sheet_name="visits", index=False)
    same(read_table("t.xlsx", sheet="visits"), mixed)
    same(read_table("t.xlsx"), frame[["alpha"]])
    with pytest.raises(InputError, match=r"no sheet 'vists'.* 'notes' and 'visits'"):
        read_table("t.xlsx", sheet="vists")
    frame.to_csv("t.csv", index=False)
    with pytest.raises(InputError, match="only in an Excel file"):
        read_table("t.csv", sheet="visits")


def test_excel_without_its_reader_names_the_extra(tmp_path, monkeypatch):
    path = tmp_path / "table.xlsx"
    path.write_bytes(b"PK")
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(MissingExtraError, match=r"allrelevant\[excel\]"):
        read_table(path)


def test_parquet_index_is_not_a_column(frame: pd.DataFrame) -> None:
    frame.set_index(pd.Index(range(5, 85), name="id")).to_parquet("t.parquet")
    same(read_table("t.parquet"), frame)
    frame.set_axis([f"row {i}" for i in range(80)]).to_parquet("t.parquet")
    same(read_table("t.parquet"), frame)


def test_zip_with_several_files(frame: pd.DataFrame) -> None:
    with zipfile.ZipFile("t.csv.zip", "w") as archive:
        archive.writestr("a.csv", "a\n1")
        archive.writestr("b.csv", "b\n1")
    refused("t.csv.zip", "contains 2 files")


def test_unclosed_quote(frame: pd.DataFrame) -> None:
    Path("bad.csv").write_text('a,b\n1,2\n3,"4\n5,6\n')
    refused("bad.csv", "Cannot read")


def test_standard_input_is_read_once(frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    text = io.TextIOWrapper(io.BytesIO(frame.to_csv(index=False).encode()))
    monkeypatch.setattr(sys, "stdin", text)
    read_table("-")
    with pytest.raises(InputError, match="read only once"):
        read_table("-")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="Standard input is closed"):
        read_table("-")


def test_named_pipe_with_compressed_text(frame: pd.DataFrame) -> None:
    os.mkfifo("pipe.csv.zip")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("t.csv", frame.to_csv(index=False))
    writer = threading.Thread(target=Path("pipe.csv.zip").write_bytes, args=[stream.getvalue()])
    writer.start()
    same(read_table("pipe.csv.zip"), frame)
    writer.join()


def test_paths_that_cannot_be_opened(frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("loop.csv").symlink_to("loop.csv")
    refused("loop.csv", "Cannot open", "symbolic links")
    refused("x" * 300 + ".csv", "Cannot open", "too long")
    refused("a\0.csv", "Cannot open", "null")
    Path("secret.csv").write_text("a\n1\n")

    def denied(*arguments: object, **named: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    refused("secret.csv", "Cannot open", "Permission denied")


@pytest.mark.parametrize("change", ["encrypted", "method"])
def test_zip_that_cannot_be_decompressed(frame: pd.DataFrame, change: str) -> None:
    with zipfile.ZipFile("t.csv.zip", "w") as archive:
        archive.writestr("t.csv", "a\n1\n")
    data = bytearray(Path("t.csv.zip").read_bytes())
    central = data.index(b"PK\x01\x02")
    for start in (6, central + 8) if change == "encrypted" else (8, central + 10):
        data[start] = 1 if change == "encrypted" else 77
    Path("t.csv.zip").write_bytes(data)
    refused("t.csv.zip", "Cannot read")


def test_parquet_with_odd_content(frame: pd.DataFrame) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    invalid = pa.Array.from_buffers(
        pa.string(),
        2,
        [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0\4\0\0\0"), pa.py_buffer(b"\xff\xfe\xfd\xfc")],
    )
    pq.write_table(pa.table({"a": invalid, "y": [1, 2]}), "bytes.parquet")
    refused("bytes.parquet", "Cannot read")
    for metadata in (b"[]", b"not json", b'{"index_columns": 3}', b'{"index_columns": [[], "a"]}'):
        table = pa.table({"a": [1.0, 2.0], "y": [1, 2]}).replace_schema_metadata(
            {b"pandas": metadata}
        )
        pq.write_table(table, "odd.parquet")
        if metadata == b"not json":
            refused("odd.parquet", "Cannot read")
        else:
            assert len(read_table("odd.parquet")) == 2


@pytest.mark.parametrize(
    "name", ["t.csv", "t.csv.gz", "t.csv.zip", "t.jsonl", "t.xlsx", "t.parquet"]
)
def test_damaged_files_give_one_line(frame: pd.DataFrame, name: str) -> None:
    if name.endswith(".jsonl"):
        frame.to_json(name, orient="records", lines=True)
    elif name.endswith(".xlsx"):
        frame.to_excel(name, index=False, engine="xlsxwriter")
    elif name.endswith(".parquet"):
        frame.to_parquet(name)
    else:
        frame.to_csv(name, index=False)
    whole = Path(name).read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(40):
        damaged = bytearray(whole[: rng.integers(1, len(whole))] if rng.random() < 0.4 else whole)
        for place in rng.integers(0, len(damaged), rng.integers(1, 20)):
            damaged[place] = rng.integers(256)
        Path(name).write_bytes(damaged)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read_table(name)
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017
