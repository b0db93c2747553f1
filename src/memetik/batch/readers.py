"""Files of targets: Parquet, or CSV, which is comma-separated text with a header line. Each is read some rows at a time.

Numbers of a CSV file are read as float64; an empty field, NA or null is a missing number. An id is text, exactly as it
stands. A row is a line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from memetik.batch.tables import ID, arrow
from memetik.errors import FormatError

TAKEN = "Targets are read from Parquet and from CSV files (comma-separated text with a header line)."
AT_A_TIME = 65_536  # rows of a Parquet file that are decoded at once
BLOCK = 1 << 20  # bytes of a CSV file that are parsed at once; a row must be shorter
_MISSING = ("", "NA", "N/A", "null", "NULL", "None")
_LONG = 60  # characters of a wrong row that are shown
# A row with more or fewer fields, as Arrow says it. Its own handler for such rows takes none that are no UTF-8.
_RAGGED = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+): (.*)", re.DOTALL)
_LOOK = 4096  # bytes of the beginning, by which the kind of a file is told
_OTHERS = (
    (b"PK\x03\x04", "a zip archive, such as .npz or .xlsx"),
    (b"\x1f\x8b", "a gzip archive; unpack it"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive; unpack it"),
    (b"BZh", "a bzip2 archive; unpack it"),
    (b"\x93NUMPY", "an array of NumPy (.npy)"),
    (b"ARROW1", "an Arrow or Feather file"),
    (b"\x89HDF", "an HDF5 file"),
    (b"SQLite format 3", "an SQLite database"),
    ((b"\xff\xfe", b"\xfe\xff"), "text in UTF-16; save it as UTF-8"),
    ((b"{", b"["), "JSON"),
    (b"<", "XML or HTML"),
)


def open_file(path: Path) -> ParquetFile | CsvFile:
    """A file by its contents, as names lie; or an error that says what it looks like instead."""
    try:
        with path.open("rb") as file:
            begin = file.read(_LOOK)
            file.seek(max(file.seek(0, 2) - 4, 0))
            end = file.read()
    except FileNotFoundError as error:
        raise FormatError(f"{path}: there is no such file.") from error
    except OSError as error:
        raise FormatError(f"{path}: it cannot be read: {error.strerror}.") from error
    if b"PAR1" in (begin[:4], end):
        return ParquetFile(path)
    if not begin.strip():
        raise FormatError(f"{path}: the file is empty. {TAKEN}")
    for magic, words in _OTHERS:
        if begin.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(magic):
            raise FormatError(f"{path}: this looks like {words}. {TAKEN}")
    if b"\0" in begin:
        raise FormatError(f"{path}: this looks like binary data of an unknown kind. {TAKEN}")
    return CsvFile(path)


def _unreadable(path: Path, first: int, error: Exception) -> FormatError:
    return FormatError(f"{path}: the rows from {first} on cannot be read: {error}. Write the file again.")


class ParquetFile:
    """A Parquet file; `schema` has its columns."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = arrow().parquet.ParquetFile(path)
            self.schema = self._file.schema_arrow
            self.schema.names  # noqa: B018 - which may be no UTF-8
        except (arrow().ArrowException, OSError, ValueError) as error:
            raise FormatError(
                f"{path}: this is not a complete Parquet file ({error}). It may have been cut off; copy or write it again."
            ) from error

    def count(self, columns: Sequence[str]) -> int:
        """How many rows there are, by the footer."""
        return int(self._file.metadata.num_rows)

    def batches(self, columns: Sequence[str], wanted: Callable[[int, int], bool]) -> Iterator[tuple[int, Any]]:
        """The rows, a batch at a time, with the number of the first row of each. Row groups are skipped whose rows, from one
        number up to another, are not wanted."""
        position = 0
        for group in range(self._file.metadata.num_row_groups):
            end = position + self._file.metadata.row_group(group).num_rows
            if wanted(position, end):
                at = position
                try:
                    for batch in self._file.iter_batches(AT_A_TIME, row_groups=[group], columns=list(columns)):
                        yield at, batch
                        at += batch.num_rows
                except (arrow().ArrowException, OSError) as error:
                    raise _unreadable(self.path, at, error) from error
            position = end


class CsvFile:
    """A CSV file, with all that a ParquetFile has."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def schema(self) -> Any:
        """The columns that the header names, as an Arrow schema of what they are read as."""
        pa = arrow()
        try:
            names = self._open(None).schema.names
        except UnicodeDecodeError as error:
            raise FormatError(f"{self.path}: the header is no text in UTF-8. Save it as UTF-8.") from error
        other = next((mark for mark in (";", "\t") if len(names) == 1 and mark in names[0]), None)
        if other:
            raise FormatError(f"{self.path}: its columns are separated by {other!r}. Separate them by commas.")
        return pa.schema([(name, pa.string() if name == ID else pa.float64()) for name in names])

    def count(self, columns: Sequence[str]) -> int:
        """How many rows there are. All of them are read, so that a wrong one is found before any is solved."""
        rows = sum(int(batch.num_rows) for _, batch in self.batches(columns, lambda first, end: True))
        with self.path.open(encoding="latin-1") as file:  # any bytes; only the ends of lines matter
            lines = sum(line != "\n" for line in file) - 1
        if lines != rows:  # a quotation mark that is not closed would swallow rows without a word
            raise FormatError(
                f"{self.path}: {lines} lines below the header make {rows} rows: a quotation mark is not closed, or a field has "
                "more than one line. Close it, or give such a file as Parquet."
            )
        return rows

    def batches(self, columns: Sequence[str], wanted: Callable[[int, int], bool]) -> Iterator[tuple[int, Any]]:
        """The rows, a block at a time, with the number of the first row of each. Blocks whose rows, from one number up to
        another, are not wanted are not converted; all up to the last wanted one are parsed."""
        pa = arrow()
        reader = self._open(columns)
        position = 0
        while True:
            try:
                batch = reader.read_next_batch()
            except StopIteration:
                return
            except (pa.ArrowException, OSError) as error:
                raise self._fault(position, error) from error
            if wanted(position, position + batch.num_rows):
                names = batch.schema.names
                converted = [self._converted(name, batch.column(name), position) for name in names]
                yield position, pa.RecordBatch.from_arrays(converted, names=names)
            position += batch.num_rows

    def _open(self, columns: Sequence[str] | None) -> Any:
        """A reader that gives columns as text, all of them if None."""
        csv = arrow().csv
        text = None if columns is None else dict.fromkeys(columns, arrow().string())
        try:
            return csv.open_csv(
                self.path,
                read_options=csv.ReadOptions(use_threads=False, block_size=BLOCK),  # threads lose the numbers of rows
                convert_options=csv.ConvertOptions(
                    include_columns=columns,
                    column_types=text,
                    strings_can_be_null=False,
                    check_utf8=columns is not None,
                ),
            )
        except (arrow().ArrowException, OSError, ValueError) as error:
            raise self._fault(0, error) from error

    def _fault(self, position: int, error: Exception) -> FormatError:
        ragged = _RAGGED.search(str(error))
        if ragged is None:
            return _unreadable(self.path, position, error)
        number, expected, actual, row = ragged.groups()
        return FormatError(
            f"{self.path}, row {int(number) - 2}: it has {actual} fields, but the header names {expected}: {row[:_LONG]!r}. Give "
            "each row one field a column; rows count from 0, below the header."
        )

    def _converted(self, name: str, column: Any, position: int) -> Any:
        """A column of text as numbers, save for the id."""
        if name == ID:
            return column
        pa = arrow()
        trimmed = pa.compute.utf8_trim_whitespace(column)
        missing = pa.compute.is_in(trimmed, value_set=pa.array(_MISSING))
        known = pa.compute.if_else(missing, pa.scalar(None, pa.string()), trimmed)
        try:
            return known.cast(pa.float64())
        except pa.ArrowInvalid:
            row = next(k for k, field in enumerate(known) if not _is_number(field))
            raise FormatError(
                f"{self.path}, row {position + row}: column {name!r} holds {column[row].as_py()[:_LONG]!r}, not a number. Write "
                "numbers as 0.25 or 2.5e-1, and leave the field empty where one is missing; rows count from 0, below the header."
            ) from None


def _is_number(field: Any) -> bool:
    try:
        field.cast(arrow().float64())
    except arrow().ArrowInvalid:
        return False
    return True
