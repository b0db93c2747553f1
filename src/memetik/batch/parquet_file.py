"""A Parquet file of targets: its columns, its rows, and some of its rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from memetik.batch.tables import arrow
from memetik.errors import FormatError

AT_A_TIME = 65_536  # rows that are decoded at once


def schema(path: Path) -> Any:
    """The columns of a file, as an Arrow schema."""
    return _open(path)[1]


def count(path: Path, columns: Sequence[str]) -> int:
    """How many rows a file has, by its footer."""
    return int(_open(path)[0].metadata.num_rows)


def batches(path: Path, columns: Sequence[str], wanted: Callable[[int, int], bool]) -> Iterator[tuple[int, Any]]:
    """What is decoded of a file, a batch at a time, with the number of its first row. Row groups are skipped whose rows,
    from one number up to another, are not wanted."""
    file, _ = _open(path)
    position = 0
    for group in range(file.metadata.num_row_groups):
        end = position + file.metadata.row_group(group).num_rows
        if wanted(position, end):
            at = position
            try:
                for batch in file.iter_batches(AT_A_TIME, row_groups=[group], columns=list(columns)):
                    yield at, batch
                    at += batch.num_rows
            except (arrow().ArrowException, OSError) as error:
                raise FormatError(
                    f"{path}: the rows from {at} on cannot be read: {error}. Write the file again."
                ) from error
        position = end


def _open(path: Path) -> tuple[Any, Any]:
    """The file and its Arrow schema."""
    pa = arrow()
    try:
        file = pa.parquet.ParquetFile(path)
        return file, file.schema_arrow
    except (pa.ArrowException, OSError, ValueError) as error:
        raise FormatError(
            f"{path}: this is not a complete Parquet file ({error}). It may have been cut off; copy or write it again."
        ) from error
