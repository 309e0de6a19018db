"""Reading of Parquet files, with limits on what a file claims and on what it contains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._optional import import_extra
from ..terms.columns import Frame, columns_from_frame
from .limits import Limits
from .text import check_distinct_names

# A page of a column of text can repeat a long text in every row.
_ROWS_PER_BATCH = 4096


def read_parquet(data: bytes, name: str, limits: Limits) -> Frame:
    """Read a table from the content of a Parquet file."""
    parquet = import_extra("pyarrow.parquet", "parquet")
    arrow = import_extra("pyarrow", "parquet")
    try:
        file = parquet.ParquetFile(arrow.BufferReader(data))
        check_distinct_names(name, file.schema_arrow.names)
        limits.check_shape(file.metadata.num_rows, file.metadata.num_columns)
        table = arrow.Table.from_batches(_batches(file, limits), file.schema_arrow)
        table.validate(full=True)
    except (arrow.ArrowException, MemoryError) as error:
        raise ValueError(str(error)) from error
    table = table.drop_columns([c for c in _index_columns(table) if c in table.schema.names])
    return Frame(tuple(columns_from_frame(table) or ()))


def _batches(file: Any, limits: Limits) -> Iterator[Any]:
    groups = [file.metadata.row_group(index) for index in range(file.metadata.num_row_groups)]
    limits.check_bytes(sum(max(group.total_byte_size, 0) for group in groups))
    n_bytes = 0
    for batch in file.iter_batches(batch_size=_ROWS_PER_BATCH, use_threads=False):
        n_bytes += batch.nbytes
        limits.check_bytes(n_bytes)
        yield batch


def _index_columns(table: Any) -> list[str]:
    """Return the names of the columns in which pandas stores the index of a data frame."""
    metadata = table.schema.pandas_metadata
    columns = metadata.get("index_columns") if isinstance(metadata, dict) else None
    return [c for c in columns if isinstance(c, str)] if isinstance(columns, list) else []
