"""Tests that tables larger than the limits are refused while they are read."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
from pathlib import Path
from typing import Any

import pytest

from allrelevant import InputError
from allrelevant.tables.limits import Limits
from allrelevant.tables.reading import read_table

SMALL = Limits(rows=1000, columns=50, gigabytes=1e-4)


def refused(path: str, fragment: str, limits: Limits = SMALL) -> None:
    with pytest.raises(InputError, match=fragment) as caught:
        read_table(path, limits=limits)
    assert repr(path) in str(caught.value)
    assert "limit" in str(caught.value)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz", ".zip", ".zst"])
def test_decompressed_bytes(suffix: str) -> None:
    text = b"a,b\n" + b"1,2\n" * 100_000
    name = f"t.csv{suffix}"
    if suffix == ".zip":
        with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("t.csv", text)
    elif suffix == ".zst":
        import pyarrow as pa

        with pa.output_stream(name, compression="zstd") as stream:
            stream.write(text)
    else:
        compress: dict[str, Any] = {
            ".gz": gzip.compress,
            ".bz2": bz2.compress,
            ".xz": lzma.compress,
        }
        Path(name).write_bytes(compress.get(suffix, bytes)(text))
    refused(name, "--max-gb")
    assert read_table(name, limits=Limits()).shape == (100_000, 2)


def test_rows_and_columns_of_text() -> None:
    Path("rows.csv").write_text("a,b\n" + "1,2\n" * 1001)
    refused("rows.csv", "1,000 rows.*--max-rows")
    Path("words.csv").write_text("a,b\n" + "x,2\n" * 1001)
    refused("words.csv", "--max-rows")
    Path("columns.csv").write_text("," * 60 + "\n" + "," * 60)
    refused("columns.csv", "50 columns.*--max-columns")
    Path("late.csv").write_text("a\n" + "1\n" * 60 + "," * 60)
    refused("late.csv", "--max-columns")


def test_short_rows_below_a_wide_header() -> None:
    Path("wide.csv").write_text(",".join(f"c{j}" for j in range(50)) + "\n" + "1\n" * 900)
    refused("wide.csv", "--max-gb")


def test_json_lines_with_a_new_column_per_line() -> None:
    Path("keys.jsonl").write_text("".join(f'{{"k{i}": 1}}\n' for i in range(60)))
    refused("keys.jsonl", "--max-columns")


def test_nested_json() -> None:
    Path("nested.jsonl").write_text("[" * 100_000)
    with pytest.raises(InputError, match="line 1 is not JSON"):
        read_table("nested.jsonl")


def test_distant_cell_of_a_sheet() -> None:
    import xlsxwriter

    with xlsxwriter.Workbook("far.xlsx") as workbook:
        sheet = workbook.add_worksheet()
        sheet.write(0, 0, "a")
        sheet.write(1_048_575, 16_383, 1.0)
    refused("far.xlsx", "--max-gb", Limits())


def test_sheet_with_large_content() -> None:
    with zipfile.ZipFile("large.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b" " * 1_000_000)
    refused("large.xlsx", "--max-gb")


def test_shared_text_of_a_sheet() -> None:
    import xlsxwriter

    for name, text in (("short.xlsx", "x"), ("shared.xlsx", "x" * 2000)):
        with xlsxwriter.Workbook(name) as workbook:
            sheet = workbook.add_worksheet()
            for row in range(100):
                sheet.write_string(row, 0, text)
    assert len(read_table("short.xlsx", limits=SMALL)) == 99
    refused("shared.xlsx", "--max-gb")


MANIFEST = (
    '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
    '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>'
    "</manifest:manifest>"
)


def open_cell(content: str, times: int) -> str:
    return (
        f'<table:table-cell office:value-type="string" table:number-columns-repeated="{times}">'
        f"<text:p>{content}</text:p></table:table-cell>"
    )


def open_row(cells: str, times: str) -> str:
    return f'<table:table-row table:number-rows-repeated="{times}">{cells}</table:table-row>'


def open_document(path: str, rows: str) -> None:
    """Write an OpenDocument spreadsheet with a header and the given rows."""
    names = "".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0" '
        for name in ("office", "table", "text")
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        mimetype = "application/vnd.oasis.opendocument.spreadsheet"
        archive.writestr("mimetype", mimetype, zipfile.ZIP_STORED)
        archive.writestr("META-INF/manifest.xml", MANIFEST)
        archive.writestr(
            "content.xml",
            f"<office:document-content {names}><office:body><office:spreadsheet>"
            f'<table:table table:name="s">{open_row(open_cell("a", 1), "1")}{rows}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "content"),
    [(20_000, 1, "1"), (1, 20_000, "1"), (200, 200, "1"), (9, 9, "x" * 2000)],
)
def test_repeated_cells_of_an_open_document(n_rows: int, n_columns: int, content: str) -> None:
    # Applications write empty cells up to the last row and column.
    empty = '<table:table-cell table:number-columns-repeated="16000"/>'
    rows = open_row(open_cell(content, 1), "3") + open_row(empty, "1048000")
    open_document("small.ods", rows)
    assert len(read_table("small.ods", limits=SMALL)) == 3
    open_document("bomb.ods", open_row(open_cell(content, n_columns), str(n_rows)))
    refused("bomb.ods", "--max-gb")


def test_open_document_that_is_not_xml() -> None:
    for rows in ("<table:table-row>", open_row("", "x")):
        open_document("odd.ods", rows)
        with pytest.raises(InputError, match=r"Cannot read 'odd\.ods' as Excel"):
            read_table("odd.ods")


def test_parquet_claims_and_repeated_text() -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": pa.nulls(2000, pa.float64())}), "rows.parquet")
    refused("rows.parquet", "--max-rows")
    pq.write_table(pa.table({f"c{j}": [1.0] for j in range(60)}), "columns.parquet")
    refused("columns.parquet", "--max-columns")
    pq.write_table(pa.table({"a": ["x" * 10_000] * 900}), "text.parquet")
    assert Path("text.parquet").stat().st_size < 50_000
    refused("text.parquet", "--max-gb")
