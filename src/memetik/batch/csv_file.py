"""A CSV file of targets: comma-separated text with a header line, read some rows at a time.

Numbers are read as float64; an empty field, NA or null is a missing number. An id is text, exactly as it stands. A row is a
line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from memetik.batch.tables import ID, arrow
from memetik.errors import FormatError

BLOCK = 1 << 20  # bytes that are parsed at once; a row must be shorter
_MISSING = ("", "NA", "N/A", "null", "NULL", "None")
_LONG = 60  # characters of a wrong row that are shown


def schema(path: Path) -> Any:
    """The columns that the header names, as an Arrow schema of what they are read as."""
    pa = arrow()
    reader, _ = _open(path, None)
    names = reader.schema.names
    other = next((mark for mark in (";", "\t") if len(names) == 1 and mark in names[0]), None)
    if other:
        raise FormatError(f"{path}: its columns are separated by {other!r}. Separate them by commas.")
    return pa.schema([(name, pa.string() if name == ID else pa.float64()) for name in names])


def count(path: Path, columns: Sequence[str]) -> int:
    """How many rows a file has. All of them are read, so that a wrong one is found before any is solved."""
    rows = sum(int(batch.num_rows) for _, batch in batches(path, columns, lambda first, end: True))
    with path.open(encoding="latin-1") as file:  # any bytes; only the ends of lines matter
        lines = sum(line != "\n" for line in file) - 1
    if lines != rows:  # a quotation mark that is not closed would swallow rows without a word
        raise FormatError(
            f"{path}: {lines} lines below the header make {rows} rows: a quotation mark is not closed, or a field has more "
            "than one line. Close it, or give such a file as Parquet."
        )
    return rows


def batches(path: Path, columns: Sequence[str], wanted: Callable[[int, int], bool]) -> Iterator[tuple[int, Any]]:
    """The rows of a file, a block at a time, with the number of the first row of each. Blocks whose rows, from one number up
    to another, are not wanted are not converted; all up to the last wanted one are parsed."""
    pa = arrow()
    reader, ragged = _open(path, columns)
    position = 0
    while True:
        try:
            batch = reader.read_next_batch()
        except StopIteration:
            return
        except (pa.ArrowException, OSError) as error:
            raise _fault(path, position, ragged, error) from error
        if wanted(position, position + batch.num_rows):
            yield position, _converted(path, batch, position)
        position += batch.num_rows


def _open(path: Path, columns: Sequence[str] | None) -> tuple[Any, list[Any]]:
    """A reader that gives columns as text, all of them if None, and a list that gets the row at which it stopped."""
    csv, ragged = arrow().csv, list[Any]()

    def stop(row: Any) -> str:
        ragged.append(row)
        return "error"

    text = None if columns is None else dict.fromkeys(columns, arrow().string())
    try:
        reader = csv.open_csv(
            path,
            read_options=csv.ReadOptions(use_threads=False, block_size=BLOCK),  # threads lose the numbers of rows
            parse_options=csv.ParseOptions(invalid_row_handler=stop),
            convert_options=csv.ConvertOptions(
                include_columns=columns, column_types=text, strings_can_be_null=False, check_utf8=columns is not None
            ),
        )
    except (arrow().ArrowException, OSError, ValueError) as error:
        raise _fault(path, 0, ragged, error) from error
    return reader, ragged


def _fault(path: Path, position: int, ragged: list[Any], error: Exception) -> FormatError:
    if not ragged:
        return FormatError(f"{path}: the rows from {position} on cannot be read: {error}. Write the file again.")
    row = ragged[0]
    return FormatError(
        f"{path}, row {row.number - 2}: it has {row.actual_columns} fields, but the header names {row.expected_columns}: "
        f"{row.text[:_LONG]!r}. Give each row one field a column; rows count from 0, below the header."
    )


def _converted(path: Path, batch: Any, position: int) -> Any:
    """A batch of text as numbers, save for the id."""
    pa = arrow()
    columns = [
        batch.column(name) if name == ID else _numbers(path, name, batch.column(name), position)
        for name in batch.schema.names
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _numbers(path: Path, name: str, column: Any, position: int) -> Any:
    pa = arrow()
    trimmed = pa.compute.utf8_trim_whitespace(column)
    missing = pa.compute.is_in(trimmed, value_set=pa.array(_MISSING))
    known = pa.compute.if_else(missing, pa.scalar(None, pa.string()), trimmed)
    try:
        return known.cast(pa.float64())
    except pa.ArrowInvalid:
        row = next(k for k, field in enumerate(known) if not _is_number(field))
        raise FormatError(
            f"{path}, row {position + row}: column {name!r} holds {column[row].as_py()[:_LONG]!r}, not a number. Write "
            "numbers as 0.25 or 2.5e-1, and leave the field empty where one is missing; rows count from 0, below the header."
        ) from None


def _is_number(field: Any) -> bool:
    try:
        field.cast(arrow().float64())
    except arrow().ArrowInvalid:
        return False
    return True
