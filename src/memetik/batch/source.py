"""Parquet files as rows that are numbered through, cut into pieces that are read one at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memetik.batch.tables import arrow
from memetik.errors import FormatError

AT_A_TIME = 65_536  # rows that are decoded before a piece is put together
_BLOCK = 1 << 20


class Piece(NamedTuple):
    """Rows of one file that are solved together and make one file of answers."""

    shard: int
    path: str
    offset: int  # of the first row in its file
    first: int  # of the first row, counted through all files
    rows: int


class Source(NamedTuple):
    """All files, in the order of their rows."""

    paths: tuple[Path, ...]
    rows: tuple[int, ...]
    schema: Any

    def pieces(self, size: int) -> list[Piece]:
        """Cut every file into pieces of `size` rows; the last of a file may be smaller."""
        found: list[Piece] = []
        first = 0
        for path, rows in zip(self.paths, self.rows, strict=True):
            for offset in range(0, rows, size):
                found.append(Piece(len(found), str(path), offset, first + offset, min(size, rows - offset)))
            first += rows
        return found

    def identity(self, known: Sequence[dict[str, Any]] = ()) -> list[dict[str, Any]]:
        """Name, size, time and digest of each file. A file as old and as large as it is `known` is not read again."""
        found = []
        for k, (path, rows) in enumerate(zip(self.paths, self.rows, strict=True)):
            state = path.stat()
            card = {"name": path.name, "rows": rows, "bytes": state.st_size, "modified": state.st_mtime_ns}
            before = known[k] if k < len(known) else {}
            same = all(before.get(key) == value for key, value in card.items())
            found.append({**card, "digest": before["digest"] if same else _digest(path)})
        return found


def open_source(path: str | Path) -> Source:
    """A Parquet file, or a folder of them with the same columns in the order of their names."""
    whole = Path(path).resolve()
    paths = sorted(whole.glob("*.parquet")) if whole.is_dir() else [whole]
    if not paths:
        raise FormatError(f"{path}: there are no .parquet files in this folder.")
    files = [_open(file) for file in paths]
    schema = files[0].schema_arrow
    for file, opened in zip(paths, files, strict=True):
        if not opened.schema_arrow.equals(schema):
            raise FormatError(
                f"{file}: its columns differ from those of {paths[0].name}. Give all files the same columns."
            )
    return Source(tuple(paths), tuple(file.metadata.num_rows for file in files), schema)


def read(pieces: Sequence[Piece], columns: Sequence[str]) -> Iterator[tuple[Piece, Any]]:
    """The tables of pieces of one file, in its order. What lies between them is skipped, as far as row groups allow."""
    if not pieces:
        return
    pa = arrow()
    waiting = iter(pieces)
    piece, parts = next(waiting), []
    for position, batch in _batches(pieces, columns):
        begin = 0
        while True:
            begin = max(begin, piece.offset - position)
            end = min(batch.num_rows, piece.offset + piece.rows - position)
            if begin < end:
                parts.append(batch.slice(begin, end - begin))
            if position + batch.num_rows < piece.offset + piece.rows:
                break  # the piece goes on in the next batch
            yield piece, pa.Table.from_batches(parts)
            following = next(waiting, None)
            if following is None:
                return
            piece, parts = following, []


def _batches(pieces: Sequence[Piece], columns: Sequence[str]) -> Iterator[tuple[int, Any]]:
    """What is decoded of a file, a batch at a time, with the number of its first row."""
    path = pieces[0].path
    file = _open(Path(path))
    position = 0
    for group in range(file.metadata.num_row_groups):
        end = position + file.metadata.row_group(group).num_rows
        if any(piece.offset < end and position < piece.offset + piece.rows for piece in pieces):
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


def _open(path: Path) -> Any:
    pa = arrow()
    try:
        return pa.parquet.ParquetFile(path)
    except FileNotFoundError as error:
        raise FormatError(f"{path}: there is no such file.") from error
    except (pa.ArrowException, OSError) as error:
        raise FormatError(
            f"{path}: this is not a complete Parquet file ({error}). It may have been cut off; copy or write it again."
        ) from error


def _digest(path: Path) -> str:
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
