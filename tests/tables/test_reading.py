"""Tests of reading tables: file formats and invalid files."""

from __future__ import annotations

import gzip
from pathlib import Path

import pandas as pd
import pytest

from allrelevant import InputError
from allrelevant.tables.reading import READERS, read_table


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
    pd.testing.assert_frame_equal(read_table(name), frame)


@pytest.mark.parametrize("name", ["t.parquet", "t.pq"])
def test_parquet(frame: pd.DataFrame, name: str) -> None:
    frame.to_parquet(name)
    pd.testing.assert_frame_equal(read_table(name), frame)


def test_zstd(frame: pd.DataFrame) -> None:
    import pyarrow as pa

    with pa.output_stream("t.csv.zst", compression="zstd") as stream:
        stream.write(frame.to_csv(index=False).encode())
    pd.testing.assert_frame_equal(read_table("t.csv.zst"), frame)


@pytest.mark.parametrize("name", ["t.txt", "t", "t.parquet", "t.txt.gz"])
def test_separator(frame: pd.DataFrame, name: str) -> None:
    frame.to_csv(name, sep=";", index=False)
    pd.testing.assert_frame_equal(read_table(name, separator=";"), frame)


def test_byte_order_mark(frame: pd.DataFrame) -> None:
    frame.to_csv("t.csv", index=False, encoding="utf-8-sig")
    assert read_table("t.csv").columns[0] == "alpha"


def test_missing_file_and_folder(frame: pd.DataFrame) -> None:
    refused("absent.csv", "does not exist")
    Path("sub.csv").mkdir()
    refused("sub.csv", "folder")


@pytest.mark.parametrize("name", ["table.xlsx", "table", "table.gz", "table.parquet.gz"])
def test_unknown_suffix(frame: pd.DataFrame, name: str) -> None:
    Path(name).write_text("a,sick\n1,yes\n")
    refused(name, *(reader.suffixes[0] for reader in READERS), ".csv.gz, .bz2", "--sep")


@pytest.mark.parametrize(
    "name", ["x.csv", "x.parquet", "x.csv.gz", "x.csv.bz2", "x.csv.xz", "x.csv.zip", "x.csv.zst"]
)
def test_garbage(frame: pd.DataFrame, name: str) -> None:
    Path(name).write_bytes(bytes(range(128, 256)) * 20)
    refused(name, "Cannot read")


@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.csv.gz", "x.csv.zst"])
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


def test_duplicate_names(frame: pd.DataFrame) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    Path("bad.csv").write_text(frame.to_csv(index=False).replace("beta", "alpha", 1))
    refused("bad.csv", "same name", "'alpha'")
    table = pa.table([[1.0] * 5, [2.0] * 5, ["a", "b"] * 2 + ["a"]], names=["x", "x", "sick"])
    pq.write_table(table, "bad.parquet")
    refused("bad.parquet", "same name", "'x'")
