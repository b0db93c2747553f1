"""Which kind of file a file of targets is, by its contents: names lie."""

from __future__ import annotations

from pathlib import Path

from memetik.errors import FormatError

PARQUET, CSV = "Parquet", "CSV"
TAKEN = "Targets are read from Parquet and from CSV files (comma-separated text with a header line)."
_LOOK = 4096  # bytes of the beginning
_OTHERS = (
    (b"PK\x03\x04", "a zip archive, such as .npz or .xlsx"),
    (b"\x1f\x8b", "a gzip archive; unpack it"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive; unpack it"),
    (b"BZh", "a bzip2 archive; unpack it"),
    (b"\x93NUMPY", "an array of NumPy (.npy)"),
    (b"ARROW1", "an Arrow or Feather file"),
    (b"\x89HDF", "an HDF5 file"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\xff\xfe", "text in UTF-16; save it as UTF-8"),
    (b"\xfe\xff", "text in UTF-16; save it as UTF-8"),
    (b"{", "JSON"),
    (b"[", "JSON"),
    (b"<", "XML or HTML"),
)


def kind_of(path: Path) -> str:
    """PARQUET or CSV, or an error that says what the file looks like instead."""
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
        return PARQUET
    if not begin.strip():
        raise FormatError(f"{path}: the file is empty. {TAKEN}")
    for magic, words in _OTHERS:
        if begin.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(magic):
            raise FormatError(f"{path}: this looks like {words}. {TAKEN}")
    if b"\0" in begin:
        raise FormatError(f"{path}: this looks like binary data of an unknown kind. {TAKEN}")
    return CSV
