"""Files of targets as rows that are numbered through, cut into pieces that are read one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memetik.batch.checksum import digest_of
from memetik.batch.readers import TAKEN, open_file
from memetik.batch.tables import arrow
from memetik.errors import FormatError, ProblemError
from memetik.files import path_of

_BLOCK = 1 << 20  # bytes


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
    schema: Any  # of Arrow, the same for all
    rows: tuple[int, ...] = ()  # of each file, once they are counted

    def counted(self, columns: Sequence[str]) -> Source:
        """The same, with its rows. Where counting means to read them all, wrong ones in these columns are found."""
        return self._replace(rows=tuple(open_file(path).count(columns) for path in self.paths))

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
            before = known[k] if k < len(known) else {}
            try:
                state = path.stat()
                card = {"name": path.name, "rows": rows, "bytes": state.st_size, "modified": state.st_mtime_ns}
                same = all(before.get(key) == value for key, value in card.items())
                found.append({**card, "digest": before["digest"] if same else _digest(path)})
            except OSError as error:
                raise FormatError(f"{path}: it cannot be read: {error.strerror}.") from error
        return found


def open_files(path: str | Path) -> Source:
    """A file, or a folder of files with the same columns in the order of their names."""
    arrow()
    whole = path_of(path, ProblemError, "files: source").resolve()
    paths = _listed(whole) if whole.is_dir() else [whole]
    schemas = [open_file(file).schema for file in paths]
    for file, schema in zip(paths, schemas, strict=True):
        if not schema.equals(schemas[0]):
            raise FormatError(
                f"{file}: its columns differ from those of {paths[0].name}. Give all files the same columns."
            )
    return Source(tuple(paths), schemas[0])


def read(pieces: Sequence[Piece], columns: Sequence[str]) -> Iterator[tuple[Piece, Any]]:
    """The tables of pieces of one file, in its order. What lies between them is skipped, as far as the file allows."""
    if not pieces:
        return
    pa, path = arrow(), Path(pieces[0].path)

    def wanted(first: int, end: int) -> bool:
        return any(piece.offset < end and first < piece.offset + piece.rows for piece in pieces)

    waiting = iter(pieces)
    piece, parts = next(waiting), []
    for position, batch in open_file(path).batches(columns, wanted):
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
    raise FormatError(
        f"{path}: it has become shorter since its rows were counted. Start again when nobody writes to it."
    )


def _listed(folder: Path) -> list[Path]:
    """The files of targets in a folder, which are all of one kind."""
    parquet, csv = sorted(folder.glob("*.parquet")), sorted(folder.glob("*.csv"))
    if parquet and csv:
        raise FormatError(f"{folder}: there are .parquet and .csv files in this folder. Leave one kind there.")
    if not parquet and not csv:
        raise FormatError(f"{folder}: there are no .parquet and no .csv files in this folder. {TAKEN}")
    return parquet or csv


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return digest_of(iter(lambda: file.read(_BLOCK), b""))
